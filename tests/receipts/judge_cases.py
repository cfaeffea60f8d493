"""Judges every case of a file with verify_receipts.py: does each come to what its maker says?

    python3 judge_cases.py crates/engine/tests/data/receipts.json

Exits with 0, 1 where a case is judged otherwise, 2 where the file cannot be used, 4 where nothing can be judged here.
Each case that does not is a line; the last line is the sum, or begins with `skipped:` when nothing can be judged here.
"""
import base64, json, sys
from verify_receipts import Refused, Unusable, packages, parse_policy, read_file, verify


def whole(case):
    """A long case stands in its file with a mark for what repeats; # in it counts from 0."""
    fill = case.get("fill", {"with": "", "times": 0})
    return case["receipt"].replace("\u25a0", "".join(fill["with"].replace("#", str(turn)) for turn in range(fill["times"])), 1)


def judge_case(case, trust, ml_dsa, keys):
    """None when the case comes to what its maker says, or else what it comes to."""
    try:
        demands = case["require_pq"], case["max_age_s"], case["now"]
        got = verify(whole(case).encode(), trust, *demands, ml_dsa, [*map(base64.b64decode, keys)])
    except Refused as refused:
        got = {"result": refused.kind}
    wanted = {**case, "result": case["expect"]}
    if ml_dsa is None and rests_on_pq(case) and got["result"] != "invalid":
        wanted = without_pq(wanted, got)
    return ", ".join(f"{name} {value}" for name, value in got.items() if name in wanted and value != wanted[name]) or None


def rests_on_pq(case):
    missing = case.get("pq") == "missing" or case["code"] == "pq_missing"
    return case["trust"].startswith("log+pq") and not missing and case["expect"] != "malformed"


def without_pq(wanted, got):
    """Nothing may be called post-quantum proved, no age may rest on it, and a demand for it is not judged."""
    if "without_pq" in wanted:
        return {"result": "skipped"}
    if wanted["result"] != "trust_policy_not_met" and (wanted["require_pq"] or wanted["max_age_s"] is not None):
        return {"result": "skipped" if wanted["require_pq"] else "stale"}
    proved = {"invalid": "proved", "stale": "proved"}.get(wanted["result"], wanted["result"])
    return {**wanted, "result": proved, "pq": "not_checked", "signed_at": got.get("signed_at")}


def judge_policies(policies):
    """Lists every trust policy that is read and should not be, or the other way round."""
    wrong = []
    for one in policies:
        try:
            parse_policy(one["policy"])
            reads = True
        except ValueError:
            reads = False
        wrong += [] if reads == one["reads"] else [f"  {one['name']}: {'read' if reads else 'not read'}"]
    return wrong


def main():
    """Judges without ML-DSA-44, and again with every package that has it."""
    try:
        [path] = sys.argv[1:]
        data = json.loads(read_file(path, "cases", 2).decode())
        data["cases"], data["trust"], data["document_key"]
    except (Unusable, ValueError, KeyError, TypeError) as error:
        print(f"name one file of cases: {error.args[0]}", file=sys.stderr)
        return 2
    found = packages()
    wrong = judge_policies(data.get("policies", []))
    for package, ml_dsa in [("Ed25519 alone", None), *found]:
        for case in data["cases"]:
            got = judge_case(case, data["trust"][case["trust"]], ml_dsa, case.get("keys", [data["document_key"]]))
            wrong += [f"  {case['name']}: {got}, by {package}"] if got else []
    means = f"also with ML-DSA by {' and by '.join(name for name, _ in found)}" if found else "not with ML-DSA"
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"Python judged {len(data['cases'])} receipts, {means}; {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
