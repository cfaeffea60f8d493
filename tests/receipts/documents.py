"""Signed documents: strict JSON, RFC 8785, and who signed what when. Written from the RFCs, without our code."""
import base64, binascii, hashlib, json, re, sys
from collections import namedtuple
from datetime import datetime, timezone
from decimal import Decimal

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:
    print("skipped: the Python package cryptography is not here, so receipts are not judged in Python")
    sys.exit(4)

KEY = {"schema", "issuedAt", "keyId", "publicKey", "purpose", "from", "until", "signature"}
PURPOSES = {"verdict", "decision", "approval", "evidence", "credential", "log"}
KEY_TYPE = "countersign.key.v1"
LAST_SPELLED = 253402207200  # 9999-12-30T22:00:00Z, as in the other verifiers
# Nesting, members of one object, and bytes of source: of a string between its quotes, and of the whole text.
Limits = namedtuple("Limits", "depth members string size")
DOCUMENT = Limits(32, 10_000, 64 << 10, 1 << 20)
STRING = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)"')
AHEAD = 300  # how far a date or a signed time may run ahead of the reader's clock, in seconds


class Refused(Exception):
    def __init__(self, kind, why):
        super().__init__(why)
        self.kind = kind


def need(right, kind, why):
    if not right:
        raise Refused(kind, why)


def sha(data): return hashlib.sha256(data).digest()


P = 2**255 - 19
D = -121665 * pow(121666, P - 2, P) % P


def small_order(point):
    """Whether an encoded point has an order that divides 8: 1, 2 and 4 by their y, and 8 where doubling gives y = 0."""
    square = (int.from_bytes(point, "little") % 2**255) ** 2 % P
    return square in (0, 1) or (D * square * square + 2 * square - 1) % P == 0


def ed25519_holds(public, message, signature):
    """RFC 8032, and neither key nor R may be of small order: `cryptography` looks at neither."""
    if small_order(public) or len(signature) != 64 or small_order(signature[:32]):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def unbase64(text):
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return None
    return raw if base64.b64encode(raw).decode() == text else None


def depth(value):
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inside is None else 1 + max(map(depth, inside), default=0)


def strict(data, limits):
    """JSON as two readers must see it: no duplicate, no half surrogate, no integer beyond 2^53, however it is spelled."""
    need(len(data) <= limits.size, "malformed", "too much text")

    def members(pairs):
        need(len(pairs) <= limits.members, "malformed", "too many members")
        need(len({name for name, _ in pairs}) == len(pairs), "malformed", "a member twice")
        return dict(pairs)

    def integer(text):
        need(abs(int(text)) < 2**53, "malformed", "an unsafe integer")
        return -0.0 if text == "-0" else int(text)

    def real(text):
        value = float(text)
        need(abs(value) != float("inf"), "malformed", "a number that no double holds")
        need(not value.is_integer() or abs(value) < 2**53, "malformed", "an unsafe integer")
        return value

    def never(text): raise Refused("malformed", f"not JSON: {text}")
    try:
        text = data.decode("utf-8")
        need(not text.startswith("\ufeff"), "malformed", "a byte order mark")
        value = json.loads(text, object_pairs_hook=members, parse_int=integer, parse_float=real, parse_constant=never)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
        need(depth(value) <= limits.depth, "malformed", "nested too deep")
    except (ValueError, RecursionError) as error:
        raise Refused("malformed", str(error)) from None
    need(all(len(one[1]) <= limits.string for one in STRING.finditer(data)), "malformed", "a string too long")
    return value


def canonical(value):
    """RFC 8785."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return double(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def double(value):
    """A number as ECMAScript prints it; Python finds the same digits and places the point otherwise."""
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits, point = "".join(map(str, digits)), len(digits) + exponent
    minus = "-" if sign and value else ""
    if not value:
        return "0"
    if 0 < point <= 21:
        return minus + (digits.ljust(point, "0") if exponent >= 0 else f"{digits[:point]}.{digits[point:]}")
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    return f"{minus}{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{point - 1:+d}"


def instant(text):
    """Seconds of YYYY-MM-DDTHH:MM:SS[.fraction]Z; None for anything else. A leap second is the second before it."""
    match = re.fullmatch(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:)([0-9]{2})(?:\.([0-9]{1,9}))?Z", text) if type(text) is str else None
    try:
        whole = datetime.strptime(match[1] + match[2].replace("60", "59"), "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
        return None if whole.timestamp() > LAST_SPELLED else whole.timestamp() + int((match[3] or "0").ljust(3, "0")[:3]) / 1000
    except (TypeError, ValueError):
        return None


def second(text):
    """The one spelling of a second that exists; None for anything else."""
    at = instant(text)
    return at if at is not None and "." not in text and not text.endswith(":60Z") else None


def signed_by(said, public):
    """Whether the key has signed the document, all of it but the signature."""
    rest = canonical({name: value for name, value in said.items() if name != "signature"})
    return ed25519_holds(public, rest.encode(), unbase64(said["signature"]))


def open_document(document):
    """A signed document and its date."""
    try:
        said = strict(document.encode(), DOCUMENT)
    except Refused as refused:
        raise Refused("invalid", f"the document inside: {refused}") from None
    names = ("schema", "issuedAt", "keyId", "signature")
    need(isinstance(said, dict) and all(type(said.get(name)) is str for name in names), "invalid", "no signed document")
    need(instant(said["issuedAt"]) is not None and unbase64(said["signature"]) is not None, "invalid", "no signed document")
    return said, instant(said["issuedAt"])


def judge_key_statement(said):
    """What a key says of itself, signed by that key."""
    need(set(said) == KEY, "invalid", "not the members of a key's statement")
    start, end, public = said["from"], said["until"], unbase64(said["publicKey"])
    need(said["schema"] == "countersign/key/v1" and str(said["purpose"]) in PURPOSES, "invalid", "schema or purpose")
    need(second(start) is not None, "invalid", "from")
    need(end is None or (second(end) is not None and second(start) <= second(end)), "invalid", "until")
    need(said["issuedAt"] == (end or start), "invalid", "issuedAt")
    need(public and len(public) == 32 and said["keyId"] == sha(public)[:8].hex(), "invalid", "publicKey or keyId")
    need(signed_by(said, public), "invalid", "the key did not sign what is said of it")


def judge_document(reveal, keys, now):
    """Whether it is known who signed. Raises for a wrong signature, for a signer that none of `keys` is, for a date to come."""
    said, dated = open_document(reveal["document"])
    named = [public for public in keys if sha(public)[:8].hex() == said["keyId"]]
    need(all(signed_by(said, public) for public in named), "invalid", "the document inside is not signed as it says")
    need(named or not keys, "invalid", "the document inside is signed by a key that was not named")
    speaks_of_itself = reveal["type"] == KEY_TYPE
    need(speaks_of_itself or dated - now <= AHEAD, "refused", "the document inside is dated to come")
    return bool(named) or speaks_of_itself
