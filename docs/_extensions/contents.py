"""The site's contents in one place, so that the pages stay plain Markdown that reads well anywhere.

Each page of `CONTENTS` gets a hidden table of contents when Sphinx reads it. A link out of docs/ to a file that a page
here shows leads to that page.
"""

import re
from fnmatch import filter as matching
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

CONTENTS = {
    "index": [
        "start",
        "tutorials",
        "how-to",
        "reference/index",
        "theory",
        "policies",
        "measurements",
        "glossary",
        "changelog",
    ],
    "tutorials": [
        "notebooks/the-idea",
        "notebooks/my-log",
        "notebooks/comparing-policies",
        "notebooks/*",
        "tutorial-*",
    ],
    "how-to": [
        "exploration",
        "simulation",
        "paper",
        "agents",
        "server",
        "diversity",
        "traffic",
        "command-line",
        "spec",
        "cluster",
        "cuda",
        "gallery",
        "contributing",
        "release",
    ],
    "reference/index": [
        "reference/simulation",
        "reference/policies",
        "reference/agents",
        "reference/environments",
        "reference/diversity",
        "reference/theory",
        "reference/experiments",
        "reference/errors",
        "reference/commands",
        "reference/formats",
    ],
    "policies": ["policies/*"],
    "measurements": ["accuracy", "speed", "measured-*", "newcomers-trial"],
}
"""Which pages follow which; those that do not exist yet are passed over."""
ELSEWHERE = {
    "CHANGELOG.md": "/changelog.md",
    "CONTRIBUTING.md": "/contributing.md",
    "README.md": "/index.md",
    "benchmarks/cuda.md": "/measured-on-a-gpu.md",
    "benchmarks/peers/results.md": "/measured-beside-others.md",
}
"""Files of the repository outside docs/ that a page of the site shows."""
ROOT = Path(__file__).parents[2]


def _followers(name: str, found: set[str]) -> list[str]:
    pages = [page for pattern in CONTENTS.get(name, []) for page in sorted(matching(found, pattern))]
    return [f"/{page}" for page in dict.fromkeys(pages)]


def _relinked(text: str, folder: Path) -> str:
    """Links to files outside docs/ that are pages here."""

    def page(link: re.Match[str]) -> str:
        target = (folder / link[1]).resolve()
        if target.is_relative_to(ROOT / "docs"):  # the link may be in a file that a page includes from elsewhere
            here = f"/{target.relative_to(ROOT / 'docs').as_posix()}"
        else:
            here = ELSEWHERE.get(target.relative_to(ROOT).as_posix() if target.is_relative_to(ROOT) else "", link[1])
        return f"]({here}{link[2] or ''})"

    return re.sub(r"\]\(([\w./-]+\.md)(#[\w-]+)?\)", page, text)


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    text = _relinked(source[0], (Path(app.srcdir) / name).parent)
    pages = _followers(name, app.env.found_docs)
    if pages:
        text += "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"
    source[0] = text


def _read_included(app: Sphinx, path: Path, parent: str, source: list[str]) -> None:
    source[0] = _relinked(source[0], (Path(app.srcdir) / path).resolve().parent)


def _outdated(app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Read the tables of contents again when a page comes or goes."""
    return sorted(set(CONTENTS) & env.found_docs) if added or removed else []


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect with what Sphinx reads."""
    app.connect("source-read", _read)
    app.connect("include-read", _read_included)
    app.connect("env-get-outdated", _outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
