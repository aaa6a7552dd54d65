"""The families: one file each, found by its name."""

from importlib import import_module

from armspan.kernels.family import Family


def family(name: str) -> Family:
    """The family of this name; GPUs tell families apart by it, so it must be that of the file, too."""
    found: Family = import_module(f"armspan.kernels.families.{name}").FAMILY
    if found.name != name:
        raise TypeError(f"the family in {name}.py must have that name, got {found.name!r}")
    return found
