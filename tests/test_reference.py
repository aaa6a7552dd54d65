"""What is public: every name has a docstring that describes its parameters, stands in the reference, and is importable.

Docstrings are in NumPy's form. A class whose objects nobody makes by hand may have Attributes in place of Parameters.
"""

import importlib.util
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import armspan
from armspan._docstrings import entries, sections, with_inherited_parameters

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REFERENCE = sorted((DOCS / "reference").glob("*.rst"))
ROOMS = ("armspan", *(f"armspan.{name}" for name in armspan._ROOMS if name != "policies"))


def public() -> dict[str, Any]:
    """All public names with what they are; one that is in two rooms under the one that is nearer to `armspan`."""
    found: dict[str, Any] = {}
    for room in ROOMS:
        module = sys.modules[room] if room == "armspan" else getattr(armspan, room.removeprefix("armspan."))
        for name in module.__all__:
            value = getattr(module, name)
            known = any(value is other for other in found.values())
            if not isinstance(value, ModuleType) and not (known and callable(value)):
                found[f"{room}.{name}"] = value
    return found | {"armspan.policies.Policy": armspan.policies.Policy}


PUBLIC = public()
CALLED = {path: value for path, value in PUBLIC.items() if inspect.isclass(value) or inspect.isfunction(value)}


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods of a class that armspan has written, its own and those that it inherits.

    Of a policy those that every policy has; others are between it and its family.
    """
    for name, value in inspect.getmembers(kind, lambda one: inspect.isfunction(one) or inspect.ismethod(one)):
        internal = issubclass(kind, armspan.policies.Policy) and not hasattr(armspan.policies.Policy, name)
        if not (name.startswith("_") or internal) and value.__module__.startswith("armspan."):
            yield name, value


def described(docstring: str | None) -> set[str]:
    """The names that a docstring describes."""
    parts = sections(docstring)
    listed = [entry for head in ("Parameters", "Attributes") for entry in entries(parts.get(head, ""))]
    assert all(entry.kind and entry.meaning for entry in listed), listed
    return {name for entry in listed for name in entry.names.split(", ")}


def parameters(function: Any) -> set[str]:
    try:
        names = inspect.signature(function).parameters
    except ValueError:  # Python's own, as of a tuple
        return set()
    return {name for name in names if name not in ("self", "cls", "args", "kwargs", "iterable")}


@pytest.mark.parametrize("path", CALLED)
def test_a_docstring_describes_every_parameter(path: str) -> None:
    value = CALLED[path]
    docstring = value.__doc__
    assert docstring, path
    if not (inspect.isclass(value) and issubclass(value, BaseException)):
        assert parameters(value) <= described(docstring), path
    stated = {name for entry in entries(sections(docstring).get("Parameters", "")) for name in entry.names.split(", ")}
    assert stated <= parameters(value), path
    for name, method in methods(value) if inspect.isclass(value) else ():
        assert inspect.getdoc(method), f"{path}.{name}"
        assert parameters(method) == described(inspect.getdoc(method)), f"{path}.{name}"


@pytest.mark.parametrize("path", [path for path, value in CALLED.items() if inspect.isclass(value)])
def test_properties_have_docstrings(path: str) -> None:
    for name, value in inspect.getmembers(PUBLIC[path], lambda one: isinstance(one, property)):
        assert name.startswith("_") or inspect.getdoc(value), f"{path}.{name}"


def test_policies_inherit_what_they_do_not_describe_themselves() -> None:
    class Plain:
        """Does this.

        Parameters
        ----------
        far : int
            How far.
        near : int, default 1
            How near,
            in two lines.
        """

    class Odd(Plain):
        """Does that.

            x = 1

        Parameters
        ----------
        new : str
            What is new.
        far : float
            Something else.

        Notes
        -----
        Use it.
        """

    merged = with_inherited_parameters(Odd)
    assert merged is not None
    assert list(sections(merged)) == ["", "Parameters", "Notes"]
    assert sections(merged)[""] == "Does that.\n\n    x = 1"
    found = {entry.names: (entry.kind, entry.meaning) for entry in entries(sections(merged)["Parameters"])}
    assert found == {
        "new": ("str", "What is new."),
        "far": ("float", "Something else."),
        "near": ("int, default 1", "How near, in two lines."),
    }


def test_the_reference_lists_every_public_name_once() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE)
    listed = re.findall(r"^\.\. auto(?:class|function|exception):: (\S+)$", text, flags=re.MULTILINE)
    assert len(listed) == len(set(listed))
    objects = [_resolved(path) for path in listed]
    for path, value in CALLED.items():
        assert sum(value is one for one in objects) == 1, path
    data = re.findall(r"^\.\. py:data:: (\S+)$", text, flags=re.MULTILINE)
    assert {path.rpartition(".")[2] for path in PUBLIC if path not in CALLED} == {
        name.rpartition(".")[2] for name in data
    }


def _resolved(path: str) -> Any:
    value: Any = armspan
    for name in path.split(".")[1:]:
        value = getattr(value, name)
    return value


def test_what_docs_mention_is_importable_as_they_write_it() -> None:
    """After `import armspan` alone, in a fresh process, and without drawing or tables."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md"), *REFERENCE]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    texts += [inspect.getdoc(one) or "" for kind in CALLED.values() for one in (kind, *vars(kind).values())]
    spans = {span for text in texts for span in re.findall(r"`+([^`\n]+)`+", text)}
    names = {name for span in spans if "-m " not in span for name in re.findall(r"\barmspan(?:\.[A-Za-z_]\w*)+", span)}
    names = {name for name in names if not name.endswith(".NAME")}
    assert {"armspan.Agent", "armspan.experiments.forecast", "armspan.audit"} <= names
    script = (
        "import sys, armspan\n"
        f"for path in {sorted(names)}:\n"
        "    value = armspan\n"
        "    for name in path.split('.')[1:]:\n"
        "        value = getattr(value, name, None)\n"
        "    if value is None:\n"
        "        print(path)\n"
        "print([name for name in ('matplotlib', 'pandas', 'tqdm') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_theory_page_names_tests_that_exist() -> None:
    named = re.findall(r"`(tests/[^`:]+)::([^`]+)`", (DOCS / "theory.md").read_text(encoding="utf-8"))
    assert len(named) > 30
    for file, test in named:
        assert f"\ndef {test}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file}::{test}"


def test_the_theory_page_names_every_test_of_a_statement() -> None:
    """The folder of the paper's statements has no test that the page leaves out."""
    page = (DOCS / "theory.md").read_text(encoding="utf-8")
    for file in sorted((ROOT / "tests" / "propositions").glob("test_*.py")):
        for test in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), flags=re.MULTILINE):
            assert test in page, test


@pytest.mark.parametrize("page", [*DOCS.rglob("*.md"), *REFERENCE], ids=lambda page: page.name)
def test_links_to_the_network_are_well_formed(page: Path) -> None:
    for link in re.findall(r"\]\((\w+:[^)\s]*)\)|<(\w+://[^>\s]*)>", page.read_text(encoding="utf-8")):
        url = link[0] or link[1]
        assert re.fullmatch(r"https://[\w.-]+\.[a-z]{2,}(?:/[\w.~%/#?=&+-]*)?", url), url


def test_pages_that_lead_into_a_section_link_to_all_of_it() -> None:
    spec = importlib.util.spec_from_file_location("contents", DOCS / "_extensions" / "contents.py")
    assert spec is not None
    assert spec.loader is not None
    contents = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(contents)
    for section in ("tutorials", "how-to", "measurements", "policies", "reference/index"):
        page = DOCS / f"{section}.md"
        linked = {(page.parent / link).resolve() for link in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8"))}
        below = {path for pattern in contents.CONTENTS[section] for path in DOCS.glob(f"{pattern}.*")}
        assert below, section
        assert {path.resolve() for path in below if path.suffix in (".md", ".rst")} <= linked, section
