"""Docstrings as plain text: an indented paragraph is an equation, `name` is code, and no other sign is markup."""

import re
from typing import Any

from sphinx.application import Sphinx

_MARKUP = re.compile(r"(`[^`]*`)|([*|\\]|_(?!\w)|:(?=//))")


def as_rst(lines: list[str]) -> list[str]:
    """The same text for a parser of reStructuredText."""
    result: list[str] = []
    before_sections = True
    for number, line in enumerate(lines):
        before_sections &= not re.fullmatch(r"-{3,}", line)
        if before_sections and line.startswith("    "):
            if not lines[number - 1].strip():
                result += ["::", ""]
            result.append(line)
        else:
            result.append(_MARKUP.sub(lambda found: found[1] or f"\\{found[2]}", line))
    return result


def _process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = as_rst(lines)


def _short(app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str, returns: str) -> Any:
    """No signature for classes that nobody calls: those with attributes and no parameters in their docstring."""
    doc = (what == "class" and obj.__doc__) or ""
    if "Attributes\n" in doc and "Parameters\n" not in doc:
        return "", None
    return (re.sub(r", \*\*misspelt", "", signature), returns) if signature else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Before napoleon, which reads the sections."""
    app.connect("autodoc-process-docstring", _process, priority=400)
    app.connect("autodoc-process-signature", _short)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
