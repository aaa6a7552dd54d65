"""Docstrings in NumPy's form: their sections, the entries of a section, and entries that a class inherits."""

import re
from inspect import cleandoc
from typing import NamedTuple

_HEAD = re.compile(r"^(\w[\w ]*)\n-{3,}$", flags=re.MULTILINE)
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.*)$")


class Entry(NamedTuple):
    """One parameter, or several that are described together: what kind of value it takes, and what it means."""

    names: str
    kind: str
    lines: tuple[str, ...]

    @property
    def meaning(self) -> str:
        """The description, as one line."""
        return " ".join(line.strip() for line in self.lines if line.strip())

    def __str__(self) -> str:
        return "\n".join([f"{self.names} : {self.kind}", *(f"    {line}".rstrip() for line in self.lines)])


def sections(docstring: str | None) -> dict[str, str]:
    """The text under each heading, in order; what comes before the first heading has the key ""."""
    first, *rest = _HEAD.split(cleandoc(docstring or ""))
    return {"": first.strip()} | {head: text.strip() for head, text in zip(rest[::2], rest[1::2], strict=True)}


def entries(section: str) -> list[Entry]:
    """The entries of a section such as Parameters: `name : kind`, and the lines indented below it."""
    found: list[Entry] = []
    for line in section.splitlines():
        if head := _ENTRY.match(line):
            found.append(Entry(head[1], head[2], ()))
        elif found:
            found[-1] = found[-1]._replace(lines=(*found[-1].lines, line.removeprefix("    ")))
    return [entry._replace(lines=tuple("\n".join(entry.lines).strip("\n").split("\n"))) for entry in found]


def parameters(docstring: str | None) -> dict[str, Entry]:
    """The entry of each name in the section Parameters."""
    listed = entries(sections(docstring).get("Parameters", ""))
    return {name: entry for entry in listed for name in entry.names.split(", ")}


def with_inherited_parameters(kind: type) -> str | None:
    """A class's docstring with the parameters of its base classes after its own; it need not describe them again."""
    own = vars(kind).get("__doc__")
    if own is None:
        return None
    known = parameters(own)
    for base in kind.__mro__[1:]:
        for name, entry in parameters(base.__doc__).items():
            known.setdefault(name, entry)
    if not known:
        return str(own)
    text, *others = sections(own).items()
    listed = "\n".join(str(entry) for entry in dict.fromkeys(known.values()))
    parts = [text, ("Parameters", listed), *(part for part in others if part[0] != "Parameters")]
    return "\n\n".join(f"{head}\n{'-' * len(head)}\n{body}" if head else body for head, body in parts)
