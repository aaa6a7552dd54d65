"""Families: engines run them for the policies that name them, and never in place of another policy."""

import ast
import logging
import re
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from armspan import EpochGreedy, Greedy, LinUCB, LinUCBd, simulate
from armspan._told import warn_once
from armspan.environments import FiniteContexts, paper_1a
from armspan.errors import InvalidParameter, NotApplicable
from armspan.kernels import families
from armspan.kernels.families import family
from armspan.kernels.family import Field, derived, no_agent
from armspan.simulation.engines import cuda

ENV = FiniteContexts([[[1.0, 0.2]], [[0.3, 1.0]]], [[0.1, 0.2], [0.9, 0.6]], noise=0.1)
LAST = FiniteContexts([[[1.0, 0.2]], [[0.3, 1.0]]], [[0.9, 0.6], [0.1, 0.2]], noise=0.1)


class First:
    """Always arm 0."""

    def index(self, x: Any, context: int, step: int) -> Any:
        return np.arange(len(x), 0.0, -1.0)

    def update(self, arm: int, x: Any, context: int, reward: float) -> None:
        pass


@dataclass(frozen=True, kw_only=True)
class AlwaysFirst(LinUCB):
    title: ClassVar[str] = "always arm 0"

    def reference(self, env: Any) -> Any:
        return First()


@dataclass(frozen=True, kw_only=True)
class OwnLearner(LinUCB):
    title: ClassVar[str] = "own learner"

    def learner(self, env: Any, runs: Any) -> Any:
        return Greedy().learner(env, runs)


@pytest.mark.parametrize("engine", ["cpu", "python", "auto"])
def test_a_subclass_with_a_reference_of_its_own_is_run_by_it(engine: str, caplog: Any) -> None:
    warn_once.cache_clear()
    with caplog.at_level(logging.WARNING, logger="armspan"):
        result = simulate(ENV, AlwaysFirst(alpha=1.0), horizon=60, runs=2, engine=engine)
    cost = float(ENV.reward_table[1] @ ENV.probabilities - ENV.reward_table[0] @ ENV.probabilities)
    np.testing.assert_allclose(result.pseudo_regret[0, :, -1], 60 * cost)
    np.testing.assert_allclose(simulate(LAST, AlwaysFirst(), horizon=60, runs=2, engine=engine).pseudo_regret, 0)
    assert ("always arm 0 has no compiled form" in caplog.text) == (engine != "python")


@pytest.mark.parametrize("policy", [AlwaysFirst(alpha=1.0), OwnLearner(alpha=1.0)])
def test_nothing_runs_a_family_in_place_of_another_policy(policy: Any) -> None:
    assert policy.compiled is None
    assert simulate(ENV, [policy, LinUCBd()], horizon=30, runs=1, events=True).events.keys() == {"LinUCB-d"}
    assert cuda.why_not(ENV, [policy]) == f"the policy {policy.name} is not compiled for it"
    with pytest.raises(NotApplicable, match=f"{policy.name} has no agent"):
        policy.agent(2, 2)


def test_a_family_may_say_that_no_gpu_can_run_it(monkeypatch: pytest.MonkeyPatch) -> None:
    home = import_module("armspan.kernels.families.linear")
    assert cuda.why_not(ENV, [LinUCBd()]) is None
    monkeypatch.setattr(home, "FAMILY", replace(family("linear"), on_gpu=False))
    assert cuda.why_not(ENV, [LinUCBd()]) == "the policy LinUCB-d is not compiled for it"


def test_a_learner_of_its_own_is_used() -> None:
    own, greedy = simulate(ENV, [OwnLearner(alpha=1.0), Greedy()], horizon=300, runs=3).pseudo_regret
    np.testing.assert_array_equal(own, greedy)


def test_a_subclass_with_other_knobs_alone_stays_in_the_family() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Half(LinUCBd):
        def schedule(self, env: Any) -> Any:
            whole = super().schedule(env)
            return lambda t: whole(t) / 2

    assert Half().compiled == "linear"
    env = paper_1a()
    half, same = (
        simulate(env, policy, horizon=500, runs=2).pseudo_regret
        for policy in (Half(), LinUCB(alpha=lambda t: LinUCBd().schedule(env)(t) / 2))
    )
    np.testing.assert_allclose(half, same)


@pytest.mark.parametrize("name", ["linear", "counts", "sampled"])
def test_a_family_declares_all_that_it_knows(name: str) -> None:
    sizes = {"K": 3, "d": 2, "n": 5, "A": 3}
    declared = family(name)
    state = declared.empty(4, **sizes)
    assert state._fields == tuple(field.name for field in declared.fields)
    for field, array in zip(declared.fields, state, strict=True):
        assert array.shape == (4, *(sizes[letter] for letter in field.shape))
    assert any(field.sums for field in declared.fields)
    home: Any = import_module(f"armspan.kernels.families.{name}")
    for field, array in zip(declared.scratch, home.scratch_of.py_func(3, 2), strict=True):
        assert (array.shape, array.dtype) == (tuple(sizes[letter] for letter in field.shape), field.dtype)


HOMES = sorted(path for path in Path(families.__file__).parent.glob("*.py") if "FAMILY =" in path.read_text("utf-8"))


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.stem)
def test_a_family_has_its_own_of_all_that_follows_from_how_it_chooses_and_learns(home: Path) -> None:
    """What runs it must not be what runs another one, on any path: at once, late, in agents, or on GPUs."""
    one = family(home.stem)
    assert one.name == home.stem
    assert one.explains == (home.stem == "linear")
    if one.on_gpu:
        assert {len(field.shape) for field in (*one.fields, *one.scratch)} <= {1, 2, 3}
    for other in (family(there.stem) for there in HOMES if there != home):
        if one.choose is not other.choose:
            assert one.choose_once is not other.choose_once or one.choose_once is no_agent
            assert one.advance(3, 2) is not other.advance(3, 2)
            assert one.late is None or one.late is not other.late
        if one.learn is not other.learn:
            assert one.learn_once is not other.learn_once
            assert one.advance(3, 2) is not other.advance(3, 2)
            assert one.late is None or one.late is not other.late


def test_a_derived_family_gets_nothing_that_does_what_the_other_one_does() -> None:
    """Always arm 0, but agents and late rewards would be run by greedy."""
    linear = family("linear")
    first: dict[str, Any] = {"choose": lambda *_: 0, "advance": lambda K, d: None}
    with pytest.raises(
        TypeError, match="the family first has choose of its own, so it needs its own choose_once, seen"
    ):
        derived(linear, name="first", **first)
    with pytest.raises(TypeError, match="has learn of its own, so it needs its own advance, learn_once"):
        derived(linear, name="first", learn=lambda *_: None)
    with pytest.raises(TypeError, match="has fields of its own, so it needs its own state, fresh, tidy, tidy_run"):
        derived(linear, name="first", fields=())
    whole = derived(linear, name="first", **first, choose_once=no_agent, seen=no_agent)
    assert (whole.name, whole.explains, whole.late) == ("first", False, None)
    with pytest.raises(TypeError, match="so it needs its own advance, choose_once, seen, marks"):
        derived(family("ols"), name="first", choose=lambda *_: 0)


def test_a_family_must_be_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """GPUs would run `linear` in its place."""
    home = import_module("armspan.kernels.families.counts")
    monkeypatch.setattr(home, "FAMILY", replace(family("counts"), name="linear"))
    with pytest.raises(TypeError, match=re.escape("the family in counts.py must have that name, got 'linear'")):
        family("counts")


@pytest.mark.parametrize("shape", ["", "SAdd"])
def test_a_field_that_no_gpu_can_index_is_refused_in_a_sentence(shape: str) -> None:
    from armspan.kernels.gpu.generic import views

    with pytest.raises(InvalidParameter, match=f"1 to 3 axes where GPUs run its family, got a with '{shape}'"):
        views((Field("b", "K"), Field("a", shape)))


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.stem)
def test_a_family_for_gpus_calls_nothing_with_a_tuple_of_arguments(home: Path) -> None:
    """In single precision all that is called is put into the caller, which numba cannot do with `f(a, *others)`."""
    if not family(home.stem).on_gpu:
        return
    functions = [node for node in ast.parse(home.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
    parts = [one for one in functions if {ast.unparse(mark) for mark in one.decorator_list} & {"inlined", "part"}]
    calls = [node for one in parts for node in ast.walk(one) if isinstance(node, ast.Call)]
    assert calls
    assert not [call.lineno for call in calls if any(isinstance(one, ast.Starred) for one in call.args)]


class Ridge:
    """A regression as scikit-learn has them, written by hand."""

    def fit(self, X: Any, y: Any) -> None:
        self.theta = np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ y)

    def predict(self, X: Any) -> Any:
        return X @ self.theta


@pytest.mark.parametrize("shared", [False, True])
def test_any_regression_may_be_the_oracle_of_epoch_greedy(shared: bool) -> None:
    """One that is ours makes the choices of ours."""
    rng = np.random.default_rng(3)
    env = FiniteContexts(rng.normal(size=(3, 5, 2)), rng.normal(size=(3, 2)))
    own = EpochGreedy(ridge=1.0, at_least_one=True, shared=shared)
    theirs = replace(own, oracle=Ridge(), label="by hand")
    result = simulate(env, [own, theirs], horizon=200, runs=3, engine="cpu")
    np.testing.assert_allclose(result.pseudo_regret[0], result.pseudo_regret[1], atol=1e-9)
    for oracle, sentence in ((object(), "oracle must have fit and predict"), (Ridge, "write Ridge()")):
        with pytest.raises(InvalidParameter, match=re.escape(sentence)):
            EpochGreedy(oracle=oracle)


def test_a_forest_may_be_the_oracle_of_epoch_greedy() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    forest = ensemble.RandomForestRegressor(5, random_state=0)
    result = simulate(paper_1a(), EpochGreedy(oracle=forest), horizon=40, runs=1)
    assert np.isfinite(result.pseudo_regret).all()
