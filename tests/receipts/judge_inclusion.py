"""Has scitt-cose, an implementation of RFC 9162 by others, prove the entries of receipts: judge_inclusion.py FOLDER.

Every `*.receipt.json` in the folder must lead from its entry to the root of its checkpoint, and from no changed entry.
Ends with 0 when that is so, 1 when it is not, 2 when a receipt cannot be read or none is named, 4 when scitt-cose is not here.
"""

import base64
import json
import pathlib
import sys

try:
    from scitt_cose import verify_inclusion
except ImportError:
    print("skipped: Python has no package scitt-cose")
    sys.exit(4)


def entry(reveal):
    """The leaf as the log holds it: RFC 8785, whose order of these three names is that of the alphabet."""
    leaf = {name: reveal[name] for name in ("commitment", "ts", "type")}
    return json.dumps(leaf, separators=(",", ":"), sort_keys=True).encode()


def proves(receipt, leaf):
    """Whether the receipt's path leads from `leaf` to the root of its checkpoint."""
    _, size, root = receipt["checkpoint"].split("\n")[:3]
    path = [base64.b64decode(sibling).hex() for sibling in receipt["inclusion_path"]]
    return verify_inclusion(leaf.hex(), receipt["index"], int(size), path, base64.b64decode(root).hex())


try:
    [folder] = sys.argv[1:]
    receipts = [json.loads(file.read_text("utf-8")) for file in sorted(pathlib.Path(folder).glob("*.receipt.json"))]
except (OSError, ValueError) as error:
    print(f"name one folder of receipts: {error}", file=sys.stderr)
    sys.exit(2)
held = sum(proves(receipt, entry(receipt["reveal"])) for receipt in receipts)
changed = sum(proves(receipt, entry(receipt["reveal"]) + b" ") for receipt in receipts)
print(f"scitt-cose proved {held} of {len(receipts)} entries and {changed} changed ones")
sys.exit(0 if receipts and held == len(receipts) and changed == 0 else 1)
