"""What the package shows to the world: names, laziness, errors, the lock file."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import armspan
from armspan import environments, errors, policies, simulation, sweeps, theory

ROOT = Path(__file__).parents[1]


def test_all_names_are_there_and_no_others() -> None:
    for name in armspan.__all__:
        assert getattr(armspan, name) is not None
    assert set(dir(armspan)) == {*armspan.__all__, "__version__"}
    assert {*armspan._ROOMS, *armspan._HOME, *policies.POLICIES} == set(armspan.__all__)
    names: dict[str, object] = {}
    exec("from armspan import *", names)
    assert set(armspan.__all__) <= set(names)
    with pytest.raises(AttributeError, match="no attribute 'LinUCBe'"):
        armspan.LinUCBe  # noqa: B018


@pytest.mark.parametrize("room", [environments, simulation, sweeps, theory])
def test_rooms_export_what_they_say(room: object) -> None:
    names = room.__all__  # type: ignore[attr-defined]
    assert list(names) == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    for name in names:
        assert hasattr(room, name)


def test_importing_is_lazy_and_needs_the_core_alone() -> None:
    """Numba takes half a second to import, so it waits until something is simulated; matplotlib and pandas longer."""
    script = (
        "import sys, armspan; armspan.environments.paper_1a().assumptions(); armspan.LinUCBd(); armspan.ContextUCB();"
        "print([name for name in ('numba', 'matplotlib', 'pandas', 'scipy', 'tqdm') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_error_is_an_armspan_error_and_a_builtin_one() -> None:
    for name in ("InvalidParameter", "NotApplicable", "MissingExtra", "BadFile"):
        kind = getattr(errors, name)
        assert issubclass(kind, errors.ArmspanError)
        assert len(kind.__bases__) == 2
        assert kind.__bases__[1].__module__ == "builtins"
    assert issubclass(errors.Interrupted, KeyboardInterrupt)


def test_version_is_said_once() -> None:
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert content["project"]["version"] == armspan.__version__
    assert armspan.__version__ in (ROOT / "CHANGELOG.md").read_text()


def test_the_lock_pins_every_package_with_hashes() -> None:
    text = (ROOT / "requirements.lock").read_text()
    packages = re.findall(
        r"^([a-z0-9-]+)==\S+.*\\$\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", text, flags=re.MULTILINE
    )
    pinned = {name for name, _ in packages}
    assert len(re.findall(r"^[a-z]", text, flags=re.MULTILINE)) == len(packages)
    assert {"numpy", "numba", "matplotlib", "pandas", "tqdm", "pytest", "mypy", "ruff"} <= pinned
    assert "://" not in text
