"""README and docs: their Python runs, their links lead somewhere, their tables name what exists."""

import re
from pathlib import Path

import pytest

from armspan.experiments.spec import ENVIRONMENTS
from armspan.policies import POLICIES
from armspan.report.policies import policy_table

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run_and_print_what_the_page_says(
    page: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One block after the other, as a reader would; a plain block right after one is what it prints."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = r"^```python\n(.*?)^```\n(?:\n^```\n(.*?)^```\n)?"
    for code, printed in re.findall(blocks, page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL):
        exec(compile(code, str(page), "exec"), names)
        out = capsys.readouterr().out
        assert not printed or out == printed


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


def test_the_page_on_policies_is_made_from_the_registry() -> None:
    """`python -m armspan.report.policies` prints the table."""
    text = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
    assert policy_table() in text
    assert set(POLICIES) == set(re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE))
