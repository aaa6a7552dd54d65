"""A sweep's folder is keyed by what is run: edited code gives other cells, and the same code is found again."""

import functools
import importlib
import shutil
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import armspan
from armspan.environments import paper_1a
from armspan.errors import NotApplicable
from armspan.policies import LinUCB, LinUCBd
from armspan.simulation.content import NoContentError, code_of
from armspan.sweeps import sweep

SIZE: dict[str, Any] = {"horizon": 20, "runs": 2}

POLICY = """
import numpy as np
SCALE = 2

def helper(x, power=1):
    return SCALE * x.sum() ** power

class Base:
    step = 1
    def update(self, arm, x, reward):
        self.last = arm

class Mine(Base):
    def __init__(self, n_arms, n_features, seed):
        self.rng = np.random.default_rng(seed)
    def choose(self, x):
        # as it comes
        names = {"one", "two", "three"}
        return int(helper(x) > 0.5) if "two" in names else 0
"""
EDITS = {
    "a method": ("> 0.5", "> 0.6"),
    "a base class": ("self.last = arm", "self.last = 0"),
    "a base class's attribute": ("step = 1", "step = 2"),
    "a function that it calls": ("SCALE * x.sum()", "SCALE * x.max()"),
    "a default of that function": ("power=1", "power=2"),
    "a constant of the module": ("SCALE = 2", "SCALE = 3"),
    "a constant in a set": ('"three"}', '"four"}'),
    "a new method": ("class Mine(Base):", "class Mine(Base):\n    def extra(self): ..."),
    "its base": ("class Mine(Base):", "class Mine(Base, dict):"),
}
SCRIPT = """
import sys, armspan
from mine import Mine
calls = []
armspan.sweep(
    armspan.environments.paper_1a(), Mine, horizon=20, runs=2, folder=sys.argv[1],
    progress=lambda *call: calls.append(call),
)
print("found" if calls[0][0] else "computed")
"""


def module(text: str, name: str = "mine") -> types.ModuleType:
    """A module without a file, as a notebook's."""
    made = types.ModuleType(name)
    exec(compile(text, f"<{name}>", "exec"), vars(made))
    return made


def mine(text: str = POLICY) -> Any:
    return module(text).Mine


def n_cells(folder: Path) -> int:
    return len(list(folder.glob("*.parquet")))


@pytest.mark.parametrize("what", EDITS)
def test_an_edited_policy_gives_other_cells_and_the_same_one_is_found_again(what: str, tmp_path: Path) -> None:
    before, after = EDITS[what]
    assert POLICY.count(before) == 1
    for text, count in ((POLICY, 1), (POLICY, 1), (POLICY.replace(before, after), 2), (POLICY, 2)):
        sweep(paper_1a(), mine(text), **SIZE, folder=tmp_path)
        assert n_cells(tmp_path) == count


def test_another_process_finds_the_cells_unless_the_file_was_edited(tmp_path: Path) -> None:
    """From the source or from Python's cache of it, and whatever hashes strings have."""
    (tmp_path / "script.py").write_text(SCRIPT)

    def outcome(text: str) -> str:
        (tmp_path / "mine.py").write_text(text)
        command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "cells")]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    comment = POLICY.replace("# as it comes", "# whatever comes, and more words")
    texts = [POLICY, POLICY, comment, POLICY.replace("power=1", "power=20"), POLICY]
    assert [outcome(text) for text in texts] == ["computed", "found", "found", "computed", "found"]


def test_a_stated_fingerprint_does_not_hide_an_edit(tmp_path: Path) -> None:
    stated = POLICY.replace("step = 1", 'fingerprint = "1"')
    sweep(paper_1a(), mine(stated), **SIZE, folder=tmp_path)
    sweep(paper_1a(), mine(stated.replace("> 0.5", "> 0.6")), **SIZE, folder=tmp_path)
    sweep(paper_1a(), mine(stated.replace('"1"', '"2"')), **SIZE, folder=tmp_path)
    assert n_cells(tmp_path) == 3


def test_functions_are_known_by_what_they_do() -> None:
    def made(factor: float, inner: Any = None) -> Any:
        return lambda t, low=1.0: factor * np.sqrt(t) + low + (inner(t) if inner else 0)

    def changed(factor: float, inner: Any = None) -> Any:
        return lambda t, low=1.0: factor * np.log(t) + low + (inner(t) if inner else 0)

    def other_default(factor: float, inner: Any = None) -> Any:
        return lambda t, low=2.0: factor * np.sqrt(t) + low + (inner(t) if inner else 0)

    digits = [
        code_of(LinUCB(alpha=alpha))
        for alpha in (
            made(1.0),
            made(2.0),
            made(1.0, made(1.0)),
            made(1.0, made(2.0)),
            changed(1.0),
            other_default(1.0),
            functools.partial(made(1.0), low=3.0),
            functools.partial(made(1.0), low=4.0),
            functools.lru_cache(made(1.0)),
            np.vectorize(made(1.0)),
            np.vectorize(changed(1.0)),
            np.log,
            np.sqrt,
        )
    ]
    assert len(set(digits)) == len(digits)
    assert code_of(LinUCB(alpha=made(1.0))) == digits[0]
    assert code_of(LinUCB(alpha=functools.partial(made(1.0), low=3.0))) == digits[6]


def test_lambdas_have_cells_of_their_own(tmp_path: Path) -> None:
    for alpha, count in ((lambda t: t**0.5, 1), (lambda t: t**0.4, 2), (lambda t: t**0.5, 2)):
        sweep(paper_1a(), LinUCB(alpha=alpha), **SIZE, folder=tmp_path)
        assert n_cells(tmp_path) == count


class Tuned:
    """A user's policy that is an object with settings."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def agent(self, **_: Any) -> Any:
        return self


class World:
    """A user's environment, with a number and a table."""

    n_arms, n_features, noise = 2, 1, 0.1

    def __init__(self, shift: float, table: Any) -> None:
        self.shift, self._table = shift, table

    def context(self, step: int, rng: Any) -> Any:
        return rng.random((2, 1)) + self.shift

    def mean_rewards(self, x: Any) -> Any:
        return x[:, 0]


def test_objects_are_known_by_what_they_hold() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]})
    other = pd.DataFrame({"x": [1.0, 2.5], "y": ["a", "b"]})

    for one, another in [
        (0.3, 0.4),
        ([1, 2], [1, 3]),
        ({"a", "b"}, {"a", "c"}),
        (np.arange(3), np.arange(3.0)),
        (frame, other),
        (np.random.default_rng(1), np.random.default_rng(2)),
        (Tuned(a=1), Tuned(a=2)),
        (mine(), mine(POLICY.replace("> 0.5", "> 0.6"))),
    ]:
        digits = [code_of(Tuned(value=value)) for value in (one, another)]
        assert digits[0] != digits[1]
        assert code_of(Tuned(value=one)) == digits[0]
        cell = [code_of(armspan.environments.as_environment(World(0.0, value))) for value in (one, another)]
        assert cell[0] != cell[1]
    assert code_of(armspan.environments.as_environment(World(0.0, 1))) != code_of(World(0.1, 1))


def test_a_policy_derived_from_ours_is_code_too(tmp_path: Path) -> None:
    def derived(factor: float) -> Any:
        class Sub(LinUCBd):
            def schedule(self, env: Any) -> Any:
                usual = super().schedule(env)
                return lambda t: factor * usual(t)

        return Sub()

    for factor, count in ((0.5, 1), (0.5, 1), (0.6, 2)):
        sweep(paper_1a(), derived(factor), **SIZE, folder=tmp_path)
        assert n_cells(tmp_path) == count


def test_what_has_no_content_needs_a_fingerprint(tmp_path: Path) -> None:
    class Locked(Tuned):
        def agent(self, **settings: Any) -> Any:
            return mine()(**settings)

    locked: Any = Locked(lock=threading.Lock())
    with pytest.raises(NotApplicable, match="Locked in paper 1a: it holds a lock, and a folder could not tell when"):
        sweep(paper_1a(), locked, **SIZE, folder=tmp_path)
    assert n_cells(tmp_path) == 0
    for text, count in (("1", 1), ("1", 1), ("2", 2)):
        locked.fingerprint = text
        sweep(paper_1a(), locked, **SIZE, folder=tmp_path)
        assert n_cells(tmp_path) == count
    with pytest.raises(NoContentError, match="lock"):
        code_of([locked, threading.Lock()])  # it vouches for its own content alone


def test_an_edit_of_armspan_itself_counts(tmp_path: Path) -> None:
    """A copy of the package, edited in a file that numbers come from, and in one that they do not."""
    package = Path(armspan.__file__).parent
    shutil.copytree(package, tmp_path / "armspan", ignore=shutil.ignore_patterns("__pycache__"))
    script = "from armspan.sweeps.source import OWN_SOURCE; print(OWN_SOURCE)"

    def digits() -> str:
        command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {script}"]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout

    def edit(name: str) -> None:
        with (tmp_path / "armspan" / name).open("a") as file:
            file.write("\n# edited\n")

    first = digits()
    edit("report/page.py")
    assert digits() == first
    edit("policies/greedy.py")
    assert digits() != first


def test_the_cells_of_our_own_policies_are_found_after_they_were_used(tmp_path: Path) -> None:
    """Nothing that an environment works out when it is first asked may change the key."""
    env, policy = paper_1a(), LinUCBd()
    before = code_of(env, policy)
    sweep(env, policy, **SIZE, folder=tmp_path)
    assert code_of(env, policy) == before


@pytest.mark.parametrize("installed", [True, False])
def test_packages_that_pip_put_anywhere_are_named_by_their_version(
    installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in a folder with pip's records is not read as if it were the user's code."""
    package = f"lent_{installed}".lower()
    inner = tmp_path / package / "inner"
    inner.mkdir(parents=True)
    (tmp_path / package / "__init__.py").write_text("__version__ = '1'\n")
    (inner / "__init__.py").write_text("def twice(x):\n    return 2 * x\n")
    if installed:
        (tmp_path / f"{package}-1.dist-info").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(f"{package}.inner")
    before = code_of(module.twice)
    monkeypatch.setattr(module.twice, "__code__", (lambda x: 3 * x).__code__)
    assert (code_of(module.twice) == before) is installed
