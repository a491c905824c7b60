# SPDX-License-Identifier: Apache-2.0
"""Prints measurements as rows of the table in Tests/Benchmarks/RESULTS.md, and judges them."""

import sys

MISSED = []
JUDGES = "--judge" in sys.argv
COUNTS = [int(word) for word in sys.argv[1:] if word != "--judge"]


def tell(work, value, unit, most=None):
    """One row; `most` is the goal, where there is one."""
    goal = "" if most is None else f"≤ {most} {unit}" if most else "0"
    print(f"| {work} | {f'{value} {unit}'.strip()} | {goal} |", flush=True)
    if most is not None and value > most:
        MISSED.append(work)


def judge():
    """Ends the program with an error where it was asked to judge and a goal was missed."""
    if JUDGES and MISSED:
        sys.exit("Goals that were missed: " + "; ".join(MISSED))
