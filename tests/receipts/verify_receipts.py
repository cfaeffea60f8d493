"""A verifier of receipts, written from RFC 9162, RFC 2104, RFC 8785 and the C2SP texts, without our code.

    python3 verify_receipts.py receipt.json trust [--key BASE64]... [--require-pq] [--max-age SECONDS] [--now SECONDS]

Needs `cryptography` for Ed25519, and for ML-DSA-44 its version 48 or newer or else `dilithium-py`; without either it says
`pq: not_checked`. The numbers it exits with are those of `countersign verify`: 0 valid, 1 invalid, 2 a key or a trust
file that cannot be used, 3 malformed or not to be read, 4 stale or not evaluated, 5 trust policy not met. Without the
means to verify it judges nothing and says so on a line that begins with `skipped:`.
"""
import argparse, base64, hashlib, hmac, re, sys, time
from documents import (AHEAD, KEY_TYPE, LAST_SPELLED, InvalidSignature, Limits, Refused, ed25519_holds, judge_document,
                       judge_key_statement, need, open_document, second, sha, small_order, strict, unbase64)


def by_cryptography():
    """ML-DSA-44 as the package `cryptography` has it from version 48 on, if its OpenSSL has it too."""
    from cryptography import __version__
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PublicKey

    def holds(public, message, signature):
        try:
            MLDSA44PublicKey.from_public_bytes(public).verify(signature, message)
            return True
        except InvalidSignature:
            return False
    try:
        MLDSA44PublicKey.from_public_bytes(bytes(1312))
    except UnsupportedAlgorithm as error:
        raise ImportError(error) from None
    return f"cryptography {__version__}", holds


def by_dilithium_py():
    """ML-DSA-44 as FIPS 204 writes it down, in Python alone."""
    from importlib.metadata import version
    from dilithium_py.ml_dsa import ML_DSA_44
    return f"dilithium-py {version('dilithium-py')}", ML_DSA_44.verify


def packages():
    """What verifies ML-DSA-44 here, as (name, holds)."""
    found = []
    for load in (by_cryptography, by_dilithium_py):
        try:
            found.append(load())
        except ImportError:
            pass
    return found


EXIT = {"proved": 0, "invalid": 1, "refused": 1, "malformed": 3, "stale": 4, "not_evaluated": 4, "skipped": 4, "trust_policy_not_met": 5}
RECEIPT = {"schema", "log_origin", "index", "leaf_hash", "inclusion_path", "checkpoint"}
LIMITS = Limits(4, 16, 2 << 20, 3 << 20)
MAX_NOTE, MAX_SIGNATURES, MAX_POLICY = 128 << 10, 64, 256 << 10
REVEAL = {"type", "ts", "commitment", "salt", "document"}
TAKES = "takes the Python package cryptography 48 or newer, or dilithium-py"


def number(text): return int(text) if re.fullmatch(r"0|[1-9][0-9]{0,19}", text) else None


def is_origin(text): return 1 <= len(text.encode()) <= 255 and not re.search(r"[\x00-\x1f\x7f]", text)


def is_name(text):
    """The name of a key (C2SP signed-note): an origin without Unicode spaces and without plus signs."""
    return is_origin(text) and not re.search(r"[\s+]", text)


def parse_receipt(data):
    receipt = strict(data, LIMITS)
    need(isinstance(receipt, dict) and RECEIPT <= set(receipt) <= RECEIPT | {"reveal"}, "malformed", "members")
    need(receipt["schema"] == "countersign/receipt/v1", "malformed", "schema")
    need(type(receipt["index"]) is int and receipt["index"] >= 0, "malformed", "index")
    need(all(type(receipt[name]) is str for name in ("log_origin", "leaf_hash", "checkpoint")), "malformed", "text")
    need(is_origin(receipt["log_origin"]), "malformed", "log_origin")
    need(re.fullmatch("[0-9a-f]{64}", receipt["leaf_hash"]), "malformed", "leaf_hash")
    path = receipt["inclusion_path"]
    need(type(path) is list and len(path) <= 63, "malformed", "inclusion_path")
    path = [unbase64(one) for one in path]
    need(all(one is not None and len(one) == 32 for one in path), "malformed", "inclusion_path")
    if "reveal" in receipt:
        reveal = receipt["reveal"]
        need(isinstance(reveal, dict) and set(reveal) == REVEAL, "malformed", "reveal")
        need(all(type(one) is str for one in reveal.values()), "malformed", "reveal")
        need(re.fullmatch(r"countersign\.[a-z0-9._-]{1,116}", reveal["type"]), "malformed", "type")
        need(second(reveal["ts"]) is not None and reveal["ts"].endswith(":00Z"), "malformed", "ts")
        need(all(re.fullmatch("[0-9a-f]{64}", reveal[name]) for name in ("salt", "commitment")), "malformed", "hex")
    return receipt, path


def open_reveal(reveal):
    """The hash of the leaf that the reveal opens (RFC 2104, RFC 8785, RFC 9162 2.1.1)."""
    message = reveal["type"].encode() + b"\0" + reveal["document"].encode()
    commitment = hmac.new(bytes.fromhex(reveal["salt"]), message, hashlib.sha256).hexdigest()
    need(commitment == reveal["commitment"], "invalid", "the document is not the one committed to")
    leaf = f'{{"commitment":"{commitment}","ts":"{reveal["ts"]}","type":"{reveal["type"]}"}}'
    return sha(b"\0" + leaf.encode())


def root_of(leaf, index, size, path):
    """RFC 9162 2.1.3.2."""
    need(index < size, "invalid", "the index is outside the tree")
    fn, sn, r = index, size - 1, leaf
    for p in path:
        need(sn != 0, "invalid", "the path is too long")
        if fn & 1 or fn == sn:
            r = sha(b"\1" + p + r)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = sha(b"\1" + r + p)
        fn, sn = fn >> 1, sn >> 1
    need(sn == 0, "invalid", "the path is too short")
    return r


class Key:
    def __init__(self, vkey):
        name, short, encoded, *_ = [*vkey.split("+", 2), "", ""]
        if not is_name(name):
            raise ValueError("not the name of a key")
        raw = unbase64(encoded) or b"\0"
        if len(raw) - 1 != {1: 32, 4: 32, 6: 1312}.get(raw[0]):
            raise ValueError("no usable verifier key")
        if raw[0] != 6 and small_order(raw[1:]):
            raise ValueError("a key for which anybody can sign")
        self.name, self.kind, self.public = name, raw[0], raw[1:]
        self.id = sha(name.encode() + b"\n" + raw)[:4]
        if self.id.hex() != short:
            raise ValueError("the key id is not of this key")

    def time(self, blob): return int.from_bytes(blob[:8], "big") if self.kind != 1 else 0

    def well_formed(self, blob): return len(blob) == {1: 64, 4: 72, 6: 2428}[self.kind] and self.time(blob) < 2**63

    def holds(self, text, blob, ml_dsa):
        lines, stamp = text.split("\n"), blob[:8]
        if self.kind == 1:
            return ed25519_holds(self.public, text.encode(), blob)
        if self.kind == 4:
            return ed25519_holds(self.public, f"cosignature/v1\ntime {self.time(blob)}\n{text}".encode(), blob[8:])
        counted = lambda one: bytes([len(one.encode())]) + one.encode()
        message = b"subtree/v1\n\0" + counted(self.name) + stamp + counted(lines[0]) + bytes(8)
        message += int(lines[1]).to_bytes(8, "big") + base64.b64decode(lines[2])
        return ml_dsa(self.public, message, blob[8:])


def parse_policy(text):
    """C2SP tlog-policy. It is the reader's own file, so anything wrong in it is a ValueError."""
    policy, taken = {"logs": [], "nodes": {}, "quorum": None}, set()

    def right(holds):
        if not holds:
            raise ValueError(f"not a policy line: {line!r}")

    def key(vkey, kinds, others):
        try:
            one = Key(vkey)
        except ValueError as error:
            raise ValueError(f"{error}: {line!r}") from None
        right(one.kind in kinds and all(one.public != other.public for other in others))
        return one

    def define(name, node):
        right(name != "none" and name not in policy["nodes"])
        policy["nodes"][name] = node
        right(sum(isinstance(other, Key) == isinstance(node, Key) for other in policy["nodes"].values()) <= 64)
    if len(text.encode("utf-8", "surrogateescape")) > MAX_POLICY:
        raise ValueError("the policy is too large")
    if not text.endswith("\n"):
        raise ValueError("the last line does not end")
    for line in text[:-1].split("\n"):
        right(not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", line))
        words = re.findall(r"[^ \t]+", line)
        match words:
            case []: pass
            case [first, *_] if first.startswith("#"): pass
            case ["log", vkey] | ["log", vkey, _]:
                policy["logs"].append(key(vkey, (1, 6), policy["logs"]))
                right(len(policy["logs"]) <= 64)
            case ["witness", name, vkey] | ["witness", name, vkey, _]:
                define(name, key(vkey, (4, 6), [node for node in policy["nodes"].values() if isinstance(node, Key)]))
            case ["group", name, threshold, *members] if members:
                count = {"any": 1, "all": len(members)}.get(threshold, number(threshold))
                right(count is not None and 1 <= count <= len(members))
                for member in members:
                    right(member in policy["nodes"] and member not in taken)
                    taken.add(member)
                define(name, (count, members))
            case ["quorum", name]:
                right(policy["quorum"] is None and (name == "none" or name in policy["nodes"]))
                policy["quorum"] = name
            case _: right(False)
    if policy["quorum"] is None:
        raise ValueError("no quorum line")
    return policy


def parse_note(note):
    need(len(note.encode()) <= MAX_NOTE, "malformed", "the checkpoint is too large")
    need(not re.search(r"[\x00-\x09\x0b-\x1f]", note), "malformed", "a control character in the checkpoint")
    text, blank, signatures = note.rpartition("\n\n")
    need(blank and signatures.endswith("\n"), "malformed", "a checkpoint without signatures")
    lines = []
    need(signatures.count("\n") <= MAX_SIGNATURES, "malformed", "too many signature lines")
    for line in signatures[:-1].split("\n"):
        match = re.fullmatch("\u2014 ([^ ]+) ([^ ]+)", line)
        blob = unbase64(match[2]) if match and is_name(match[1]) else None
        need(blob and len(blob) > 4, "malformed", "a signature line")
        lines.append((match[1], blob[:4], blob[4:]))
    text += "\n"
    parts = text.split("\n")
    need(len(parts) >= 4, "malformed", "a checkpoint has three lines")
    need(len(parts) <= 20 and all(parts[3:-1]), "malformed", "an empty extension line, or more than 16")
    size, root = number(parts[1]), unbase64(parts[2])
    need(is_origin(parts[0]) and size is not None and size < 2**63 and root is not None and len(root) == 32, "malformed", "checkpoint")
    return text, lines, parts[0], size, root


def accept(note, policy, require_pq, ml_dsa):
    """When the checkpoint was signed, if that is known, its size and root, and what is known of its ML-DSA-44."""
    text, lines, origin, size, root = parse_note(note)
    ours = [key for key in policy["logs"] if key.name == origin]
    need(ours, "trust_policy_not_met", "the policy does not know this log")
    witnesses = [node for node in policy["nodes"].values() if isinstance(node, Key)]
    valid, carried, unchecked = [], [], []
    for name, key_id, blob in lines:
        for key in policy["logs"] + witnesses:
            if (key.name, key.id) != (name, key_id):
                continue
            need(key.well_formed(blob), "malformed", f"the signature by {name} has not the form of its type")
            carried.append(key)
            checked = key.kind != 6 or ml_dsa
            need(not checked or key.holds(text, blob, ml_dsa), "invalid", f"the signature by {name} is wrong")
            (valid if checked else unchecked).append((key, key.time(blob)))
    need(any(key in ours for key, _ in valid + unchecked), "trust_policy_not_met", "the log has not signed")
    covered = any(key in ours and key.kind != 6 for key, _ in valid)
    need(covered or text.count("\n") == 3, "trust_policy_not_met", "no signature of the log covers the extension lines")
    need(any(key in ours for key, _ in valid), "skipped", f"the log's only signature here is of ML-DSA-44, which {TAKES}")
    pq = post_quantum(ours, carried, ml_dsa)
    need(pq != "not_checked" or not require_pq, "skipped", f"ML-DSA-44 {TAKES}")
    need(pq == "valid" or not require_pq, "trust_policy_not_met", "no post-quantum signature of the log")
    witnessing = [(key, stamp) for key, stamp in valid if key in witnesses and key not in ours]
    counted = [(key, stamp) for key, stamp in valid + unchecked if key in witnesses and key not in ours]
    need(is_quorum(policy, counted), "trust_policy_not_met", "the quorum is not met")
    need(is_quorum(policy, witnessing), "skipped", f"the quorum needs cosignatures of ML-DSA-44, which {TAKES}")
    # A time of the log that nobody checked decides nothing, and witnesses do not stand in for it.
    stamp = None if pq == "not_checked" else signed_time(policy, [stamp for key, stamp in valid if key in ours], witnessing)
    return stamp, size, root, pq


def is_quorum(policy, witnessing):
    signed, decided = {key for key, _ in witnessing}, {}
    for name, node in policy["nodes"].items():
        decided[name] = node in signed if isinstance(node, Key) else sum(decided[one] for one in node[1]) >= node[0]
    return policy["quorum"] == "none" or decided[policy["quorum"]]


def signed_time(policy, own, witnessing):
    """The log's own newest time; or else the newest since when a quorum of two names has cosigned. A time of 0 is none."""
    if any(own):
        return max(own)
    for since in sorted({stamp for _, stamp in witnessing if stamp}, reverse=True):
        some = [(key, stamp) for key, stamp in witnessing if stamp >= since]
        if len({key.name for key, _ in some}) >= 2 and is_quorum(policy, some):
            return since
    return None


def post_quantum(ours, carried, ml_dsa):
    keys = [key for key in ours if key.kind == 6]
    if not any(key in keys for key in carried):
        return "missing" if keys else "no_key"
    return "valid" if ml_dsa else "not_checked"


def verify(data, trust, require_pq=False, max_age=None, now=None, ml_dsa=None, keys=()):
    """What the receipt proves; raises Refused. `ml_dsa` verifies ML-DSA-44, if anything does; `keys` are the signers named."""
    policy, now = parse_policy(trust), time.time() if now is None else now
    receipt, path = parse_receipt(data)
    parse_note(receipt["checkpoint"])
    leaf, reveal = bytes.fromhex(receipt["leaf_hash"]), receipt.get("reveal")
    if reveal:
        need(open_reveal(reveal) == leaf, "invalid", "the revealed leaf is not the receipt's")
        if reveal["type"] == KEY_TYPE:
            judge_key_statement(open_document(reveal["document"])[0])
    origin = receipt["checkpoint"].split("\n")[0]
    need(origin == receipt["log_origin"], "invalid", "another log in the checkpoint")
    stamp, size, root, pq = accept(receipt["checkpoint"], policy, require_pq, ml_dsa)
    need(root_of(leaf, receipt["index"], size, path) == root, "invalid", "the path leads to another root")
    if max_age is not None:
        need(stamp and -AHEAD <= now - stamp <= max_age, "stale", "too old, from the future, or of unknown age")
    need(reveal or not keys, "trust_policy_not_met", "a signer is named, and the receipt holds no document that one could have signed")
    known = judge_document(reveal, keys, now) if reveal else True
    return {"result": "proved" if known else "not_evaluated", "log_origin": origin, "index": receipt["index"],
            "size": size, "root": root.hex(), "pq": pq, "signed_at": stamp if stamp and stamp <= LAST_SPELLED else None}


class Unusable(Exception):
    """What the reader brought cannot be used; told with the number to exit with."""


def read_file(path, what, code):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Unusable(f"cannot read the {what} {path}: {error.strerror}", code) from None


def read_trust(path):
    """The text of a trust policy that reads. As it is read octet by octet, a comment need not be UTF-8."""
    text = read_file(path, "trust policy", 2).decode("utf-8", "surrogateescape")
    try:
        parse_policy(text)
    except ValueError as error:
        raise Unusable(f"{path} is no trust policy: {error}", 2) from None
    return text


def named_key(text):
    raw = unbase64(text)
    if raw is None or len(raw) != 32 or small_order(raw):
        raise argparse.ArgumentTypeError("not an Ed25519 public key in base64")
    return raw


def main():
    arguments = argparse.ArgumentParser(
        description="Says offline what a countersign/receipt/v1 proves.",
        epilog="Exit codes: 0 valid; 1 invalid or refused; 2 a key or a trust policy that cannot be used; 3 malformed; "
               "4 stale, not evaluated or skipped; 5 trust policy not met.")
    arguments.add_argument("receipt", help="the file to judge")
    arguments.add_argument("trust", help="trust policy (C2SP tlog-policy): the logs and witnesses you accept")
    arguments.add_argument("--key", action="append", default=[], type=named_key, metavar="BASE64",
                           help="public key of a signer you accept; may be repeated; without one nothing says who signed")
    arguments.add_argument("--require-pq", action="store_true", help="refuse a checkpoint without the log's ML-DSA-44 signature")
    arguments.add_argument("--max-age", type=int, metavar="SECONDS", help="refuse a checkpoint signed longer ago than this")
    arguments.add_argument("--now", type=int, metavar="SECONDS", help="judge at this Unix time instead of now")
    given = arguments.parse_args()
    package, ml_dsa = (packages() or [(None, None)])[0]
    try:
        trust, data = read_trust(given.trust), read_file(given.receipt, "receipt", 3)
        proved = verify(data, trust, given.require_pq, given.max_age, given.now, ml_dsa, given.key)
    except Unusable as unusable:
        why, code = unusable.args
        print(why, file=sys.stderr)
        return code
    except Refused as refused:
        print(f"{refused.kind}: {refused}")
        return EXIT[refused.kind]
    by = f" (by {package})" if proved["pq"] == "valid" else ""
    word = "valid" if proved["result"] == "proved" else "not evaluated: no --key says who signed the document; logged"
    print(f"{word}: entry {proved['index']} of {proved['size']} in the log {proved['log_origin']}")
    print(f"  root {proved['root']}, signed at {proved['signed_at']}, pq: {proved['pq']}{by}")
    return EXIT[proved["result"]]


if __name__ == "__main__":
    sys.exit(main())
