"""Checks receipts and growth of a log, written from RFC 6962, RFC 9162 and the C2SP texts, without our code.

Reads JSON from standard input: {"vkeys": [...], "receipts": [{"leaf": hex, "proof": text}],
"growth": [{"old": note, "new": note, "proof": [hex]}]}. Prints what it checked; exits 1 at the first thing that is wrong
and 2 when the package `cryptography` is not there.
"""
import base64, hashlib, json, struct, sys

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ed25519
except ImportError:
    print("skipped: the Python package cryptography is not installed")
    sys.exit(2)
try:
    from cryptography.hazmat.primitives.asymmetric import mldsa
except ImportError:
    mldsa = None

DASH = "\u2014 "


def sha(data):
    return hashlib.sha256(data).digest()


def node(left, right):
    return sha(b"\x01" + left + right)


def fail(why):
    print("wrong:", why)
    sys.exit(1)


def root_from_inclusion(leaf, index, size, path):
    """RFC 9162 2.1.3.2, read recursively: the split at the largest power of two below the size."""
    if size == 1:
        return leaf if not path else fail("a path that is too long")
    if not path:
        fail("a path that is too short")
    split = 1 << ((size - 1).bit_length() - 1)
    if index < split:
        return node(root_from_inclusion(leaf, index, split, path[:-1]), path[-1])
    return node(path[-1], root_from_inclusion(leaf, index - split, size - split, path[:-1]))


def roots_from_growth(old, new, proof, old_root, whole=True):
    """RFC 6962 2.1.2: the old and the new root as the proof gives them."""
    if old == new:
        return (old_root, old_root) if whole and not proof else (proof[-1], proof[-1])
    split = 1 << ((new - 1).bit_length() - 1)
    if old <= split:
        first, second = roots_from_growth(old, split, proof[:-1], old_root, whole)
        return first, node(second, proof[-1])
    first, second = roots_from_growth(old - split, new - split, proof[:-1], old_root, False)
    return node(proof[-1], first), node(proof[-1], second)


def read_key(vkey):
    name, key_id, key = vkey.split("+", 2)
    key = base64.b64decode(key, validate=True)
    if sha(name.encode() + b"\n" + key)[:4].hex() != key_id:
        fail("a key id")
    return name, bytes.fromhex(key_id), key[0], key[1:]


def check_note(note, keys):
    """Every line must be by a known key and hold. Gives origin, size and root."""
    text, lines = note.rsplit("\n\n", 1)
    text += "\n"
    origin, size, root = text.split("\n")[:3]
    seen = set()
    for line in lines.rstrip("\n").split("\n"):
        name, blob = line.removeprefix(DASH).split(" ")
        blob = base64.b64decode(blob, validate=True)
        [(_, _, kind, public)] = [key for key in keys if key[0] == name and key[1] == blob[:4]]
        signature = blob[4:]
        try:
            if kind == 1:
                ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature, text.encode())
            elif kind == 6 and mldsa:
                message = b"subtree/v1\n\0" + bytes([len(name)]) + name.encode() + signature[:8]
                message += bytes([len(origin)]) + origin.encode() + struct.pack(">QQ", 0, int(size))
                message += base64.b64decode(root)
                mldsa.MLDSA44PublicKey.from_public_bytes(public).verify(signature[8:], message)
        except InvalidSignature:
            fail(f"a signature of type {kind}")
        seen.add(kind)
    if seen != {1, 6}:
        fail("a checkpoint without both kinds of signatures")
    return origin, int(size), base64.b64decode(root)


def main():
    given = json.load(sys.stdin)
    keys = [read_key(vkey) for vkey in given["vkeys"]]
    for receipt in given["receipts"]:
        head, note = receipt["proof"].split("\n\n", 1)
        first, index, *path = head.split("\n")
        if first != "c2sp.org/tlog-proof@v1":
            fail("the first line")
        _, size, root = check_note(note, keys)
        leaf = sha(b"\x00" + bytes.fromhex(receipt["leaf"]))
        path = [base64.b64decode(line, validate=True) for line in path]
        if root_from_inclusion(leaf, int(index.removeprefix("index ")), size, path) != root:
            fail("an inclusion path")
    for growth in given["growth"]:
        (_, old, old_root), (_, new, new_root) = (check_note(growth[which], keys) for which in ("old", "new"))
        proof = [bytes.fromhex(line) for line in growth["proof"]]
        if roots_from_growth(old, new, proof, old_root) != (old_root, new_root):
            fail("a consistency proof")
    pq = "with" if mldsa else "without"
    print(f"checked {len(given['receipts'])} receipts and {len(given['growth'])} growth proofs {pq} ML-DSA-44")


main()
