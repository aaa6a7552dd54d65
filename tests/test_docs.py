"""README and docs: their Python runs, their links lead somewhere, their tables name what exists."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from armspan.experiments.spec import ENVIRONMENTS
from armspan.policies import POLICIES
from armspan.report.policies import (
    END,
    SIZES,
    START,
    Parts,
    is_random,
    needs_recurring_contexts,
    page_name,
    parameters,
    policy_page,
    policy_table,
)

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDERS = (DOCS, DOCS / "policies", DOCS / "reference")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(page for one in FOLDERS for page in sorted(one.glob("*.md")))]
MEASURED = json.loads((DOCS / "policies.json").read_text(encoding="utf-8"))


def _run(page: Path) -> Any:
    """A page to run; one that serves 680,000 visitors is not traced for coverage."""
    return pytest.param(page, marks=[pytest.mark.long] if page.name == "tutorial-offers.md" else [])


@pytest.mark.parametrize("page", [_run(page) for page in PAGES if page.name != "gallery.md"], ids=lambda one: one.name)
def test_python_examples_run_and_print_what_the_page_says(
    page: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One block after the other, as a reader would; a plain block right after one is what it prints."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "offers-log.csv", tmp_path)  # the pages ask the reader to download it
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_line_of_prose_begins_with_a_percent_sign(page: Path) -> None:
    """The site takes such a line for a comment, and the rest of the sentence is lost."""
    assert not re.search(r"^\s*%", page.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_the_page_on_specs_names_every_kind_and_key() -> None:
    text = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
    for kind, (_, needs, may) in ENVIRONMENTS.items():
        for word in (kind, *needs, *may):
            assert f"`{word}`" in text


def test_the_table_of_policies_is_made_from_the_registry() -> None:
    """`make policies` writes it."""
    text = (DOCS / "policies.md").read_text(encoding="utf-8")
    assert f"{START}\n{policy_table(MEASURED)}\n{END}" in text
    assert "ns per step" in policy_table()  # without anything measured, too


def test_the_pages_of_policies_are_made_from_their_docstrings() -> None:
    pages = {page.name: page.read_text(encoding="utf-8") for page in (DOCS / "policies").glob("*.md")}
    assert pages == {page_name(kind): policy_page(name) for name, kind in POLICIES.items()}


@pytest.mark.parametrize("name", POLICIES)
def test_the_docstring_of_a_policy_has_all_parts(name: str) -> None:
    kind = POLICIES[name]
    parts = Parts.of(kind)
    assert all((parts.does, parts.idea, parts.equation, parts.use, parts.reference)), parts
    assert [key for key, meaning in parameters(kind).items() if not meaning] == []
    assert {"promise", "assumes"} <= set(vars(kind))
    heads = re.findall("^## (.*)", policy_page(name), flags=re.MULTILINE)
    assert heads == ["Parameters", "When to use it", "Reference"]


def _sentences(text: str) -> list[str]:
    """Those of a text; the stop of "et al." and the like ends none, nor does one within a formula."""
    return re.split(r"(?<=[.?!])\s+", re.sub(r"\b(et al|e\.g|i\.e)\.", r"\1", text).strip())


def test_sentences_are_counted_as_a_reader_would() -> None:
    text = "Pull arms 1, 2, … m: the best by θ̂ᵀx + 0.5 wins. Auer et al. have T^0.5 (e.g. for 2 arms). Why? It works!"
    assert [one[:4] for one in _sentences(text)] == ["Pull", "Auer", "Why?", "It w"]


@pytest.mark.parametrize("name", POLICIES)
def test_the_idea_of_a_policy_is_told_in_three_sentences(name: str) -> None:
    """What stands before its equation, on its page and in `help`."""
    parts = Parts.of(POLICIES[name])
    told = _sentences(" ".join([parts.does, *parts.idea]))
    assert len(told) == 3, told
    assert all(sentence.endswith((".", "?", "!")) for sentence in told)


@pytest.mark.parametrize("name", POLICIES)
def test_every_parameter_has_the_value_of_theory_and_that_of_practice(name: str) -> None:
    for key, meaning in parameters(POLICIES[name]).items():
        if key != "label":  # a name is no choice
            assert meaning.count("Theory: ") == meaning.count("Practice: ") == 1, (key, meaning)


def test_every_compiled_policy_was_measured() -> None:
    for name, kind in POLICIES.items():
        if kind().compiled is not None:
            assert list(MEASURED["policies"][name]) == [f"{K}, {d}" for K, d in SIZES]


def test_policies_are_called_random_or_in_need_of_recurring_contexts_by_what_they_do() -> None:
    assert is_random(POLICIES["LinTS"])
    assert is_random(POLICIES["SquareCB"])
    assert not is_random(POLICIES["LinUCBd"])
    assert needs_recurring_contexts(POLICIES["ContextUCB"])
    assert not needs_recurring_contexts(POLICIES["LinUCBd"])
