"""Without the extra `lab`: what needs no figure and no table still works, and one sentence says what is left out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC, GRID, LOG = (str(ROOT / "examples" / name) for name in ("bound.toml", "dial.toml", "offers-log.csv"))
SMALL = ["--runs", "5", "--horizon", "300"]
MISSING = ("matplotlib", "pandas", "pyarrow", "tqdm")
LEFT_OUT = "armspan: figures and pages are left out, because matplotlib is not installed: pip install 'armspan[lab]'\n"
SCRIPT = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {MISSING}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from armspan.cli.main import main
raise SystemExit(main(sys.argv[1:]))
"""


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command in a Python without these packages."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def test_reproduce_prints_json() -> None:
    code, out, err = run("reproduce", "1a", *SMALL, "--json")
    assert (code, err) == (0, "")
    assert list(json.loads(out)["figures"]) == ["1a"]


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (["reproduce", "1c", *SMALL, "--draws", "3"], {"results", "curves.csv", "summary.json"}),
        (["reproduce", "adversary", "--runs", "2", "--horizon", "20"], {"adversary.json"}),
        (["simulate", SPEC, *SMALL], {"result.npz", "curves.csv", "summary.json"}),
        (["explain-run", SPEC, *SMALL], {"result.npz", "events.json"}),
    ],
)
def test_figures_are_left_out_with_one_sentence(arguments: list[str], written: set[str], tmp_path: Path) -> None:
    code, out, err = run(*arguments, "--json", "--out", str(tmp_path))
    assert (code, err) == (0, LEFT_OUT)
    printed = json.loads(out)
    assert {path.name for path in tmp_path.iterdir()} == written
    assert [json.loads(path.read_text(encoding="utf-8")) for path in tmp_path.glob("*.json")] == [printed]


def test_bound_needs_none_of_them(tmp_path: Path) -> None:
    code, out, err = run("bound", SPEC, "--horizon", "300", "--out", str(tmp_path))
    assert (code, err) == (0, "")
    assert "total" in out
    assert {path.name for path in tmp_path.iterdir()} == {"bound.json", "bound.html"}


@pytest.mark.parametrize("arguments", [["sweep", GRID, *SMALL], ["audit", LOG]])
def test_what_needs_pandas_says_so(arguments: list[str]) -> None:
    assert run(*arguments) == (2, "", "armspan: this command needs pandas: pip install 'armspan[lab]'\n")
