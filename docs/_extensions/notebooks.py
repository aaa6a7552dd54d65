"""Notebooks to take along: every page of docs/notebooks becomes an .ipynb file too, which the site links to.

Links between pages lead from the file to the repository, since the file may lie anywhere.
"""

import re
from pathlib import Path, PurePosixPath
from typing import Any

import jupytext
from sphinx.application import Sphinx

FILES = Path(__file__).parents[2] / "out" / "ipynb"
OPEN = (
    "To run and change this page, [download it as a notebook](path:../../out/ipynb/{name}.ipynb), and open it where "
    "armspan is [installed](../start.md#install): `pip install jupyterlab`, then `jupyter lab {name}.ipynb`."
)


def _as_notebook(text: str, repository: str) -> str:
    """The page as the text of an .ipynb file, without outputs."""

    def to_repository(link: re.Match[str]) -> str:
        path = PurePosixPath("docs/notebooks") / link[1]
        while ".." in path.parts:  # "docs/notebooks/../agents.md" is docs/agents.md
            up = path.parts.index("..")
            path = PurePosixPath(*path.parts[: up - 1], *path.parts[up + 1 :])
        return f"]({repository}/blob/main/{path}{link[2] or ''})"

    notebook = jupytext.reads(re.sub(r"\]\(([\w./-]+\.md)(#[\w-]+)?\)", to_repository, text), fmt="md:myst")
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # else random: the same page gives the same file
    return jupytext.writes(notebook, fmt="ipynb")


def _write(app: Sphinx) -> None:
    FILES.mkdir(parents=True, exist_ok=True)
    for page in sorted((Path(app.srcdir) / "notebooks").glob("*.md")):
        notebook = _as_notebook(page.read_text(encoding="utf-8"), app.config.repository)
        (FILES / f"{page.stem}.ipynb").write_text(notebook, encoding="utf-8")


def _link(app: Sphinx, page: str, source: list[str]) -> None:
    """Below the title of a notebook, and behind its name in the list of tutorials."""
    if page.startswith("notebooks/"):
        words = OPEN.format(name=page.removeprefix("notebooks/"))
        source[0] = re.sub(r"^(# .*\n)", lambda title: f"{title[1]}\n{words}\n", source[0], count=1, flags=re.MULTILINE)
    elif page == "tutorials":
        source[0] = re.sub(
            r"^- \[.*\]\(/?notebooks/([\w-]+)\.md\)",
            r"\g<0> ([notebook](path:../out/ipynb/\1.ipynb))",
            source[0],
            flags=re.MULTILINE,
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Files first, then what is read."""
    app.add_config_value("repository", "", "env", str)
    app.connect("builder-inited", _write)
    app.connect("source-read", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
