"""Holds docs/requirements.tsv to its word: a row marked done names a test that runs."""
import pathlib, re, sys

STATES = {"done", "partly", "open"}
bad, count = [], dict.fromkeys(sorted(STATES), 0)


# What makes a function a test that runs: its attribute, other attributes between, and no `#[ignore]`.
RUST_TEST = r"#\[(?:tokio::)?test[^\]]*\]\s+(?:#\[(?!ignore)[^\n]*\]\s+)*(?:async )?fn {name}\("


def exists(reference):
    """True when `path::name` names a Rust test that runs."""
    path, _, name = reference.partition("::")
    file = pathlib.Path(path)
    return file.is_file() and re.search(RUST_TEST.format(name=re.escape(name)), file.read_text()) is not None


for number, line in enumerate(pathlib.Path("docs/requirements.tsv").read_text().splitlines()[1:], 2):
    fields = line.split("\t")
    if len(fields) != 4 or fields[1] not in STATES:
        bad.append(f"line {number}: want id, state ({', '.join(sorted(STATES))}), test, requirement")
        continue
    identity, state, tests, _ = fields
    count[state] += 1
    named = tests.split()
    if state == "done" and not named:
        bad.append(f"{identity}: done, but names no test")
    bad += [f"{identity}: {test} does not exist" for test in named if not exists(test)]
print("\n".join(bad) or ", ".join(f"{n} {state}" for state, n in count.items()))
sys.exit(1 if bad else 0)
