"""README and docs: their Python runs, their links lead somewhere, their tables name what exists."""

import re
from pathlib import Path

import pytest

from armspan.experiments.spec import ENVIRONMENTS, POLICIES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, str(page), "exec"), names)  # one after the other, as a reader would


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in link:
            assert (page.parent / link).exists(), link


def test_the_page_on_specs_names_every_kind_and_key() -> None:
    text = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
    for kind, (_, needs, may) in ENVIRONMENTS.items():
        for word in (kind, *needs, *may):
            assert f"`{word}`" in text
    for kind in POLICIES:
        assert f"`{kind}`" in text
