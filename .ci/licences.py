"""Licences and bans of deny.toml, checked over `cargo metadata` so that no extra tool is needed."""
import json, re, subprocess, sys, tomllib

deny = tomllib.load(open("deny.toml", "rb"))
allowed = set(deny["licenses"]["allow"])
banned = {entry["crate"] for entry in deny["bans"]["deny"]}
meta = json.loads(subprocess.check_output(["cargo", "metadata", "--format-version", "1", "--locked"]))


def permits(expression):
    """True when the SPDX expression can be satisfied with allowed licences only."""
    words = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    python = " ".join({"OR": "or", "AND": "and", "(": "(", ")": ")"}.get(w, str(w in allowed)) for w in words if w != "WITH" and not w.endswith("-exception"))
    return eval(python, {"__builtins__": {}}, {})


bad = [f"{p['name']} {p['version']}: {p['license']}" for p in meta["packages"] if not permits(p["license"] or "NONE")]
names = {p["name"] for p in meta["packages"]}
resolved = {node["id"] for node in meta["resolve"]["nodes"]}
bad += [f"{name}: banned" for name in sorted(banned & {p["name"] for p in meta["packages"] if p["id"] in resolved})]
print("\n".join(bad) if bad else f"{len(names)} packages, all licences allowed, no banned crate")
sys.exit(1 if bad else 0)
