"""The arena: every problem can be run, a second start takes what is kept, the standing adds up, and words fit it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armspan.cli.main import main
from armspan.experiments import arena
from armspan.experiments.arena import PROBLEMS, run_arena, step_times
from armspan.experiments.competitors import absentees, entries
from armspan.experiments.standing import Arena, Bout
from armspan.plots.ends import spread
from armspan.policies import POLICIES, Greedy, LinUCB, LinUCBd
from armspan.report import arena as report
from armspan.report.arena_figures import problem_figure, shown
from armspan.report.arena_words import choice
from armspan.simulation import Result

BY_KEY = {problem.key: problem for problem in PROBLEMS}


def silent(_: str) -> Any:
    return lambda done, total: None


def bout(key: str, finals: Mapping[str, Any]) -> Bout:
    """A bout that ended with this regret: of each run, or of all."""
    final = np.array([np.broadcast_to(value, 30) for value in finals.values()], dtype=np.float64)
    checkpoints = np.array([1, 10, 100, 1000])
    curve = final[:, :, None] * np.array([0.2, 0.5, 0.8, 1.0])
    problem = BY_KEY[key]
    env = problem.make()
    result = Result(
        tuple(finals), np.arange(30), checkpoints, curve, np.zeros((30, 4)), env.name, "", 1000, 0, "cpu"
    )  # fmt: skip
    return Bout(problem, env, result)


def test_there_are_sixteen_problems() -> None:
    assert len(BY_KEY) == len(PROBLEMS) == 16


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.key)
def test_every_problem_is_made_and_has_its_competitors(problem: Any) -> None:
    env = problem.make()
    names = [policy.name for policy in entries(env, problem.horizon)]
    assert len(set(names)) == len(names) >= 30
    assert {"LinUCB-d", "LinUCB, practical", "LinUCB, estimated", "greedy"} <= set(names)
    missing = absentees(env, problem.horizon)
    assert not set(missing) & set(names)
    assert all(missing.values())


def test_every_policy_competes_somewhere() -> None:
    """But for the oracle, who loses nothing."""
    everywhere = [entries(problem.make(), problem.horizon) for problem in PROBLEMS]
    assert {type(policy).__name__ for here in everywhere for policy in here} == set(POLICIES) - {"Oracle"}


def test_the_standing_is_relative_to_the_best_of_each_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "PROBLEMS", [BY_KEY[key] for key in ("1a", "perturbed", "delayed")])
    monkeypatch.setattr(arena, "entries", lambda env, horizon: [LinUCBd(), LinUCB(alpha="practical")])
    options: Any = {"runs": 3, "seed": 1, "folder": tmp_path, "horizon": 80}
    first = Arena(tuple(run_arena(announce=silent, **options)), {"LinUCB-d": 0.5})
    again = tuple(run_arena(announce=lambda _: pytest.fail("computed again"), **options))
    for one, two in zip(first.bouts, again, strict=True):
        np.testing.assert_array_equal(one.result.pseudo_regret, two.result.pseudo_regret)
        assert one.relative[one.best].value == pytest.approx(1)
    by_hand = {}
    for p, name in enumerate(first.bouts[0].result.policies):
        ratios = [each.result.mean()[p, -1] / each.result.mean()[:, -1].min() for each in first.bouts]
        by_hand[name] = np.prod(ratios) ** (1 / 3)
    for place in first.standing:
        assert place.relative.value == pytest.approx(by_hand[place.policy])
        assert place.relative.low <= place.relative.value <= place.relative.high
        assert place.problems == sum(place.growth.values()) == 3
        assert place.worst >= place.relative.value
        assert place.microseconds == (0.5 if place.policy == "LinUCB-d" else None)
    text = report.write(first, tmp_path).read_text(encoding="utf-8")
    assert text.count("<figure>") == 4
    assert "the contexts of a perturbed adversary depend on what the policy does" in text
    assert "the rewards of a diverse problem come late" in text
    assert "UCB per context needs contexts that recur" in text
    content = json.loads((tmp_path / "arena.json").read_text(encoding="utf-8"))
    assert set(content["problems"]) == {"1a", "perturbed", "delayed"}


def test_intervals_are_of_paired_runs() -> None:
    """A policy that always has twice another's regret has twice for certain, however much runs differ."""
    runs = np.random.default_rng(0).exponential(size=30) + 0.1
    same = bout("1a", {"a": runs, "b": 2 * runs, "c": runs, "d": runs[::-1] + 0.01})
    assert same.relative["b"] == pytest.approx((2, 2, 2))
    assert same.relative["c"] == pytest.approx((1, 1, 1))
    assert [same.told_apart(name) for name in "abcd"] == [False, True, False, False]
    assert [same.rank(name) for name in "abcd"] == [1, 4, 1, 3]
    low, high = same.relative["d"][1:]
    assert low < 0.9 < 1.1 < high


def test_another_size_is_computed_afresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "PROBLEMS", PROBLEMS[:1])
    monkeypatch.setattr(arena, "entries", lambda env, horizon: [LinUCBd()])
    sizes = [next(run_arena(runs=runs, seed=0, announce=silent, folder=tmp_path, horizon=20)) for runs in (2, 3)]
    assert [each.result.runs.size for each in sizes] == [2, 3]


def test_steps_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "entries", lambda env, horizon: [LinUCBd(), Greedy()])
    seen: list[tuple[int, int]] = []
    times = step_times(lambda done, total: seen.append((done, total)), steps=100, runs=2)
    assert set(times) == {"LinUCB-d", "greedy"}
    assert all(0 < microseconds < 1000 for microseconds in times.values())
    assert seen[-1] == (6, 6)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("1b", "Diverse? Yes, with λ₀ = 0.169. Gap? Yes, Δ = 0.12. Playing the best arm teaches about every arm"),
        ("flat", "Diverse? No. Best in contexts that do not span: arm 0, arm 1"),
        ("dominated", "Diverse? No. Never best: arm 2."),
        ("many", "One θ explains the rewards of all arms, but LinUCB-d learns one for each."),
        ("bent", "rewards of a bent table are not linear in the features"),
        ("drifting", "the parameters of a drifting problem change with time"),
    ],
)
def test_why_linucb_d_loses_is_said_in_the_words_of_the_diversity_report(key: str, words: str) -> None:
    found = choice(bout(key, {"LinUCB-d": 30.0, "LinUCB, practical": 10.0, "greedy": 50.0}))
    assert found is not None
    assert found.best == "no"
    assert "3.00 (3.00 to 3.00) times the regret of LinUCB, practical" in found.said
    assert words in found.why


def test_linucb_d_may_be_the_best_choice() -> None:
    noise = np.random.default_rng(1).normal(size=30)
    best = choice(bout("1a", {"LinUCB-d": 10.0, "greedy": 20.0}))
    perhaps = choice(bout("1a", {"LinUCB-d": 10 + noise, "greedy": 10 - noise - 0.2}))
    assert best is not None
    assert perhaps is not None
    assert (best.best, perhaps.best) == ("yes", "not known")
    assert "greedy is next, with 2.00 (2.00 to 2.00) times its regret" in best.said
    assert choice(bout("1a", {"greedy": 1.0})) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_names_at_the_ends_of_curves_do_not_meet(heights: list[float]) -> None:
    places = spread(np.array(heights), 0.1)
    order = np.argsort(heights, kind="stable")
    assert (np.diff(places[order]) >= 0.1 - 1e-9).all()
    assert places.min() >= -1e-9
    assert places.max() <= 1 + 1e-9
    if (np.diff(np.sort(heights)) >= 0.1).all():
        np.testing.assert_allclose(places, heights, atol=1e-9)


def test_a_figure_shows_the_best_and_linucb_d() -> None:
    many = {f"policy {i}": 10.0 + i for i in range(9)} | {"LinUCB-d": 100.0}
    far, near = bout("1a", many), bout("1a", {"LinUCB-d": 11.0, "greedy": 10.0})
    assert shown(far) == (*(f"policy {i}" for i in range(6)), "LinUCB-d")
    assert shown(near) == ("greedy", "LinUCB-d")
    axes = problem_figure(far).axes[0]
    assert axes.get_yscale() == "log"
    assert {text.get_text() for text in axes.texts} == set(shown(far))
    assert problem_figure(near).axes[0].get_yscale() == "linear"


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(arena, "PROBLEMS", [BY_KEY["1a"], BY_KEY[arena.TIMED_ON]])
    monkeypatch.setattr(arena, "entries", lambda env, horizon: [LinUCBd(), LinUCB(alpha=1.0)])
    assert main(["reproduce", "arena", "--runs", "2", "--horizon", "30"]) == 0
    assert "µs per step" in capsys.readouterr().out
    assert main(["reproduce", "arena", "--runs", "0"]) == 2
    (tmp_path / "peers.json").write_text("{}")
    assert main(["reproduce", "arena", "--runs", "2", "--out", str(tmp_path)]) == 2
    assert "peers.json is not what" in capsys.readouterr().err
