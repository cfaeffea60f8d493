#!/usr/bin/env python3
"""A whole `countersign check` beside `curl` on the same URL of a seller of the lab, by turns in one run.

    cargo build --release -p countersign
    python3 crates/cli/benches/curl.py [--rounds 40] [--binary target/release/countersign]

The goals: a stored decision takes at most four times curl, and a logged one as long as four times curl, two bare syncs
and the wait of a flush. Exit code 1 when one is missed. Everything happens in a temporary folder, on loopback.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

FLUSH_MS = 5


def arguments():
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--binary", default=os.path.join(target, "release", "countersign"))
    return parser.parse_args()


def lab(binary, folder):
    """The lab's process, and the URL of an honest seller."""
    process = subprocess.Popen(
        [binary, "lab", "--port", "0", "--ca-out", "ca.pem"], cwd=folder, stderr=subprocess.PIPE, text=True)
    port = re.search(r"sellers on port (\d+)", process.stderr.readline()).group(1)
    return process, f"https://honest-v2.localhost:{port}/paid"


def timed(command, folder, exit_code):
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    took = (time.perf_counter() - began) * 1000
    if done.returncode != exit_code:
        sys.exit(f"{command} ended with {done.returncode}: {done.stderr.decode()}")
    return took


def synced(folder):
    began = time.perf_counter()
    with open(os.path.join(folder, "synced"), "ab", buffering=0) as file:
        file.write(b"x" * 100)
        os.fdatasync(file.fileno())
    return (time.perf_counter() - began) * 1000


def round_of(folder, commands):
    """How long each of `commands` took, in a data directory of their own. The first of each, not counted, make keys,
    tables and log there, and ask the path beside the URL. Six looks a minute at one domain are taken from one
    directory: three for those, two for the round."""
    work = commands(tempfile.mkdtemp(dir=folder))
    for one in work.values():
        one()
    return {name: one() for name, one in work.items()}


def measure(binary, rounds, folder):
    process, url = lab(binary, folder)

    def commands(data):
        check = [binary, "check", "--quiet", "--allow-loopback", "--ca", "ca.pem", "--data", data, url]
        return {
            "curl": lambda: timed(["curl", "-s", "--cacert", "ca.pem", url], folder, 0),
            "check, decision signed and stored": lambda: timed([*check, "--max-price-usd", "0.000001"], folder, 1),
            "check, decision signed, stored and logged": lambda: timed(check, folder, 0),
            "one bare write and fdatasync": lambda: synced(folder),
        }

    try:
        taken = [round_of(folder, commands) for _ in range(rounds)]
        return {name: [one[name] for one in taken] for name in taken[0]}
    finally:
        process.terminate()
        process.wait()


def main():
    given = arguments()
    with tempfile.TemporaryDirectory() as folder:
        times = measure(os.path.abspath(given.binary), given.rounds, folder)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    curl, stored, logged, sync = medians.values()
    print("| command | ms, median (fastest) | times curl |\n|---|---|---|")
    for name, taken in times.items():
        print(f"| {name} | {medians[name]:.1f} ({min(taken):.1f}) | {medians[name] / curl:.1f} |")
    goals = [("stored", stored, 4 * curl), ("logged", logged, 4 * curl + 2 * sync + FLUSH_MS)]
    for name, took, goal in goals:
        print(f"{name}: {took:.1f} ms, goal {goal:.1f} ms: {'held' if took <= goal else 'missed'}")
    sys.exit(any(took > goal for _, took, goal in goals))


main()
