"""`python -m tests.fuzz --seconds 3600`: mutated logs until the time is over; the first fault ends it, made small."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from pathlib import Path

from tests.fuzz.mutate import corpus, mutant
from tests.fuzz.oracle import check, shrunk, slow

parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
parser.add_argument("--seconds", type=float, default=3600)
parser.add_argument("--seed", type=int, default=int(time.time()), help="default: the time")
parser.add_argument("--only", type=int, help="one mutant, by its number")
parser.add_argument("--out", type=Path, default=Path("fuzz-out"), help="where a log that shows a fault is written")


def main() -> int:
    args = parser.parse_args()
    logs = corpus()
    began, number, size, slow_ones, worst = time.monotonic(), args.only or 0, 0, 0, 0.0
    print(f"fuzz: {len(logs)} logs, seed {args.seed}, {args.seconds:.0f} s", flush=True)
    while time.monotonic() - began < args.seconds:
        log = mutant(logs, args.seed, number)
        size += len(log)
        try:
            seconds = check(log)
        except Exception:
            small = shrunk(log)
            args.out.mkdir(exist_ok=True)
            path = args.out / f"{args.seed}-{number}.log"
            path.write_bytes(small)
            traceback.print_exc(file=sys.stdout)
            print(f"fuzz: FAULT in mutant {number} of seed {args.seed}: {len(small)} bytes in {path}")
            return 1
        worst = max(worst, seconds / slow(len(log)))
        if seconds > slow(len(log)):
            slow_ones += 1
            print(f"fuzz: slow: mutant {number}, {len(log)} bytes in {seconds:.2f} s", flush=True)
        number += 1
        if args.only is not None:
            break
    done = f"{number} mutants, {size / 1e6:.0f} MB, {time.monotonic() - began:.0f} s, seed {args.seed}"
    print(f"fuzz: {done}: no fault, {slow_ones} slow (worst: {worst:.2f} of the limit)")
    return 0


sys.exit(main())
