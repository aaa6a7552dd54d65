"""How much of armspan the tests run, and the floor that it must not fall below.

    python -m tools.floor                 # put together what `make test` has measured, print it, fail below the floor
    python -m tools.floor --raise         # today's figure, less a little room, is the new floor

Lines and branches count alike. Kernels count where tests run them as plain Python, without numba. The floor is in
tools/floor.txt, in per cent, and only rises.
"""

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path, PurePosixPath

from coverage import Coverage

ROOT = Path(__file__).parents[1]
FLOOR = Path(__file__).with_name("floor.txt")
ROOM = 1.0
"""Per cent by which machines differ: what is compiled anew, which vectors a processor has, which thread comes first."""

Count = tuple[int, int]
"""How many lines and branches were run, and how many there are."""


def measured() -> dict[str, Count]:
    """What the parts of `make test` have left, by files."""
    coverage = Coverage(config_file=str(ROOT / "pyproject.toml"))
    coverage.combine(keep=True)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "coverage.json")
        coverage.json_report(outfile=str(report))
        files = json.loads(report.read_text(encoding="utf-8"))["files"]
    return {name: counted(file["summary"]) for name, file in files.items()}


def counted(summary: dict[str, int]) -> Count:
    """Lines and branches of a file, together."""
    run = summary["covered_lines"] + summary["covered_branches"]
    return run, summary["num_statements"] + summary["num_branches"]


def by_room(files: dict[str, Count]) -> dict[str, Count]:
    """The same by the rooms of the package; files of the ground floor are one."""
    rooms: dict[str, list[Count]] = defaultdict(list)
    for name, count in files.items():
        inside = PurePosixPath(name.replace("\\", "/").partition("armspan/")[2])
        rooms[inside.parts[0] if len(inside.parts) > 1 else "(ground floor)"].append(count)
    return {room: total(rooms[room]) for room in sorted(rooms)}


def total(counts: list[Count]) -> Count:
    """All together."""
    return sum(run for run, _ in counts), sum(there for _, there in counts)


def per_cent(count: Count) -> float:
    """How much of it was run; all, where there is nothing."""
    return 100 * count[0] / count[1] if count[1] else 100.0


def verdict(now: float, floor: float) -> tuple[str, bool]:
    """What to say, and whether it is high enough."""
    said = f"coverage: {now:.1f} % of lines and branches, floor {floor:.1f} %"
    if now < floor:
        return f"{said}. Below the floor: test what is new, `coverage html` shows what is not run", False
    if raised(now) > floor:
        return f"{said}. Raise the floor: .venv/bin/python -m tools.floor --raise", True
    return said, True


def raised(now: float) -> float:
    """The floor that fits a figure, in tenths of a per cent."""
    return int(10 * (now - ROOM)) / 10


def main() -> int:
    """Print a table, compare with the floor, or raise it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raise", action="store_true", dest="raise_it", help="write the new floor")
    args = parser.parse_args()
    floor, rooms = float(FLOOR.read_text(encoding="utf-8")), by_room(measured())
    for room, count in rooms.items():
        print(f"{room:<16}{count[0]:>8,} of {count[1]:>7,}{per_cent(count):>8.1f} %")
    now = per_cent(total(list(rooms.values())))
    if args.raise_it and raised(now) > floor:
        floor = raised(now)
        FLOOR.write_text(f"{floor:.1f}\n", encoding="utf-8")
    said, enough = verdict(now, floor)
    print(said)
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
