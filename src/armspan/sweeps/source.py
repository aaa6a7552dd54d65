"""What armspan's own code does, as digits: its source files, as they were when it was imported."""

import hashlib
from pathlib import Path

from armspan._version import __version__

ROOMS = ("diversity", "environments", "events", "kernels", "policies", "simulation", "sweeps", "theory")
"""Where armspan's numbers come from."""


def _own_source() -> str:
    digest, root = hashlib.sha256(__version__.encode()), Path(__file__).parents[1]
    for path in sorted(path for room in ROOMS for path in (root / room).rglob("*.py")):
        digest.update(f"\0{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


OWN_SOURCE = _own_source()
"""Digits that change with armspan's version, and with any of its files that numbers come from."""
