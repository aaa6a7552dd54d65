"""Subclasses: engines and agents do what they override, or refuse it in a sentence, and never drop it silently."""

import inspect
from dataclasses import fields, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from armspan import Greedy, LinUCB, LinUCBd, simulate
from armspan.agents import Agent
from armspan.environments import DelayedRewards, FiniteContexts
from armspan.errors import NotApplicable
from armspan.policies import POLICIES, EpsilonGreedy, Policy
from armspan.policies.base import definer

rng = np.random.default_rng(7)
ENV = FiniteContexts(rng.normal(size=(3, 5, 2)) / 2, rng.normal(size=(3, 2)) / 2, noise=0.5)
LATE = DelayedRewards(ENV, steps=3)
BOUNDS: dict[str, Any] = {"feature_bound": 1.2, "parameter_bound": 1.0, "noise_scale": 1.0}
KINDS: dict[str, Any] = {name: kind() for name, kind in POLICIES.items()}
KINDS |= {"EpsilonGreedy, until_sure": EpsilonGreedy(until_sure=True), "Greedy, pulls": Greedy(pulls=2)}
for alpha in ("practical", "estimated"):
    KINDS[f"LinUCBd, {alpha}"] = LinUCBd(alpha=alpha)
KINDS["LinUCBd, half_life"] = LinUCBd(half_life=20.0)
KINDS |= {f"{name}, shared": replace(one, shared=True) for name, one in KINDS.items() if hasattr(one, "shared")}


def overriding(policy: Any, name: str, other: Any) -> Any:
    """The policy as an object of a subclass, whose method is other(what the policy's own gives)."""

    def method(self: Any, *args: Any) -> Any:
        return other(getattr(super(kind, self), name)(*args))

    def attribute(self: Any) -> Any:
        return other(getattr(super(kind, self), name))

    is_property = isinstance(inspect.getattr_static(policy, name), property)
    kind: Any = type(type(policy).__name__, (type(policy),), {name: property(attribute) if is_property else method})
    return kind(**{field.name: getattr(policy, field.name) for field in fields(policy)})


def changed(value: Any) -> Any:
    """Another number, or another function of the step."""
    if callable(value):
        return lambda t: 0.3 * value(t) + 0.05
    if isinstance(value, tuple):
        return tuple(map(changed, value))
    return value + 2 if isinstance(value, int) else 0.7 * value


def regret(env: Any, policy: Any, engine: str) -> Any:
    """None where it is refused."""
    try:
        return simulate(env, policy, horizon=80, runs=2, engine=engine).pseudo_regret
    except NotApplicable as refusal:
        if "does not do what its own" in str(refusal):
            return None
        raise


class Half(LinUCBd):
    """A hundredth, in fact: so little that arms differ."""

    def schedule(self, env: Any) -> Any:
        whole = super().schedule(env)
        return lambda t: whole(t) / 100


class Cooling(Greedy):
    def schedule(self, env: Any) -> Any:
        return lambda t: 1 / np.sqrt(t)


class OtherLearner(LinUCB):
    def learner(self, env: Any, runs: Any) -> Any:
        return Greedy().learner(env, runs)


class Waitless(LinUCB):
    """Its learner takes all rewards at once."""

    def learner(self, env: Any, runs: Any) -> Any:
        return Greedy().learner(ENV, runs)


class OtherKnobs(LinUCB):
    def knobs(self, env: Any) -> Any:
        return {**super().knobs(env), "alpha": lambda t: np.zeros(t.size)}


class OtherRegression(LinUCB):
    def regression(self, env: Any) -> Any:
        return {**super().regression(env), "ridge": 40.0}


class OtherRidge(LinUCB):
    def sound_penalty(self, env: Any) -> float:
        return 40.0


def index(agent: Any, x: Any) -> Any:
    return agent.scores(x).index


def taught(agent: Any) -> Any:
    for y in (0.3, 0.5, 0.1):
        agent.update(0, [1.0, 0.3], y)
    return agent


@pytest.mark.parametrize("intercept", [False, True])
def test_a_schedule_of_its_own_reaches_the_agent(intercept: bool) -> None:
    half, plain = Half(**BOUNDS), LinUCBd(**BOUNDS)
    agents = [taught(one.agent(2, 2, intercept=intercept)) for one in (half, plain)]
    agents += [taught(Policy.agent(one, 2, 2, intercept=intercept)) for one in (half, plain)]
    half_way, whole, same, general = (index(agent, [0.4, 0.9]) for agent in agents)
    assert isinstance(agents[1], Agent)
    assert not isinstance(agents[0], Agent)
    np.testing.assert_array_equal(half_way, same)
    np.testing.assert_allclose(whole, general)
    assert not np.allclose(half_way, whole, rtol=0.1)
    with pytest.raises(NotApplicable, match="memory must be left out where the agent is not tuned"):
        half.agent(2, 2, memory=5)


def test_greedy_that_cools_does_so_as_an_agent() -> None:
    agent = Cooling(feature_bound=1.0).agent(2, 1)
    for _ in range(50):
        agent.update(0, [1.0], 0.5)
    mean, width = 50 * 0.5 / 51, 1 / np.sqrt(51)
    assert index(agent, [1.0])[0] == pytest.approx(mean + width / np.sqrt(51))


@pytest.mark.parametrize("pulls", [0, 2])
def test_greedy_that_cools_does_so_on_every_engine(pulls: int) -> None:
    for env in (ENV, LATE):
        cpu, python = (regret(env, Cooling(pulls=pulls), engine) for engine in ("cpu", "python"))
        np.testing.assert_allclose(cpu, python)
        assert not np.allclose(cpu, regret(env, Greedy(pulls=pulls), "cpu"))
    np.testing.assert_allclose(
        regret(ENV, Cooling(), "python"), regret(ENV, LinUCB(alpha=lambda t: 1 / np.sqrt(t)), "python")
    )


def test_no_reference_replaces_a_learner() -> None:
    policy = OtherLearner(alpha=1.0)
    for env in (ENV, LATE):
        np.testing.assert_array_equal(regret(env, policy, "cpu"), regret(env, Greedy(), "cpu"))
        assert regret(env, policy, "python") is None
    with pytest.raises(NotApplicable, match="a learner of its own, which does not say `late = True`"):
        simulate(LATE, Waitless(alpha=1.0), horizon=20, runs=1, engine="cpu")


def test_no_learner_replaces_a_reference_that_was_written_later() -> None:
    class Later(OtherLearner):
        def reference(self, env: Any) -> Any:
            return Greedy(pulls=2).reference(env)

    for engine in ("cpu", "python"):
        same = regret(ENV, Greedy(pulls=2), engine)
        np.testing.assert_allclose(regret(ENV, Later(alpha=1.0), engine), same)


def test_other_knobs_are_for_compiled_forms() -> None:
    policy, greedy = OtherKnobs(alpha=1.0, feature_bound=1.2), Greedy(feature_bound=1.2)
    np.testing.assert_array_equal(regret(ENV, policy, "cpu"), regret(ENV, greedy, "cpu"))
    assert regret(ENV, policy, "python") is None
    agents = [taught(one.agent(2, 2)) for one in (policy, greedy)]
    np.testing.assert_allclose(*(index(agent, [1.0, 0.3]) for agent in agents))


def test_another_regression_is_for_the_reference() -> None:
    policy = OtherRegression(alpha=1.0, feature_bound=1.2)
    results = [regret(ENV, policy, engine) for engine in ("cpu", "python", "auto")]
    for result in results:
        np.testing.assert_allclose(result, regret(ENV, LinUCB(alpha=1.0, ridge=40.0), "cpu"))
    assert not simulate(ENV, policy, horizon=9, runs=1, events=True).events
    with pytest.raises(NotApplicable, match="has no agent"):
        policy.agent(2, 2)


def test_another_ridge_is_for_all() -> None:
    policy, same = OtherRidge(alpha=1.0, feature_bound=1.2), LinUCB(alpha=1.0, ridge=40.0, feature_bound=1.2)
    for engine in ("cpu", "python"):
        np.testing.assert_allclose(regret(ENV, policy, engine), regret(ENV, same, engine))
    agents = [taught(one.agent(2, 2)) for one in (policy, same)]
    np.testing.assert_allclose(*(index(agent, [0.4, 0.9]) for agent in agents))


def test_who_states_the_family_again_says_that_all_forms_agree() -> None:
    class Same(OtherRegression):
        family: ClassVar[str | None] = "linear"

    class SameSchedule(Half):
        family: ClassVar[str | None] = "linear"

    assert (OtherRegression().compiled, Same().compiled) == (None, "linear")
    assert not isinstance(SameSchedule(**BOUNDS).agent(2, 2), Agent)  # which has another schedule


def test_the_tuned_agent_may_be_told_of_another_schedule() -> None:
    class Untold(Half):
        def exploration(self, application: Any) -> Any:
            schedule = self.schedule(application)
            return float(schedule(np.array([1]))[0]), 0.0, schedule

    class Told(Untold):
        family: ClassVar[str | None] = "linear"

    agent, general = Told(**BOUNDS).agent(2, 2), Half(**BOUNDS).agent(2, 2)
    assert isinstance(agent, Agent)
    with pytest.raises(NotApplicable, match="has no agent"):  # nothing says that engines do the same
        Untold(**BOUNDS).agent(2, 2)
    np.testing.assert_allclose(*(index(taught(one), [0.4, 0.9]) for one in (agent, general)))


HOOKS = [(name, hook) for name, policy in KINDS.items() for hook in policy.heeds]
SIMPLE = [
    (name, hook)
    for name, hook in HOOKS
    if hook not in ("learner", "reference", "knobs", "sizes", "regression", "advised", "among", "stage", "rates")
]


@pytest.mark.parametrize(("name", "hook"), SIMPLE)
def test_engines_agree_on_what_a_subclass_overrides_or_refuse_it(name: str, hook: str) -> None:
    policy = overriding(KINDS[name], hook, changed)
    forms = policy.heeds[hook]
    for env in (ENV, LATE):
        cpu, python = (regret(env, policy, engine) for engine in ("cpu", "python"))
        assert (cpu is None, python is None) == (not forms or list(forms) == ["exploration"], "reference" not in forms)
        if cpu is not None and python is not None:
            np.testing.assert_allclose(cpu, python, atol=1e-9)


@pytest.mark.parametrize(("name", "hook"), HOOKS)
def test_forms_that_do_not_heed_a_method_are_not_run_where_it_is_overridden(name: str, hook: str) -> None:
    policy = overriding(KINDS[name], hook, lambda value: value)
    forms = policy.heeds[hook]
    assert (policy.compiled is None) == ("family" not in forms or KINDS[name].compiled is None)
    for form in ("family", "learner", "reference") if KINDS[name].compiled else ["reference"]:
        assert policy.overlooked(form) == (None if form in forms else hook)
        assert KINDS[name].overlooked(form) is None
    assert KINDS[name].tuned or not policy.tuned
    assert not policy.tuned or "exploration" in forms


@pytest.mark.parametrize("name", KINDS)
def test_a_policy_says_who_heeds_what_it_asks_of_itself(name: str) -> None:
    """Methods that are told of an environment make the forms: each is listed, and is a method."""
    kind, policy = type(KINDS[name]), KINDS[name]
    of_environments = {
        one
        for one, method in inspect.getmembers(kind, inspect.isfunction)
        if not one.startswith("_") and {"env", "application"} & set(inspect.signature(method).parameters)
    }
    rest = {"check", "late_reference", "sound_reference", "too_slow"}
    assert of_environments - rest <= set(policy.heeds)
    assert all(issubclass(definer(policy, hook), Policy) for hook in policy.heeds)
