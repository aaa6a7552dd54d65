"""The built site, `make docs`: its links and anchors lead somewhere, it needs no network, and all pages are there."""

import json
import re
import tomllib
from argparse import SUPPRESS
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from armspan.cli.main import parser

ROOT = Path(__file__).parents[2]
DOCS, SITE = ROOT / "docs", ROOT / "out" / "site"

pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="there is no site yet: make docs")


class Page(HTMLParser):
    """What a page is made of: the ids in it, where it links to, what a browser loads with it, and what images show."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.told: dict[str, str] = {}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids.add(given.get("id", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe", "source") and "src" in given:
            self.loads.append(given["src"])
        if tag == "img":
            self.told[given["src"]] = given.get("alt", "")
        if tag == "link" and given.get("rel") != "canonical":
            self.loads.append(given.get("href", ""))


@cache
def page(path: Path) -> Page:
    return Page(path)


PAGES = sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(SITE).as_posix())
def test_links_and_anchors_lead_somewhere(path: Path) -> None:
    for link in page(path).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        assert target.exists(), link
        if parts.fragment and target.suffix == ".html":
            assert unquote(parts.fragment) in page(target).ids, link


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(SITE).as_posix())
def test_nothing_is_loaded_from_the_network(path: Path) -> None:
    for link in page(path).loads:
        parts = urlsplit(link)
        assert parts.scheme in ("", "data"), link
        assert not parts.netloc, link
        assert parts.scheme or (path.parent / unquote(parts.path)).exists(), link


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(SITE).as_posix())
def test_every_picture_is_told_in_words(path: Path) -> None:
    """Not by its file name, which is what Sphinx takes if there are none."""
    for source, words in page(path).told.items():
        if "_images/" in source:
            assert len(words.split()) > 5, source


def test_styles_load_nothing_from_the_network() -> None:
    for style in SITE.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", style.read_text(encoding="utf-8")), style


def test_every_page_and_notebook_was_built() -> None:
    sources = [*DOCS.rglob("*.md"), *DOCS.rglob("*.rst")]
    assert {source.relative_to(DOCS).with_suffix(".html") for source in sources} <= {
        built.relative_to(SITE) for built in PAGES
    }


def test_every_command_and_option_is_in_the_reference() -> None:
    text = (SITE / "reference" / "commands.html").read_text(encoding="utf-8")
    commands = next(action for action in parser()._actions if action.dest == "command").choices
    assert isinstance(commands, dict)
    for name, command in commands.items():
        assert f'id="armspan-{name}"' in text
        for option, action in command._option_string_actions.items():
            assert (option in text) == (action.help != SUPPRESS), (name, option)


def test_search_needs_no_server() -> None:
    """The index is a script, which a browser loads from a file, too."""
    assert any(link.startswith("searchindex.js") for link in page(SITE / "search.html").loads)
    assert "Search.setIndex" in (SITE / "searchindex.js").read_text(encoding="utf-8")[:200]


@pytest.mark.parametrize("notebook", sorted(path.stem for path in (DOCS / "notebooks").glob("*.md")))
def test_every_plot_of_a_notebook_is_shown(notebook: str) -> None:
    """One picture for every cell that draws in a figure of its own."""
    cells = re.findall(
        r"^```\{code-cell\}.*?^```$", (DOCS / "notebooks" / f"{notebook}.md").read_text("utf-8"), re.M | re.S
    )
    drawing = [cell for cell in cells if "plt.subplots(" in cell or re.search(r"^ax = \w+\.plot\(", cell, re.M)]
    shown = [src for src in Page(SITE / "notebooks" / f"{notebook}.html").loads if "_images/" in src]
    assert len(shown) == len(drawing) > 0


@pytest.mark.parametrize("notebook", sorted(path.stem for path in (DOCS / "notebooks").glob("*.md")))
def test_every_notebook_can_be_taken_along(notebook: str) -> None:
    """Its page and the list of tutorials link to one file, which has the cells of the page, and links that lead on."""
    paths = [SITE / "notebooks" / f"{notebook}.html", SITE / "tutorials.html"]
    links = [
        (path.parent / link).resolve()
        for path in paths
        for link in page(path).links
        if link.endswith(f"/{notebook}.ipynb")
    ]
    assert len(links) == 2
    assert len(set(links)) == 1
    cells = json.loads(links[0].read_text(encoding="utf-8"))["cells"]
    words = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert all("://" in link for link in re.findall(r"\]\(([^)]+)\)", words))
    source = (DOCS / "notebooks" / f"{notebook}.md").read_text(encoding="utf-8")
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) == source.count("```{code-cell}")
    assert all(cell in source for cell in code)


def test_wide_pictures_are_marked_and_others_are_not() -> None:
    """So that they scroll on a narrow screen: those with several panels, in pages and in notebooks."""
    wide = {
        name
        for path in PAGES
        for name in re.findall(r'<img [^>]*class="wide"[^>]*_images/([^"]+)"', path.read_text(encoding="utf-8"))
    }
    assert {"audit.png", "events.png", "figure-tails.png", "figure-idea.png"} <= wide
    assert not {"regret.png", "figure-dial.png"} & wide
    assert 'class="wide"' in (SITE / "notebooks" / "the-idea.html").read_text(encoding="utf-8")


def test_the_repository_is_a_click_away() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert urls["Source"] in page(SITE / "index.html").links
    assert urls["Source"] in (SITE / "start.html").read_text(encoding="utf-8")
