"""What a package index and the repository's host are given: the built files, the workflows, the citation."""

import ast
import re
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from markdown_it import MarkdownIt
from tools import dist
from tools.readme import absolute

import armspan

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HOME, WRITTEN = "https://github.com/who/what", "https://raw.githubusercontent.com/who/what/v1.2"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("see [docs](docs/agents.md)", f"see [docs]({HOME}/blob/v1.2/docs/agents.md)"),
        ("[part](docs/agents.md#threads)", f"[part]({HOME}/blob/v1.2/docs/agents.md#threads)"),
        ("![idea](docs/images/idea.png)", f"![idea]({WRITTEN}/docs/images/idea.png)"),
        ("[![a](a.svg)](LICENSE)", f"[![a]({WRITTEN}/a.svg)]({HOME}/blob/v1.2/LICENSE)"),
        ('<img src="a.png" alt="A">', f'<img src="{WRITTEN}/a.png" alt="A">'),
        ('<a href="docs/x.md">x</a>', f'<a href="{HOME}/blob/v1.2/docs/x.md">x</a>'),
        ('<source srcset="b.svg">', f'<source srcset="{WRITTEN}/b.svg">'),
        ("[x]: docs/x.md", f"[x]: {HOME}/blob/v1.2/docs/x.md"),
        ("[paper](https://a.b/c), [top](#top), [mail](mailto:a@b)", None),
        ("`[x](docs/x.md)`", None),
        ("```\n[x](docs/x.md)\n```", None),
    ],
)
def test_links_lead_to_the_public_home(written: str, shown: str | None) -> None:
    assert absolute(written, HOME, "1.2") == (written if shown is None else shown)


class Links(HTMLParser):
    """Collects where a page leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src"):
                self.found.append(value or "")
            elif name == "srcset":
                self.found += [part.split()[0] for part in (value or "").split(",")]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files that a release has, by how their names end."""
    if not (ROOT / ".git").exists():
        pytest.skip("releases are built from a checkout")
    return {path.suffix: path for path in dist.build(tmp_path_factory.mktemp("dist"))}


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return message_from_bytes(archive.read(f"armspan-{armspan.__version__}.dist-info/METADATA"))


def test_the_page_at_an_index_has_no_link_that_leads_nowhere(built: dict[str, Path]) -> None:
    text, links = dist.description(built[".whl"]), Links()
    links.feed(MarkdownIt("commonmark").render(text))
    assert len(links.found) > 10
    assert [link for link in links.found if not link.startswith(("https://", "#"))] == []
    tag = f"/v{armspan.__version__}/"
    for link in links.found:  # what is promised of the tag is in the tree that gets it
        if link.startswith(PROJECT["urls"]["Source"]) and tag in link:
            assert (ROOT / link.partition(tag)[2].partition("#")[0]).exists(), link


def test_the_wheel_says_what_the_project_is(built: dict[str, Path]) -> None:
    said = metadata(built[".whl"])
    urls = dict(line.split(", ") for line in said.get_all("Project-URL", []))
    assert urls == PROJECT["urls"]
    assert all(url.startswith("https://") for url in urls.values())
    assert {"Source", "Documentation", "Changelog", "Issues"} <= set(urls)
    assert said["License-Expression"] == "BSD-3-Clause"
    pythons = [line.rpartition(" ")[2] for line in said.get_all("Classifier", []) if "Python :: 3." in line]
    assert said["Requires-Python"] == f">={pythons[0]}"


def test_the_wheel_has_the_package_and_nothing_else(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built[".whl"]) as archive:
        names = archive.namelist()
    package = {f"armspan/{path.relative_to(ROOT / 'src/armspan')}" for path in (ROOT / "src/armspan").rglob("*.py")}
    assert package <= set(names)
    assert {"armspan/py.typed", "armspan/report/style.css"} <= set(names)
    assert {name.partition("/")[0] for name in names} == {"armspan", f"armspan-{armspan.__version__}.dist-info"}


def test_the_sdist_has_all_that_is_needed_to_carry_on(built: dict[str, Path]) -> None:
    with tarfile.open(built[".gz"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for file in ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "SECURITY.md"):
        assert file in names
    for folder, pattern in (
        ("docs", "*.md"),
        ("docs/images", "*.png"),
        ("examples", "*.*"),
        ("tests", "*.py"),
        ("benchmarks", "*.py"),
        ("tools", "*.py"),
    ):
        files = {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob(pattern) if path.suffix != ".pyc"}
        assert files <= names, files - names
    assert not [name for name in names if re.search(r"__pycache__|\.pyc$|^out/|^\.venv", name)]


def test_the_first_example_is_a_program() -> None:
    example = dist.first_example((ROOT / "README.md").read_text(encoding="utf-8"))
    assert "import armspan" in example
    ast.parse(example)
    assert dist.first_example("text\n```\nno\n```\n```python\nyes\n```\n```python\nlater\n```\n") == "yes\n"
    with pytest.raises(ValueError, match="must have a block of Python"):
        dist.first_example("none")


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_citation_is_of_this_version_and_of_the_paper() -> None:
    citation = loaded("CITATION.cff")
    assert citation["version"] == armspan.__version__
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    (paper,) = citation["references"]
    assert paper["title"] == "Stochastic Linear Contextual Bandits with Diverse Contexts"
    assert [author["family-names"] for author in paper["authors"]] == ["Wu", "Yang", "Shen"]


def test_the_tests_run_on_every_python_that_is_promised_and_on_both_processors() -> None:
    matrix = loaded(".github/workflows/tests.yml")["jobs"]["test"]["strategy"]["matrix"]
    promised = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line]
    assert matrix["python"] == promised
    assert len(matrix["os"]) == 2
    assert sum("arm" in name for name in matrix["os"]) == 1


@pytest.mark.parametrize("workflow", ["tests", "release"])
def test_workflows_do_what_a_user_can_do(workflow: str) -> None:
    """They call targets of the Makefile, and every job has a time limit."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    jobs = loaded(f".github/workflows/{workflow}.yml")["jobs"].values()
    assert all(job["timeout-minutes"] <= 20 for job in jobs)
    steps = [step["run"] for job in jobs for step in job["steps"] if step.get("run", "").startswith("make")]
    assert steps
    assert all(step.split()[1] in targets for step in steps)


def test_hooks_before_a_commit_use_the_versions_of_the_lock() -> None:
    """They run what `make setup` has installed, so that there is no second place with versions."""
    (repository,) = loaded(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    checks = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ncheck:")[2].partition("\n\n")[0]
    tools = {line.split()[0].rpartition("/")[2] for line in checks.splitlines()[1:]}
    assert {hook["entry"].split()[0] for hook in repository["hooks"]} == {f".venv/bin/{tool}" for tool in tools}
    assert all(hook["language"] == "system" for hook in repository["hooks"])


@pytest.mark.parametrize("form", ["bug", "idea"])
def test_issue_forms_are_forms(form: str) -> None:
    content = loaded(f".github/ISSUE_TEMPLATE/{form}.yml")
    assert {"name", "description", "body"} <= set(content)
    ids = [field["id"] for field in content["body"]]
    assert len(set(ids)) == len(ids) > 1
