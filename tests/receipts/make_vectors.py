"""Makes crates/engine/tests/data/receipts.json, the receipts that every verifier of ours must judge alike.

Needs what making.py needs. The output is deterministic but for ML-DSA signatures, which are made with randomness.
"""
import json, pathlib
from making import *

OUT = pathlib.Path(__file__).resolve().parents[2] / "crates/engine/tests/data/receipts.json"

# What holds.
for index, size in [(0, 1), (0, 2), (1, 2), (2, 3), (4, 5), (3, 7), (6, 7), (255, 256), (0, 257), (256, 257)]:
    case(f"leaf {index} of {size}", receipt(index, size, [ED]), "proved", index=index, size=size, pq="no_key")
good, pq = receipt(3, 7, [ED]), receipt(3, 7, [ED, PQ])
case("with a post-quantum signature", pq, "proved", trust="log+pq", require_pq=True, index=3, size=7, pq="valid")
case("the post-quantum signature alone", strip(pq, ED), "proved", trust="log+pq", index=3, size=7, pq="valid", without_pq="pq_not_checked")
case("a post-quantum signature that nobody has a key for", pq, "proved", index=3, size=7, pq="no_key")
case("the post-quantum line stripped, unnoticed without the demand", strip(pq, PQ), "proved", trust="log+pq", index=3, size=7, pq="missing")
case("fresh by the post-quantum time", pq, "proved", trust="log+pq", max_age_s=60, index=3, size=7, pq="valid")
case("cosigned by both witnesses", receipt(3, 7, [ED, W1, W2]), "proved", trust="two witnesses", index=3, size=7, pq="no_key")
case("cosigned by one of two", receipt(3, 7, [ED, W2]), "proved", trust="one of two", index=3, size=7, pq="no_key")
case("a stranger cosigned as well", receipt(3, 7, [ED, STRANGER]), "proved", index=3, size=7, pq="no_key")
case("a newer kind of leaf", receipt(1, 3, [ED], kind="countersign.weather.v7"), "proved", index=1, size=3, pq="no_key", meaning="unknown")
case("spelled with spaces and escapes", json.dumps(good, indent=2), "proved", index=3, size=7, pq="no_key")
case("a document beyond ASCII", receipt(1, 2, [ED], document=decision(note="\u20ac \U0001f600 \u2028\\ \"")), "proved", index=1, size=2, pq="no_key")

# What a key says of itself.
END = "2026-09-08T08:00:00Z"
case("a key that signs", of_key(statement()), "proved", index=2, size=7, pq="no_key")
case("a key that ended", of_key(statement(END)), "proved", index=2, size=7, pq="no_key")
MEMBER = "key_statement_member"
for name, document in [
    ("another purpose", statement(purpose="everything")),
    ("another schema", statement(schema="countersign/key/v2")),
    ("another member", statement(successor="x")),
    ("an end before its beginning", statement("2026-08-31T08:00:00Z")),
    ("a fraction of a second", statement(**{"from": "2026-09-01T08:00:00.0Z"})),
    ("the date of its beginning at its end", statement(END, issuedAt="2026-09-01T08:00:00Z")),
    ("another key's id", statement(keyId="0011223344556677")),
    ("a decision in its place", decision()),
]:
    case(f"a key with {name}", of_key(document), "invalid", MEMBER)
case("a key that another signed for", of_key(statement(END, signer=ed25519.Ed25519PrivateKey.from_private_bytes(bytes([8]) * 32))), "invalid", "signature_invalid")
case("a key whose end was moved", of_key(statement(END).replace(b"2026-09-08", b"2026-09-09")), "invalid", "signature_invalid")

# Who signed the document, by the keys that the reader names. A key speaks of itself.
STRANGE = b64(ed25519.Ed25519PrivateKey.from_private_bytes(bytes([8]) * 32).public_key().public_bytes_raw())
case("nobody said who may sign", good, "not_evaluated", "unknown_key", keys=[], index=3, size=7, pq="no_key")
case("another signer was named", good, "invalid", "unknown_key", keys=[STRANGE])
case("the signer is one of two that were named", good, "proved", keys=[STRANGE, b64(SIGNER.public_key().public_bytes_raw())], index=3, size=7, pq="no_key")
case("without its reveal", without(good, "reveal"), "proved", keys=[], index=3, size=7, pq="no_key")
NO_DOCUMENT = ("trust_policy_not_met", "no_document")
case("without its reveal, and the signer named", without(good, "reveal"), *NO_DOCUMENT)
case("without its reveal, and another signer named", without(good, "reveal"), *NO_DOCUMENT, keys=[STRANGE])
case("without the reveal of a key, and that key named", without(of_key(statement()), "reveal"), *NO_DOCUMENT)
case("without its reveal, the signer named, and of another log", without(good, "reveal"), "trust_policy_not_met", "log_unknown", trust="other")
case("without its reveal, the signer named, and too old", without(pq, "reveal"), "stale", "checkpoint_too_old", trust="log+pq", max_age_s=60, now=TIME + 61)
case("a key that speaks of itself, and nobody named", of_key(statement()), "proved", keys=[], index=2, size=7, pq="no_key")
case("a key that speaks of itself, and another named", of_key(statement()), "invalid", "unknown_key", keys=[STRANGE])
case("a document whose signature is of another", receipt(3, 7, [ED], document=decision().replace(b'"payable"', b'"Payable"')), "invalid", "signature_invalid")
case("a document signed with an R of small order", receipt(3, 7, [ED], document=decision(SmallR(bytes([7]) * 32))), "invalid", "signature_invalid")
case("a checkpoint signed with an R of small order", receipt(3, 7, [ED_SMALL_R]), "invalid", "note_bad_signature")
for name in ["schema", "issuedAt", "keyId", "signature"]:
    case(f"a document without its {name}", receipt(3, 7, [ED], document=jcs(without(json.loads(decision()), name))), "invalid", "member_missing", keys=[])
case("a document that is a list", receipt(3, 7, [ED], document=b"[]"), "invalid", "member_missing", keys=[])
case("a document with a member twice", receipt(3, 7, [ED], document=b'{"a":1,"a":1}'), "invalid", "json_duplicate", keys=[])
for number in ["1E30", "1e21", "1e20", "-9007199254740992"]:
    body = decision(number=1).replace(b'"number":1', b'"number":' + number.encode())
    case(f"a document with the number {number}", receipt(3, 7, [ED], document=body), "invalid", "json_unsafe_integer")
case("a document spelled as the example of RFC 8785", receipt(3, 7, [ED], document=rfc_8785()), "proved", index=3, size=7, pq="no_key")

# What a document may hold: 32 levels, 10,000 members of one object, 65,536 bytes of source of a string, and 1 MiB in all.
PLACE = {"index": 3, "size": 7, "pq": "no_key"}
deep = {levels: decision(deep=json.loads("[" * (levels - 1) + "]" * (levels - 1))) for levels in (32, 33)}
case("a document of 32 levels", receipt(3, 7, [ED], document=deep[32]), "proved", **PLACE)
case("a document of 33 levels", receipt(3, 7, [ED], document=deep[33]), "invalid", "json_depth")
for count, outcome in [(10_000, ("proved",)), (10_001, ("invalid", "json_members"))]:
    names, more = {"x": 0, **{str(n): 0 for n in range(count - 1)}}, (',"#":0', count - 1)
    body = decision(many=names).replace(jcs(names), b'{"x":0' + repeated(*more).encode() + b"}")
    case(f"a document with an object of {count} members", receipt(3, 7, [ED], document=body), *outcome, fill=more, **PLACE)
for name, more, rest, outcome in [
    ("65,536 bytes", ("x", 65_536), "", ("proved",)),
    ("65,537 bytes", ("x", 65_537), "", ("invalid", "json_string")),
    ("65,536 bytes in 21,846 characters", ("\u20ac", 21_845), "x", ("proved",)),
    ("65,537 bytes in 21,847 characters", ("\u20ac", 21_845), "xx", ("invalid", "json_string")),
]:
    body = decision(note=repeated(*more) + rest)
    case(f"a document with a string of {name}", receipt(3, 7, [ED], document=body), *outcome, fill=more, **PLACE)
for rest, outcome in [("zzzz", ("proved",)), ("zzzzz", ("invalid", "json_string"))]:
    more = ("\\u0078", 10_922)
    body = decision(note="x" * more[1] + rest).replace(b"x" * more[1], repeated(*more).encode())
    case(f"a document with a string of {65_532 + len(rest)} bytes in escapes", receipt(3, 7, [ED], document=body), *outcome, fill=more, **PLACE)
for size, outcome in [(1 << 20, ("proved",)), ((1 << 20) + 1, ("invalid", "json_size"))]:
    more = (" ", size - len(decision()))
    body = b"{" + repeated(*more).encode() + decision()[1:]
    case(f"a document of {size} bytes", receipt(3, 7, [ED], document=body), *outcome, fill=more, **PLACE)
case("a document with a member twice that does not end", receipt(3, 7, [ED], document=b'{"a":1,"a":1'), "invalid", "json_syntax", keys=[])

# A document from the future: more than five minutes ahead of the reader's clock. 1788253212 is 2026-09-01T09:00:12Z.
ISSUED = 1788253212
case("a document dated five minutes ahead", good, "proved", now=ISSUED - 300, index=3, size=7, pq="no_key")
case("a document dated five minutes and a second ahead", good, "refused", "not_yet_valid", now=ISSUED - 301)
case("the same where nobody said who may sign", good, "refused", "not_yet_valid", now=ISSUED - 301, keys=[])
case("the same with another signer named", good, "invalid", "unknown_key", now=ISSUED - 301, keys=[STRANGE])
case("a key that begins an hour ahead", of_key(statement()), "proved", now=1788249600 - 3600, index=2, size=7, pq="no_key")
for text, ahead in [("2026-09-01T09:00:12.999Z", 0), ("2026-09-01T09:00:60Z", 47)]:
    dated = receipt(3, 7, [ED], document=decision(issuedAt=text))
    case(f"a document dated {text}", dated, "proved", now=ISSUED + ahead - 299, index=3, size=7, pq="no_key")
    case(f"a document dated {text}, too far ahead", dated, "refused", "not_yet_valid", now=ISSUED + ahead - (300 if ahead == 0 else 301))
for text in ["2026-09-01", "20260901T090012Z", "2026-09-01T09:00Z", "2026-09-01T09:00:12+00:00", "2026-09-01t09:00:12z", "2026-02-30T09:00:12Z", "2026-09-01T24:00:00Z", "9999-12-31T00:00:00Z"]:
    case(f"a document dated {text}", receipt(3, 7, [ED], document=decision(issuedAt=text)), "invalid", "member_missing")

# Extension lines, which the post-quantum signature does not cover.
LINE = "a stranger's line\n"
case("an extension line under the log's Ed25519 signature", receipt(3, 7, [ED], extensions=LINE), "proved", index=3, size=7, pq="no_key")
case("an extension line under both of the log's signatures", receipt(3, 7, [ED, PQ], extensions=LINE), "proved", trust="log+pq", require_pq=True, index=3, size=7, pq="valid")
case("an extension line under the log's signatures and a witness's", receipt(3, 7, [ED, PQ, W1], extensions=LINE), "proved", trust="log+pq, any of two", index=3, size=7, pq="valid")
case("an extension line under the post-quantum signature alone", receipt(3, 7, [PQ], extensions=LINE), "trust_policy_not_met", "extensions_not_signed", trust="log+pq")
case("an extension line that a witness covers and the log does not", receipt(3, 7, [PQ, W1], extensions=LINE), "trust_policy_not_met", "extensions_not_signed", trust="log+pq, any of two")
case("the same without the line", receipt(3, 7, [PQ, W1]), "proved", trust="log+pq, any of two", index=3, size=7, pq="valid", without_pq="pq_not_checked")
case("an extension line added to the log's Ed25519 signature", changed(good, checkpoint=good["checkpoint"].replace("\n\n", "\n" + LINE + "\n", 1)), "invalid", "note_bad_signature")

# Names of a policy that every object of JavaScript has, and thresholds that none of them is.
OBJECT = "names that every object has"
case("cosigned by both of them", receipt(3, 7, [ED, W1, W2]), "proved", trust=OBJECT, index=3, size=7, pq="no_key")
case("cosigned by one of them", receipt(3, 7, [ED, W1]), "trust_policy_not_met", "quorum_missing", trust=OBJECT)
policy("no witness", "quorum none\n", reads=True)
policy("a witness", "quorum one\n", reads=True)
for threshold in ["any", "all", "1", "2"]:
    policy(f"a threshold of {threshold}", f"group g {threshold} one two\nquorum g\n", reads=True)
for threshold in ["0", "3", "01", "+1", "1_0", "-1", "\u0661", "1.0", "0x1", "any,", "All", "constructor", "__proto__", "toString", "valueOf", "hasOwnProperty"]:
    policy(f"a threshold of {threshold}", f"group g {threshold} one two\nquorum g\n")
for name in ["constructor", "__proto__", "toString", "hasOwnProperty"]:
    policy(f"a line that begins with {name}", f"{name} x\nquorum none\n")
    policy(f"a quorum of an undefined {name}", f"quorum {name}\n")
    policy(f"an undefined member {name}", f"group g any one {name}\nquorum g\n")
    policy(f"a group called {name}", f"group {name} all one two\nquorum {name}\n", reads=True)
    policy(f"a group called {name} twice", f"group {name} any one\ngroup {name} any two\nquorum {name}\n")
for name, rest in [("no quorum", ""), ("two quorums", "quorum one\nquorum one\n"), ("a line that does not end", "quorum none"),
                   ("a member of two groups", "group g any one\ngroup h any one two\nquorum h\n"), ("a group called none", "group none any one\nquorum none\n"),
                   ("a witness twice", f"witness three {W1.vkey()}\nquorum none\n"), ("a witness key as a log", f"log {W1.vkey()}\nquorum none\n"),
                   ("a log key as a witness", f"witness three {ED.vkey()}\nquorum none\n"), ("a log twice", f"log {ED.vkey()}\nquorum none\n"),
                   ("a carriage return", "quorum none\r\n"), ("a group without members", "group g any\nquorum g\n"), ("two words of quorum", "quorum one two\n")]:
    policy(name, rest)

# Names of keys: 1 to 255 bytes, no plus sign, and no space of Unicode.
SPACES = ["\u00a0", "\u0085", "\u1680", "\u2003", "\u2028", "\u202f", "\u3000"]
for sign, reads in [*((space, False) for space in SPACES), ("\u200b", True), ("\ufeff", True)]:
    key, code = Key(f"a{sign}b", 1, bytes([9]) * 32), f"U+{ord(sign):04X}"
    policy(f"a log whose name has {code}", f"log {key.vkey()}\nquorum none\n", reads)
    signed = receipt(3, 7, [ED, key])
    if reads:
        case(f"a signature line whose name has {code}", signed, "proved", **PLACE)
    else:
        case(f"a signature line whose name has {code}", signed, "malformed", "note_signature_line")
for name, reads in [("x" * 255, True), ("x" * 256, False), ("\u20ac" * 85, True), ("\u20ac" * 85 + "x", False), ("", False), ("a\u007fb", False)]:
    policy(f"a log with a name of {len(name.encode())} bytes", f"log {Key(name, 1, bytes([9]) * 32).vkey()}\nquorum none\n", reads)

# What the reader's policy refuses.
case("the post-quantum line stripped under --require-pq", strip(pq, PQ), "trust_policy_not_met", "pq_missing", trust="log+pq", require_pq=True)
case("no post-quantum key in the policy under --require-pq", pq, "trust_policy_not_met", "pq_missing", require_pq=True)
case("a log that is not in the policy", good, "trust_policy_not_met", "log_unknown", trust="other")
case("signed only by a witness", strip(receipt(3, 7, [ED, W1]), ED), "trust_policy_not_met", "log_not_signed", trust="one of two")
case("signed only by a thief's key of the same name", receipt(3, 7, [THIEF]), "trust_policy_not_met", "note_no_known_key")
case("one of two witnesses where both are asked for", receipt(3, 7, [ED, W1]), "trust_policy_not_met", "quorum_missing", trust="two witnesses")
case("the same witness twice is one witness", receipt(3, 7, [ED, W1, W1]), "trust_policy_not_met", "quorum_missing", trust="two witnesses")
TWINS = "log+pq, both keys of one witness"
case("one key of a witness where both are asked for", receipt(3, 7, [ED, W1]), "trust_policy_not_met", "quorum_missing", trust=TWINS)
case("the other key of a witness where both are asked for", receipt(3, 7, [ED, TWIN]), "trust_policy_not_met", "quorum_missing", trust=TWINS)
case("cosigned by an unknown key only", receipt(3, 7, [ED, STRANGER]), "trust_policy_not_met", "quorum_missing", trust="one of two")

# What is too old, or of unknown age.
case("a minute and a second old", pq, "stale", "checkpoint_too_old", trust="log+pq", max_age_s=60, now=TIME + 61)
case("from the future", pq, "stale", "checkpoint_in_future", trust="log+pq", max_age_s=60, now=TIME - 301)
case("no signed time where an age is demanded", good, "stale", "checkpoint_time_unknown", max_age_s=60)
case("a signed time of zero states no time", receipt(3, 7, [ED, PQ], time=0), "stale", "checkpoint_time_unknown", trust="log+pq", max_age_s=60)

# When a checkpoint was signed, worked out by hand. The log's own time decides; where it states none, the newest since when
# witnesses of two names who make the quorum have cosigned. `since` seconds before TIME, held against ages at TIME.
BOTH, ANY, TWO, NONE, OWN = "two witnesses", "one of two", "two of three", "witnesses and no quorum", "log+pq, any of two"
for name, trust, signers, since in [
    ("both witnesses, as old as the older", BOTH, [(W1, 100), (W2, 40)], 100),
    ("both witnesses, the other the older", BOTH, [(W1, 40), (W2, 100)], 100),
    ("both witnesses, one of them far ahead", BOTH, [(W1, -10000), (W2, 40)], 40),
    ("both witnesses, one of them without a time", BOTH, [(W1, TIME), (W2, 40)], None),
    ("any of two, and both cosigned", ANY, [(W1, 100), (W2, 40)], 100),
    ("any of two, and one cosigned", ANY, [(W2, 40)], None),
    ("two of three, and all cosigned", TWO, [(W1, 10), (W2, 20), (W3, 30)], 20),
    ("two of three, and two cosigned", TWO, [(W1, 10), (W3, 30)], 30),
    ("no quorum, and two cosigned", NONE, [(W1, 100), (W2, 40)], 100),
    ("no quorum, and one cosigned", NONE, [(W1, 100)], None),
    ("no quorum, and nobody cosigned", NONE, [], None),
    ("both keys of one witness", TWINS, [(W1, 40), (TWIN, 40)], None),
    ("both keys of one witness, and another", TWINS, [(W1, 40), (TWIN, 60), (W2, 50)], 60),
    ("the log's time, older than the witnesses'", OWN, [(PQ, 100), (W1, 40), (W2, 40)], 100),
    ("the log's time, newer than the witnesses'", OWN, [(PQ, 40), (W1, 100), (W2, 100)], 40),
    ("the log's time, and a witness far ahead", OWN, [(PQ, 40), (W1, -10000)], 40),
    ("the log's time is none, and the witnesses'", OWN, [(PQ, TIME), (W1, 100), (W2, 40)], 100),
    ("the log's time is none, and one witness's", OWN, [(PQ, TIME), (W1, 100)], None),
]:
    value = receipt(3, 7, [ED] + [(key, TIME - ago) for key, ago in signers])
    unchecked = {"without_pq": "quorum_not_checked"} if trust == TWINS else {}
    proved = {"trust": trust, "index": 3, "size": 7, "pq": "valid" if trust == OWN else "no_key", "now": TIME, **unchecked}
    case(f"signed: {name}", value, "proved", signed_at=since and TIME - since, **proved)
    if since is None:
        case(f"signed: {name}, where an age is demanded", value, "stale", "checkpoint_time_unknown", trust=trust, now=TIME, max_age_s=2**31, **unchecked)
    else:
        case(f"signed: {name}, just in time", value, "proved", max_age_s=since, **proved)
        case(f"signed: {name}, a second late", value, "stale", "checkpoint_too_old", trust=trust, now=TIME, max_age_s=since - 1, **unchecked)
for name, trust, signers in [("the log, and its witnesses not", OWN, [(PQ, -301), (W1, 40), (W2, 40)]), ("both witnesses", BOTH, [(W1, -301), (W2, -400)])]:
    value = receipt(3, 7, [ED] + [(key, TIME - ago) for key, ago in signers])
    case(f"signed ahead by {name}", value, "stale", "checkpoint_in_future", trust=trust, now=TIME, max_age_s=60)
    case(f"signed ahead by {name}, by five minutes", value, "proved", trust=trust, now=TIME + 1, max_age_s=60, index=3, size=7, pq="valid" if trust == OWN else "no_key")

# Times at the ends of what a signature may state, all of them signed.
LAST, SHOWN = 2**63 - 1, 253402207200  # the last second that RFC 3339 readers agree on is 9999-12-30T22:00:00Z
PROVED = {"index": 3, "size": 7, "pq": "valid", "trust": "log+pq"}
FORM = ("malformed", "note_signature_malformed")
case("the last time that has a spelling", receipt(3, 7, [ED, (PQ, SHOWN)]), "proved", signed_at=SHOWN, **PROVED)
for time in [SHOWN + 1, 8_640_000_000_001, LAST]:
    far = receipt(3, 7, [ED, (PQ, time)])
    case(f"a signed time of {time} without a demand", far, "proved", signed_at=None, **PROVED)
    case(f"a signed time of {time} where an age is demanded", far, "stale", "checkpoint_in_future", trust="log+pq", max_age_s=60)
for time in [LAST + 1, 2**64 - 1]:
    case(f"a signed time of {time}", receipt(3, 7, [ED, (PQ, time)]), *FORM, trust="log+pq")
    case(f"a witness's time of {time}", receipt(3, 7, [ED, (W1, time)]), *FORM, trust="one of two")
    case(f"a stranger's time of {time}", receipt(3, 7, [ED, (STRANGER, time)]), "proved", index=3, size=7, pq="no_key", signed_at=None)

# Signatures of another length than their type's.
for key, trust, lengths in [(ED, "log", [1, 63, 65]), (W1, "one of two", [1, 7, 8, 71, 73]), (PQ, "log+pq", [1, 7, 8, 2427, 2429])]:
    for length in lengths:
        case(f"{length} bytes of type {key.kind}", resized(receipt(3, 7, [ED, key]), key, length), *FORM, trust=trust)
case("7 bytes of a stranger", resized(receipt(3, 7, [ED, STRANGER]), STRANGER, 7), "proved", index=3, size=7, pq="no_key")

# What is wrong.
case("the index of a neighbour", changed(good, index=2), "invalid", "wrong_root")
case("an index outside the tree", changed(good, index=7), "invalid", "index_outside")
case("the path cut short", changed(good, inclusion_path=good["inclusion_path"][:-1]), "invalid", "wrong_length")
case("a path with a hash too many", changed(good, inclusion_path=good["inclusion_path"] + [good["inclusion_path"][0]]), "invalid", "wrong_length")
case("no path", changed(good, inclusion_path=[]), "invalid", "wrong_length")
case("the path's hashes swapped", changed(good, inclusion_path=good["inclusion_path"][::-1]), "invalid", "wrong_root")
case("one bit of the path", changed(good, inclusion_path=[flip(good["inclusion_path"][0], 5)] + good["inclusion_path"][1:]), "invalid", "wrong_root")
case("another origin in the receipt", changed(good, log_origin=OTHER), "invalid", "origin_mismatch")
case("another origin in the checkpoint", changed(good, checkpoint=good["checkpoint"].replace(LOG + "\n", OTHER + "\n", 1)), "invalid", "origin_mismatch")
case("another origin in both", changed(good, log_origin=OTHER, checkpoint=good["checkpoint"].replace(LOG + "\n", OTHER + "\n", 1)), "trust_policy_not_met", "log_unknown")
case("another size", changed(good, checkpoint=good["checkpoint"].replace("\n7\n", "\n8\n", 1)), "invalid", "note_bad_signature")
case("another document", revealed(good, document=decision(word="not_payable").decode()), "invalid", "commitment_mismatch")
case("another salt", revealed(good, salt="a4" * 32), "invalid", "commitment_mismatch")
case("another kind", revealed(good, type="countersign.verdict.v1"), "invalid", "commitment_mismatch")
case("another minute", revealed(good, ts="2026-09-01T09:01:00Z"), "invalid", "leaf_hash_mismatch")
case("another leaf hash", changed(good, leaf_hash="00" * 32), "invalid", "leaf_hash_mismatch")
case("another leaf hash without a reveal", changed(without(good, "reveal"), leaf_hash="00" * 32), "invalid", "wrong_root")
swapped = leaf_of("countersign.decision.v1", decision(word="mismatch"))
case("a reveal of another leaf", changed(good, reveal={"type": "countersign.decision.v1", "ts": MINUTE, "commitment": swapped[0], "salt": SALT.hex(), "document": decision(word="mismatch").decode()}), "invalid", "leaf_hash_mismatch")
bad = receipt(3, 7, [ED, W1])
case("a known witness's wrong signature spoils the note", changed(bad, checkpoint=bad["checkpoint"].replace(W1.line("\n".join(bad["checkpoint"].split("\n")[:3]) + "\n"), W1.line(f"{LOG}\n9\n{b64(bytes(32))}\n"))), "invalid", "note_bad_signature", trust="one of two")
wrong_pq = changed(pq, checkpoint=strip(pq, PQ)["checkpoint"] + PQ.line(f"{LOG}\n7\n{b64(bytes(32))}\n"))
case("a post-quantum signature over another root", wrong_pq, "invalid", "note_bad_signature", trust="log+pq")

# How much a checkpoint may hold: 64 signature lines, and 128 KiB.
stranger = STRANGER.line(good["checkpoint"].split("\n\n")[0] + "\n")
case("64 signature lines", changed(good, checkpoint=good["checkpoint"] + stranger * 63), "proved", **PLACE)
case("65 signature lines", changed(good, checkpoint=good["checkpoint"] + stranger * 64), "malformed", "note_too_many_signatures")
for size, outcome in [(128 << 10, ("proved",)), ((128 << 10) + 1, ("malformed", "note_too_large"))]:
    room = size - len((good["checkpoint"] + f"{DASH}  \n").encode())
    line = f"{DASH} {'y' * (room % 4 + 4)} {'AAAA' * (room // 4 - 1)}\n"
    case(f"a checkpoint of {size} bytes", changed(good, checkpoint=good["checkpoint"] + line), *outcome, fill=("AAAA", room // 4 - 1), **PLACE)

# What is no receipt.
case("nothing", "", "malformed", "json_syntax")
case("an array", "[]", "malformed", "receipt_member")
case("a member twice", json.dumps(good)[:-1] + ',"index":3}', "malformed", "json_duplicate")
case("a member twice in the reveal", json.dumps(good).replace('"salt":', '"ts":"2026-09-01T09:00:00Z","salt":'), "malformed", "json_duplicate")
case("a duplicate spelled with an escape", json.dumps(good)[:-1] + ',"\\u0069ndex":3}', "malformed", "json_duplicate")
case("text after the object", json.dumps(good) + " x", "malformed", "json_trailing")
case("a byte order mark", "\ufeff" + json.dumps(good), "malformed", "json_bom")
case("half a surrogate pair", json.dumps(good).replace('"reveal"', '"\\ud800"'), "malformed", "json_surrogate")
case("an unknown member", changed(good, note="hello"), "malformed", "receipt_unknown_member")
case("an unknown member of the reveal", revealed(good, nonce="00"), "malformed", "reveal_unknown_member")
case("another schema", changed(good, schema="countersign/receipt/v2"), "malformed", "receipt_member")
case("another schema, and a member it may have", changed(good, schema="countersign/receipt/v2", epoch=1), "malformed", "receipt_member")
case("no schema", without(good, "schema"), "malformed", "receipt_member")
case("the index as text", changed(good, index="3"), "malformed", "receipt_member")
case("the index as a fraction", json.dumps(good).replace('"index": 3', '"index": 3.0'), "malformed", "receipt_member")
case("the index with an exponent", json.dumps(good).replace('"index": 3', '"index": 3e0'), "malformed", "receipt_member")
case("the index as minus zero", json.dumps(receipt(0, 1, [ED])).replace('"index": 0', '"index": -0'), "malformed", "receipt_member")
case("a negative index", changed(good, index=-1), "malformed", "receipt_member")
case("an index beyond 2^53", changed(good, index=2**53), "malformed", "json_unsafe_integer")
case("a leaf hash in capitals", changed(good, leaf_hash=good["leaf_hash"].upper()), "malformed", "receipt_member")
case("a path hash without padding", changed(good, inclusion_path=[good["inclusion_path"][0].rstrip("=")]), "malformed", "receipt_member")
case("a path hash with loose bits", changed(good, inclusion_path=[good["inclusion_path"][0][:-2] + "B="]), "malformed", "receipt_member")
case("64 path hashes", changed(good, inclusion_path=[good["inclusion_path"][0]] * 64), "malformed", "receipt_member")
case("a reveal of null", changed(good, reveal=None), "malformed", "reveal_member")
case("a stranger's kind", revealed(good, type="402signal.route_decision.v3"), "malformed", "reveal_member")
case("seconds in the minute", revealed(good, ts="2026-09-01T09:00:12Z"), "malformed", "reveal_member")
case("a day that no calendar has", revealed(good, ts="2026-02-30T09:00:00Z"), "malformed", "reveal_member")
case("digits of another script", revealed(good, ts="\u0662026-09-01T09:00:00Z"), "malformed", "reveal_member")
case("a short salt", revealed(good, salt="a5" * 31), "malformed", "reveal_member")
for name, origin in [("of 256 bytes", "x" * 256), ("with a tab", "a\tb"), ("with a delete", "a\u007fb"), ("that is empty", "")]:
    case(f"a log_origin {name}", changed(good, log_origin=origin), "malformed", "receipt_member")
for name, origin in [("of 256 bytes", "x" * 256), ("with a delete", "a\u007fb")]:
    case(f"an origin {name} in the checkpoint", changed(good, checkpoint=good["checkpoint"].replace(LOG + "\n", origin + "\n", 1)), "malformed", "checkpoint_origin")
for levels, code in [(4, "receipt_member"), (5, "json_depth")]:
    case(f"a receipt of {levels} levels", changed(good, index=json.loads("[" * (levels - 1) + "]" * (levels - 1))), "malformed", code)
for count, code in [(16, "receipt_unknown_member"), (17, "json_members")]:
    case(f"a receipt of {count} members", {**good, **{f"x{n}": 0 for n in range(count - len(good))}}, "malformed", code)
for size, outcome in [(3 << 20, ("proved",)), ((3 << 20) + 1, ("malformed", "json_size"))]:
    more = (" ", size - len(json.dumps(good, ensure_ascii=False).encode()))
    case(f"a receipt of {size} bytes", json.dumps(good, ensure_ascii=False) + repeated(*more), *outcome, fill=more, **PLACE)
case("a checkpoint without signatures", changed(good, checkpoint=good["checkpoint"].split("\n\n")[0] + "\n"), "malformed", "note_no_signatures")
case("a checkpoint with a control character", changed(good, checkpoint=good["checkpoint"].replace("\n7\n", "\n7\r\n")), "malformed", "note_not_text")
for name, extensions in [("an empty extension line", "\n" + LINE), ("seventeen extension lines", LINE * 17)]:
    case(name, receipt(3, 7, [ED], extensions=extensions), "malformed", "checkpoint_extension")
case("sixteen extension lines", receipt(3, 7, [ED], extensions=LINE * 16), "proved", index=3, size=7, pq="no_key")
broken = f"{LOG}\n07\n{b64(bytes(32))}\n"
case("a size with a leading zero", changed(good, checkpoint=broken + "\n" + ED.line(broken)), "malformed", "checkpoint_size")

OUT.write_text(json.dumps({"made_by": "tests/receipts/make_vectors.py", "trust": TRUST,
                           "document_key": b64(SIGNER.public_key().public_bytes_raw()), "policies": POLICIES, "cases": CASES},
                          indent=1, ensure_ascii=False) + "\n")
print(len(CASES), "cases,", len(POLICIES), "policies,", OUT.stat().st_size, "bytes")
