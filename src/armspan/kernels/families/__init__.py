"""The families: one file each, found by its name."""

from importlib import import_module

from armspan.kernels.family import Family


def family(name: str) -> Family:
    """The family of this name."""
    found: Family = import_module(f"armspan.kernels.families.{name}").FAMILY
    return found
