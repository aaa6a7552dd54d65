"""python -m benchmarks.adversary sequences | files | kills | interrupts | threads: attack agents by chance."""

import argparse
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded

from benchmarks.adversary import files, interrupts, kills, sequences, threads

KINDS = {
    "sequences": (sequences.run, 800),
    "files": (files.run, 100_000),
    "kills": (kills.run, 1_000),
    "interrupts": (interrupts.run, 3_000),
    "threads": (threads.run, 1_000_000),
}
"""What each kind runs, and how many attacks (threads: rewards) take a minute or two."""


def main() -> None:
    """Run the kinds that are named, or all; the exit code is 1 if there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.adversary", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="kind", help=f"of {', '.join(KINDS)}; all, if left out")
    parser.add_argument("--n", type=int, help="attacks of each kind; of threads, rewards")
    parser.add_argument("--seed", type=int, default=0, help="of the first attack; the others count up (default 0)")
    args = parser.parse_args()
    if unknown := set(args.kinds) - set(KINDS):
        parser.error(f"kind must be one of {', '.join(KINDS)}, got {', '.join(sorted(unknown))}")
    faults = 0
    for kind in args.kinds or KINDS:
        attack, n = KINDS[kind]
        report = attack(n if args.n is None else args.n, args.seed)
        print(report, flush=True)
        faults += len(report.faults)
    sys.exit(1 if faults else 0)


main()
