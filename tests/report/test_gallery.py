"""The gallery: every picture on the page is what its code draws today, and says in words what it shows."""

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot

from armspan.report.gallery import draw, main

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "gallery.md"
MOST = 0.002
"""How far pictures may be apart, in units of black to white: about what a line makes that moved by a pixel."""


def distance(one: Path, other: Path) -> float:
    """The mean difference of two pictures; 1 where they differ in size."""
    first, second = pyplot.imread(one), pyplot.imread(other)
    return float(np.mean(np.abs(first - second))) if first.shape == second.shape else 1.0


def test_the_pictures_are_what_the_page_draws(tmp_path: Path) -> None:
    drawn = draw(PAGE, tmp_path)
    shown = [DOCS / path.relative_to(tmp_path) for path in drawn]
    assert sorted(shown) == sorted((DOCS / "images" / "gallery").iterdir())
    assert len(shown) > 10
    far = {path.name: distance(path, kept) for path, kept in zip(drawn, shown, strict=True)}
    assert max(far.values()) < MOST, far


def test_every_picture_is_told_in_words() -> None:
    told = dict(re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8")))
    assert len(told) == len(set(told.values())) > 10
    assert all(len(words) > 50 for words in told)


def test_a_page_is_run_elsewhere_and_its_pictures_saved_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page, here = tmp_path / "docs" / "page.md", tmp_path / "here"
    page.parent.mkdir()
    here.mkdir()
    blocks = (
        "```python\nimport matplotlib.pyplot as plt\nopen('left', 'w').close()\n```\n\n```python\nplt.plot([1, 2])\n"
    )
    page.write_text(f"# Page\n\n{blocks}print(3)\n```\n\n```\n3\n```\n\n![A line](images/line.png)\n", encoding="utf-8")
    monkeypatch.chdir(here)
    monkeypatch.setattr("sys.argv", ["gallery", "../docs/page.md"])
    main()
    path = tmp_path / "docs" / "images" / "line.png"
    assert path.read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.strip().endswith("line.png")
    assert list(here.iterdir()) == []
    assert pyplot.get_fignums() == []


def test_a_picture_belongs_to_the_code_below_it_or_else_above_it(tmp_path: Path) -> None:
    """Also where pictures and blocks follow each other without a word between them: sizes tell which is whose."""

    def drawing(inches: int) -> str:
        return f"```python\nimport matplotlib.pyplot as plt\nplt.figure(figsize=({inches}, 1))\n```\n"

    above, below = "![Above](above-{0}.png)\n\n", "\n![Below](below-{0}.png)\n"
    page = tmp_path / "page.md"
    one = "\n".join(above.format(n) + drawing(n) for n in (1, 2))
    other = "\n".join(drawing(n) + below.format(n) for n in (3, 4))
    page.write_text(f"{one}\nWords.\n\n{other}", encoding="utf-8")
    width = {path.stem: pyplot.imread(path).shape[1] for path in draw(page, tmp_path)}
    assert width == {"above-1": 100, "above-2": 200, "below-3": 300, "below-4": 400}
