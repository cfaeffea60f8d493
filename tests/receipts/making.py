"""What make_vectors.py makes its cases from: keys, trust policies, documents, trees and receipts.

Written from RFC 6962, RFC 2104, RFC 8785 and the C2SP texts, without our code. Needs `pip install cryptography` 48 or
newer for ML-DSA-44. The output is deterministic but for ML-DSA signatures, which `cryptography` makes with randomness.
"""
import base64, hashlib, hmac, json, struct
from cryptography.hazmat.primitives.asymmetric import ed25519, mldsa

LOG, OTHER = "log.example.test/countersign/2026", "other.example.test/log"
TIME = 1788253260  # 2026-09-01T09:01:00Z
MINUTE = "2026-09-01T09:00:00Z"
DASH = "\u2014"


def sha(data): return hashlib.sha256(data).digest()
def b64(data): return base64.b64encode(data).decode()
def jcs(value): return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


class Key:
    """A note key: name, type byte, secret."""
    def __init__(self, name, kind, seed):
        self.name, self.kind = name, kind
        if kind == 6:
            self.secret = mldsa.MLDSA44PrivateKey.from_seed_bytes(seed)
        else:
            self.secret = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self.secret.public_key().public_bytes_raw()
        self.id = sha(name.encode() + b"\n" + bytes([kind]) + self.public)[:4]

    def vkey(self): return f"{self.name}+{self.id.hex()}+{b64(bytes([self.kind]) + self.public)}"

    def line(self, text, time=TIME):
        origin, size, root = text.split("\n")[:3]
        stamp = struct.pack(">Q", time)
        if self.kind == 1:
            blob = self.secret.sign(text.encode())
        elif self.kind == 4:
            blob = stamp + self.secret.sign(f"cosignature/v1\ntime {time}\n{text}".encode())
        else:
            message = b"subtree/v1\n\0" + bytes([len(self.name)]) + self.name.encode() + stamp
            message += bytes([len(origin)]) + origin.encode() + struct.pack(">QQ", 0, int(size)) + base64.b64decode(root)
            blob = stamp + self.secret.sign(message)
        return f"{DASH} {self.name} {b64(self.id + blob)}\n"


class SmallR:
    """Signs as RFC 8032 5.1.6 does, but with the neutral point for R: the equation holds, and a strict verifier refuses."""
    def __init__(self, seed):
        secret = bytearray(hashlib.sha512(seed).digest()[:32])
        secret[0], secret[31] = secret[0] & 248, secret[31] & 63 | 64
        self.scalar = int.from_bytes(secret, "little")
        self.public = ed25519.Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()

    def sign(self, message):
        order, r = 2**252 + 27742317777372353535851937790883648493, bytes([1]) + bytes(31)
        k = int.from_bytes(hashlib.sha512(r + self.public + message).digest(), "little") % order
        return r + (k * self.scalar % order).to_bytes(32, "little")


ED = Key(LOG, 1, bytes(range(0x00, 0x20)))
PQ = Key(LOG, 6, bytes(range(0x40, 0x60)))
ED_SMALL_R = Key(LOG, 1, bytes(range(0x00, 0x20)))
ED_SMALL_R.secret = SmallR(bytes(range(0x00, 0x20)))
FOREIGN = Key(OTHER, 1, bytes(range(0x60, 0x80)))
W1 = Key("witness.example.test/w1", 4, bytes(range(0x20, 0x40)))
W2 = Key("witness.example.test/w2", 4, bytes(range(0x80, 0xA0)))
W3 = Key("witness.example.test/w3", 4, bytes(range(0xE0, 0x100)))
TWIN = Key(W1.name, 6, bytes(range(0x10, 0x30)))
STRANGER = Key("witness.example.test/stranger", 4, bytes(range(0xA0, 0xC0)))
THIEF = Key(LOG, 1, bytes(range(0xC0, 0xE0)))

SIGNER = ed25519.Ed25519PrivateKey.from_private_bytes(bytes([7]) * 32)
KEY_ID = hashlib.sha256(SIGNER.public_key().public_bytes_raw()).hexdigest()[:16]
SALT = bytes([0xA5]) * 32

TRUST = {
    "log": f"# the log's Ed25519 key alone\nlog {ED.vkey()}\nquorum none\n",
    "log+pq": f"log {ED.vkey()}\nlog {PQ.vkey()}\nquorum none\n",
    "log+pq, any of two": f"log {ED.vkey()}\nlog {PQ.vkey()}\nwitness one {W1.vkey()}\nwitness two {W2.vkey()}\ngroup any any one two\nquorum any\n",
    "other": f"log {FOREIGN.vkey()}\nquorum none\n",
    "two witnesses": f"log {ED.vkey()}\nwitness one {W1.vkey()}\nwitness two {W2.vkey()}\ngroup both all one two\nquorum both\n",
    "one of two": f"log {ED.vkey()}\nwitness one {W1.vkey()}\nwitness two {W2.vkey()}\ngroup any any one two\nquorum any\n",
    "two of three": f"log {ED.vkey()}\nwitness one {W1.vkey()}\nwitness two {W2.vkey()}\nwitness three {W3.vkey()}\ngroup some 2 one two three\nquorum some\n",
    "witnesses and no quorum": f"log {ED.vkey()}\nwitness one {W1.vkey()}\nwitness two {W2.vkey()}\nquorum none\n",
    "log+pq, both keys of one witness": f"log {ED.vkey()}\nwitness one {W1.vkey()}\nwitness twin {TWIN.vkey()}\nwitness two {W2.vkey()}\ngroup both all one twin\nquorum both\n",
    "names that every object has": f"log {ED.vkey()}\nwitness __proto__ {W1.vkey()}\nwitness constructor {W2.vkey()}\ngroup toString all __proto__ constructor\nquorum toString\n",
}


def node(left, right): return sha(b"\x01" + left + right)


def mth(leaves):
    """RFC 6962 2.1, over leaf hashes."""
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return node(mth(leaves[:k]), mth(leaves[k:]))


def path(m, leaves):
    """RFC 6962 2.1.1."""
    if len(leaves) == 1:
        return []
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    if m < k:
        return path(m, leaves[:k]) + [mth(leaves[k:])]
    return path(m - k, leaves[k:]) + [mth(leaves[:k])]


def decision(signer=None, **more):
    body = {"schema": "countersign/decision/v1", "issuedAt": "2026-09-01T09:00:12Z", "keyId": KEY_ID,
            "expiresAt": "2026-09-01T09:10:12Z", "url": "https://api.example.com/paid", "word": "payable", **more}
    return jcs(dict(body, signature=b64((signer or SIGNER).sign(jcs(body)))))


def rfc_8785():
    """Members and numbers of RFC 8785 3.2.2 and 3.2.3, without 1E30: signed in their canonical form, spelled as there."""
    dated, named, kind = '"issuedAt":"2026-09-01T09:00:12Z"', f'"keyId":"{KEY_ID}"', '"schema":"countersign/decision/v1"'
    numbers = '"numbers":[333333333.3333333,4.5,0.002,1e-27]'
    signed = f'{{"\\r":2,"1":4,{dated},{named},{numbers},{kind},"\u0080":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}}'
    numbers = '"numbers":[333333333.33333329,4.50,2e-3,0.000000000000000000000000001]'
    signature = f'"signature":"{b64(SIGNER.sign(signed.encode()))}"'
    text = f'{{{numbers},{kind},{dated},{named},{signature},"\u20ac":1,"\\r":2,"\ufb33":3,"1":4,"\U0001f600":5,"\u0080":6,"\u00f6":7}}'
    return text.encode()


def statement(until=None, signer=SIGNER, **more):
    """What a key says of itself."""
    public = SIGNER.public_key().public_bytes_raw()
    body = {"schema": "countersign/key/v1", "issuedAt": until or "2026-09-01T08:00:00Z", "keyId": KEY_ID, "publicKey": b64(public),
            "purpose": "decision", "from": "2026-09-01T08:00:00Z", "until": until, **more}
    return jcs(dict(body, signature=b64(signer.sign(jcs(body)))))


def of_key(document):
    return receipt(2, 7, [ED], kind="countersign.key.v1", document=document)


def leaf_of(kind, document, ts=MINUTE, salt=SALT):
    commitment = hmac.new(salt, kind.encode() + b"\0" + document, hashlib.sha256).hexdigest()
    return commitment, jcs({"commitment": commitment, "ts": ts, "type": kind})


def receipt(index, size, signers, kind="countersign.decision.v1", document=None, origin=LOG, ts=MINUTE, time=TIME, extensions=""):
    """Signed by keys at `time`, or by (key, time) each at its own."""
    document = document or decision()
    commitment, leaf = leaf_of(kind, document, ts)
    leaves = [sha(b"\0" + b"entry-%d" % i) for i in range(size)]
    leaves[index] = sha(b"\0" + leaf)
    text = f"{origin}\n{size}\n{b64(mth(leaves))}\n{extensions}"
    lines = [one if isinstance(one, tuple) else (one, time) for one in signers]
    note = text + "\n" + "".join(key.line(text, at) for key, at in lines)
    return {"schema": "countersign/receipt/v1", "log_origin": origin, "index": index, "leaf_hash": leaves[index].hex(),
            "inclusion_path": [b64(h) for h in path(index, leaves)], "checkpoint": note,
            "reveal": {"type": kind, "ts": ts, "commitment": commitment, "salt": SALT.hex(), "document": document.decode()}}


CASES, POLICIES = [], []


def repeated(text, times):
    """So many times, with # counting from 0."""
    return "".join(text.replace("#", str(turn)) for turn in range(times))


def case(name, value, expect, code=None, trust="log", max_age_s=None, require_pq=False, now=TIME + 60, fill=None, **proved):
    """`fill` is what a long receipt repeats, and how often: in the file a mark stands for it. `without_pq` is the code of
    who cannot check ML-DSA-44, where all rests on that."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if fill:
        spelled = json.dumps(fill[0], ensure_ascii=False)[1:-1]
        before, after = text.split(repeated(spelled, fill[1]))
        text, proved = before + "\u25a0" + after, {"fill": {"with": spelled, "times": fill[1]}, **proved}
    CASES.append({"name": name, "receipt": text, "trust": trust, "now": now, "max_age_s": max_age_s,
                  "require_pq": require_pq, "expect": expect, "code": code, **proved})


def policy(name, rest, reads=False):
    """The log and both witnesses, and what follows: does the file read?"""
    start = f"log {ED.vkey()}\nwitness one {W1.vkey()}\nwitness two {W2.vkey()}\n"
    POLICIES.append({"name": name, "policy": start + rest, "reads": reads})


def changed(value, **members):
    return {**value, **members}


def revealed(value, **members):
    return {**value, "reveal": {**value["reveal"], **members}}


def without(value, name):
    return {k: v for k, v in value.items() if k != name}


def strip(value, key):
    """Without the signature lines of one key."""
    mine = b64(key.id)[:4]
    keep = [l for l in value["checkpoint"].split("\n") if not l.startswith(f"{DASH} {key.name} {mine}")]
    return changed(value, checkpoint="\n".join(keep))


def resized(value, key, length):
    """With the signatures of one key cut or filled up to so many bytes behind the key id."""
    lines = value["checkpoint"].split("\n")
    for at, line in enumerate(lines):
        raw = base64.b64decode(line.split(" ")[-1]) if line.startswith(f"{DASH} {key.name} ") else b""
        if raw.startswith(key.id):
            lines[at] = f"{DASH} {key.name} {b64((raw + bytes(length))[:4 + length])}"
    return changed(value, checkpoint="\n".join(lines))


def flip(text, at):
    raw = bytearray(base64.b64decode(text))
    raw[at] ^= 1
    return b64(bytes(raw))
