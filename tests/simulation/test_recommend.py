"""The recommendation: its rules on problems of known kinds, its rehearsal, its words, and what it refuses."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import armspan
from armspan import OFUL, Greedy, LinTS, LinUCB, LinUCBd, recommend, simulate
from armspan.diversity import audit_log
from armspan.environments import (
    BoxContexts,
    DelayedRewards,
    DriftingContexts,
    FiniteContexts,
    PerturbedContexts,
    diversity_dial,
    paper_1a,
    paper_1b,
)
from armspan.errors import InvalidParameter, NotApplicable
from armspan.experiments import PROBLEMS
from armspan.policies.rules import SEPARATE, SHARED, by_rules, one_theta_will_do
from armspan.simulation.recommend import worlds
from armspan.simulation.rehearsal import candidates

X = np.array([[1.0, 0.5], [0.5, 1.0]])


def log() -> Any:
    rng = np.random.default_rng(0)
    X, arms = rng.normal(size=(400, 2)), rng.integers(3, size=400)
    return audit_log(X, arms.tolist(), rng.normal(size=400) + X[:, 0] * (arms == 1), name="a log")


class TestTheRules:
    @pytest.mark.parametrize(
        "problem",
        [
            diversity_dial(0.0),
            BoxContexts(np.eye(3), -1, 1),
            PerturbedContexts(np.eye(2), 0.1),
            DelayedRewards(diversity_dial(0.0), steps=5),
            armspan.audit(diversity_dial(0.0)),
            log(),
        ],
        ids=lambda problem: type(problem).__name__,
    )
    def test_arms_with_parameters_of_their_own(self, problem: Any) -> None:
        assert by_rules(problem).policy == LinUCB(alpha="practical")

    def test_parameters_that_change(self) -> None:
        env = DriftingContexts(np.random.default_rng(0).normal(size=(2, 3, 3)), 100)
        for one in (env, DelayedRewards(env, steps=5)):
            found = by_rules(one)
            assert found.policy == LinUCB(alpha="practical", half_life=25.0)
            assert found.alternatives[0].policy == LinUCB(alpha="practical")
            assert by_rules(one, propensities=True).alternatives[0].policy == found.policy

    def test_one_parameter_for_all_arms(self) -> None:
        env = BoxContexts(np.tile([0.5, -0.2], (3, 1)), -1, 1, noise=0.3)
        assert by_rules(env).policy == LinUCB(alpha=0.3, shared=True)
        assert by_rules(DelayedRewards(env, steps=3)).policy == LinUCB(alpha=0.3, shared=True)
        x, theta = env.sample(50)[0], np.tile([0.5, -0.2], (3, 1))
        seen = armspan.audit(contexts=x, theta_hat=theta)
        assert recommend(seen).policy == LinUCB(alpha="practical", shared=True)  # it knows no noise

    def test_probabilities(self) -> None:
        assert by_rules(diversity_dial(0.0), propensities=True).policy == LinTS(scale=1.0)
        assert recommend(log(), propensities=True, noise_scale=0.5).policy == LinTS(scale=0.5)

    @given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 4))
    def test_one_theta_is_found_where_there_is_one(self, seed: int, K: int, d: int) -> None:
        rng = np.random.default_rng(seed)
        features, theta = rng.normal(size=(K, 6, d)), rng.normal(size=d)
        assert one_theta_will_do(FiniteContexts(features, np.tile(theta, (K, 1))))

    def test_one_theta_is_not_found_where_arms_look_alike(self) -> None:
        """The same features for all arms: no single θ can tell them apart."""
        x = np.random.default_rng(1).normal(size=(5, 3))
        theta = np.random.default_rng(2).normal(size=(3, 3))
        assert not one_theta_will_do(FiniteContexts(np.broadcast_to(x, (3, 5, 3)), theta))


class Own:
    """A user's own environment, in Python."""

    n_arms, n_features, noise = 2, 2, 0.3
    feature_bound = parameter_bound = 1.0

    def context(self, step: int, rng: np.random.Generator) -> Any:
        return rng.uniform(-0.5, 0.5, size=(2, 2))

    def mean_rewards(self, x: Any) -> Any:
        return x @ [0.5, 0.2]


class TestTheRehearsal:
    def test_the_one_who_loses_least_is_recommended(self) -> None:
        """By curves of the same runs, simulated one policy at a time and ranked here."""
        env = diversity_dial(0.0)
        regret = {}
        for policy in candidates(env, 300, None, propensities=False):
            final = simulate(env, policy, horizon=300, runs=50, seed=20_201).pseudo_regret[0, :, -1]
            regret[policy] = (final.mean() + 2 * final.std(ddof=1) / 50**0.5, final.mean())
        found = recommend(env, horizon=300)
        assert [found.policy, *(other.policy for other in found.alternatives)] == sorted(regret, key=regret.__getitem__)
        ratio = regret[found.alternatives[0].policy][1] / regret[found.policy][1]
        assert found.alternatives[0].words == f"{ratio:.1f} times the regret."

    def test_one_parameter_for_all_arms(self) -> None:
        env = BoxContexts(np.tile([0.5, -0.2, 0.4], (20, 1)), -1, 1, noise=0.3)
        assert recommend(env, horizon=500).policy.shared  # type: ignore[attr-defined]

    def test_decisions_that_must_be_drawn(self) -> None:
        """What is recommended can be embedded as it is, and states its probabilities."""
        found = recommend(diversity_dial(0.0), propensities=True, horizon=200)
        for policy in (found.policy, *(other.policy for other in found.alternatives)):
            decision = policy.agent(2, 2).decide(np.ones((2, 2)))
            assert 0 < decision.propensity <= 1

    def test_what_is_slow_to_try_out_rehearses_if_asked(self) -> None:
        own = DelayedRewards(Own(), steps=5)
        assert recommend(own) == by_rules(own)
        assert "in a rehearsal here" in recommend(own, horizon=8).line

    def test_late_rewards_rehearse_as_they_are(self) -> None:
        late = DelayedRewards(diversity_dial(0.0), steps=5, lost=0.1)
        found = recommend(late)
        assert "in a rehearsal here" in found.line
        final = simulate(late, found.policy, horizon=10_000, runs=50, seed=20_201).pseudo_regret[0, :, -1]
        assert found.regret is not None
        assert found.regret[0] == pytest.approx(final.mean())

    def test_the_regret_to_expect_is_that_of_the_rehearsal(self) -> None:
        found, env = recommend(diversity_dial(0.0), horizon=50), diversity_dial(0.0)
        final = simulate(env, found.policy, horizon=50, runs=50, seed=20_201).pseudo_regret[0, :, -1]
        error = 2 * final.std(ddof=1) / 50**0.5
        assert found.regret == pytest.approx((final.mean(), final.mean() - error, final.mean() + error))
        assert by_rules(env).regret is None

    def test_every_candidate_makes_an_agent(self) -> None:
        for policy in candidates(diversity_dial(0.0), 100, None, propensities=False):
            assert policy.agent(2, 2).choose(np.ones((2, 2))) in (0, 1)

    def test_what_is_recommended_runs(self) -> None:
        for env in (paper_1a(), diversity_dial(0.0)):
            found = by_rules(env)
            everyone = [found.policy, *(other.policy for other in found.alternatives)]
            assert np.isfinite(simulate(env, everyone, horizon=50, runs=2).pseudo_regret).all()
            by_rules(env, propensities=True).policy.agent(2, 2)


class TestReports:
    def test_the_report_on_an_environment_is_as_good_as_the_environment(self) -> None:
        env = diversity_dial(0.0)
        assert recommend(armspan.audit(env), horizon=50) == recommend(env, horizon=50)

    def test_the_one_who_loses_least_in_worlds_like_the_log_is_recommended(self) -> None:
        """By curves of the same runs, simulated one policy and one world at a time and ranked here."""
        found = log()
        places = worlds(found.likely, found.name)
        largest = max(places, key=lambda world: world.parameter_bound)
        regret = {}
        means = {}
        for policy in candidates(largest, 100, float(f"{found.likely.noise:.3g}"), propensities=False):
            final = np.concatenate(
                [simulate(place, policy, horizon=100, runs=5, seed=20_201 + i).pseudo_regret[0, :, -1]
                 for i, place in enumerate(places)]
            )  # fmt: skip
            regret[policy] = final.mean() + 2 * final.std(ddof=1) / 50**0.5
            means[policy] = final.reshape(10, 5).mean(axis=1)
        advice = recommend(found, horizon=100)
        assert [advice.policy, *(other.policy for other in advice.alternatives)] == sorted(
            regret, key=regret.__getitem__
        )
        assert "in a rehearsal, starting from nothing in 10 worlds drawn from a model of the log" in advice.line
        told = re.search(
            "regret ([0-9.]+), ([0-9.]+) to ([0-9.]+) from world to world, after 100 steps, 50 runs", advice.line
        )
        assert told is not None
        own = means[advice.policy]
        np.testing.assert_allclose([float(one) for one in told.groups()], [own.mean(), own.min(), own.max()], rtol=0.05)
        assert advice.regret == pytest.approx((own.mean(), own.min(), own.max()))
        assert advice.policy.agent(3, 2).choose(np.ones(2)) in (0, 1, 2)

    def test_one_theta_is_not_tried_out_where_arms_look_alike(self) -> None:
        places = worlds(log().likely, "a log")
        assert not any(getattr(one, "shared", False) for one in candidates(places[0], 9, None, propensities=False))
        assert any(getattr(one, "shared", False) for one in candidates(paper_1b(), 9, None, propensities=False))

    def test_contexts_that_were_seen_rehearse_if_the_noise_is_told(self) -> None:
        seen = armspan.audit(contexts=X, theta_hat=X)
        assert "in a rehearsal here" in recommend(seen, horizon=50, noise_scale=0.1).line

    def test_units_of_features_do_not_matter(self) -> None:
        """Features of different sizes are divided by their largest before the rehearsal, and the advice says so."""
        rng = np.random.default_rng(0)
        x, arms = np.column_stack([rng.uniform(0, 1, 400), np.ones(400)]), rng.integers(3, size=400)
        x[0, 0] = 1.0
        rewards = rng.normal(size=400) + x[:, 0] * (arms == 1)
        plain, unequal = (audit_log(x * unit, arms.tolist(), rewards) for unit in ([1.0, 1.0], [1000.0, 1.0]))
        one, other = recommend(plain, horizon=100), recommend(unequal, horizon=100)
        assert one.policy == other.policy
        times = 1000 * np.sqrt((x[:, 0] ** 2).mean())
        said = f"First divide each feature by its largest size: the largest is {times:,.0f} times the smallest."
        assert other.line == f"{one.line} {said}"
        assert "First divide each feature by its largest size" in recommend(unequal).line
        assert "divide" not in recommend(plain).line

    def test_a_log_without_variation_has_no_rehearsal(self) -> None:
        same = audit_log(np.ones((60, 1)), [0, 1] * 30, np.ones(60))
        assert same.likely is None
        found = recommend(same, horizon=100)
        assert found.policy == recommend(same).policy
        assert found.why[0] == f"No rehearsal: all rewards are the same. {recommend(same).why[0]}"

    def test_a_log_with_too_few_rows_has_no_rehearsal(self) -> None:
        """Twenty rows, twenty features: they can be fitted without any noise, whatever the noise is."""
        rng = np.random.default_rng(0)
        x = np.column_stack([np.ones(20), rng.normal(size=(20, 19))])
        found = recommend(audit_log(x, [0, 1] * 10, rng.normal(size=20)), horizon=1000, propensities=True)
        assert found.policy == LinTS(scale=1.0)
        assert "No rehearsal: the log has too few rows for its features." in found.line

    @pytest.mark.parametrize("unit", [1e-150, 1e78, 1e130])
    def test_rewards_of_any_unit(self, unit: float) -> None:
        rng = np.random.default_rng(0)
        x, arms = np.column_stack([rng.normal(size=300), np.ones(300)]), rng.integers(2, size=300).tolist()
        found = audit_log(x, arms, unit * rng.normal(size=300)).likely
        assert found is not None
        assert found.noise == pytest.approx(unit, rel=0.2)

    def test_an_offset_is_no_lack_of_variation(self) -> None:
        rng = np.random.default_rng(0)
        x = np.column_stack([rng.normal(size=300), np.ones(300)])
        found = audit_log(x, rng.integers(2, size=300).tolist(), 1e6 + rng.normal(size=300))
        assert "in a rehearsal" in recommend(found, horizon=20).line
        assert found.likely is not None
        assert found.likely.noise == pytest.approx(1.0, rel=0.1)

    def test_rewards_that_are_not_linear_are_said_to_be(self) -> None:
        rng = np.random.default_rng(0)
        x = rng.uniform(1, 2, size=(2000, 1))
        found = audit_log(x, rng.integers(2, size=2000).tolist(), 100 + rng.normal(size=2000))
        assert "Do not rely on that. " in recommend(found, horizon=20).line

    def test_the_noise_that_is_told_is_that_of_the_worlds(self) -> None:
        assert {world.noise_scale for world in worlds(log().likely, "a log", 3.0)} == {3.0}

    def test_progress_is_told(self) -> None:
        told: list[tuple[int, int]] = []
        recommend(log(), horizon=30, progress=lambda done, total: told.append((done, total)))
        assert told == sorted(told)
        assert told[-1][0] == told[-1][1]

    def test_a_rehearsal_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("armspan.simulation.rehearsal.MOST_STEPS", 40)
        assert "after 40 steps" in recommend(log(), horizon=2**32).line

    def test_rewards_far_from_0_are_told_where_decisions_are_drawn(self) -> None:
        rng = np.random.default_rng(0)
        x, arms, noise = np.ones((200, 1)), rng.integers(2, size=200).tolist(), rng.normal(size=200)
        far, near = audit_log(x, arms, 50 + noise), audit_log(x, arms, noise)
        assert (
            "First subtract a typical reward from all: they are around 49.9." in recommend(far, propensities=True).line
        )
        assert "subtract" not in recommend(near, propensities=True).line + recommend(far).line

    def test_the_noise_of_a_log_is_that_of_its_residuals(self) -> None:
        policy: Any = recommend(log(), propensities=True).policy
        assert policy.scale == pytest.approx(1.0, rel=0.15)


def test_the_words() -> None:
    text = str(by_rules(paper_1a()))
    assert text.startswith("Recommended: LinUCB(shared=True, alpha=1)\n  One θ is enough to find the best arm")
    assert "the paper promises LinUCB-d constant regret" in text
    assert "or OFUL(shared=True): " in text
    assert "Arm 0 is best nowhere, or only in contexts that do not" in str(recommend(diversity_dial(0.0), horizon=20))
    assert "come late" in str(recommend(DelayedRewards(paper_1a(), steps=2)))
    assert "not linear" not in str(recommend(log()))


@pytest.mark.parametrize("late", [{"steps": 3}, {"mean": 2.0}, {"lost": 1.0}])
def test_nothing_is_promised_where_rewards_come_late(late: Any) -> None:
    env = DelayedRewards(paper_1b(), **late)
    for found in (recommend(env), recommend(env, horizon=20)):
        assert "constant regret" not in " ".join(found.why)
        assert f"The paper's theory does not apply: the rewards of {env.name} come late." in found.why


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: recommend(3), "problem must be an environment or the report of an audit, got 3"),
        (lambda: recommend(paper_1a(), noise_scale=0.0), "noise_scale must be"),
        (lambda: recommend(paper_1a(), horizon=0), "horizon must be"),
        (
            lambda: recommend(armspan.audit(contexts=X, theta_hat=X), horizon=9),
            "noise_scale must be given with a horizon",
        ),
        (lambda: recommend(log(), horizon=0), "horizon must be"),
    ],
)
def test_bad_input_is_one_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        call()


class World:
    """A user's environment, which knows no bounds."""

    n_arms, n_features = 2, 2

    def context(self, step: int, rng: np.random.Generator) -> Any:
        return rng.random((2, 2))

    def mean_rewards(self, x: Any) -> Any:
        return x @ np.ones(2)


def test_a_users_environment_goes_by_rules_unless_it_knows_its_bounds() -> None:
    unknown = "Whether the paper promises constant regret is not known: World is written in Python."
    assert recommend(World()).why[-1] == unknown
    for env in (World(), DelayedRewards(World(), steps=1)):
        with pytest.raises(NotApplicable, match="a rehearsal needs feature_bound and parameter_bound, which World"):
            recommend(env, horizon=30)
    known = World()
    known.feature_bound, known.parameter_bound = 1.5, 1.5  # type: ignore[attr-defined]
    assert recommend(known, horizon=3).why[1:] == (unknown,)


def test_nothing_to_be_learnt_needs_no_bound() -> None:
    """θ = 0: no policy loses anything, and any number bounds θ."""
    env = FiniteContexts([[[1.0, 0.0]], [[0.0, 1.0]]], [[0.0, 0.0], [0.0, 0.0]])
    assert all(policy.name for policy in candidates(env, 100, None, propensities=False))


class TestCosts:
    """What the rules say that alternatives cost is what the arena's page says, and what comes out."""

    def test_those_of_separate_arms_are_the_leaderboards(self) -> None:
        text = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| `(\w+)[^|]*\| ([\d.]+) \(", text, re.MULTILINE)[::-1])  # the first of each name
        for name, cost in SEPARATE.items():
            assert float(rows[name]) / float(rows["LinUCB"]) == pytest.approx(cost, rel=0.05)

    @pytest.mark.slow
    def test_those_of_arms_that_share_one_theta(self) -> None:
        """30 runs: means are known within 10 % or better, so that a true cost fails in less than one case of 1,000."""
        env = next(problem for problem in PROBLEMS if problem.key == "many").make()
        assert env.noise_scale is not None
        alternatives = {
            "separate": LinUCB(alpha="practical"),
            "OFUL": OFUL(shared=True),
            "LinUCBd": LinUCBd(shared=True),
            "Greedy": Greedy(shared=True),
        }
        for known, alpha in ((True, env.noise_scale), (False, "practical")):
            policies = [LinUCB(alpha=alpha, shared=True, label="recommended"), *alternatives.values()]
            least, *others = simulate(env, policies, horizon=5_000, runs=30, seed=3).mean()[:, -1]
            for name, regret in zip(alternatives, others, strict=True):
                assert regret / least == pytest.approx(SHARED[known][name], rel=0.3)
