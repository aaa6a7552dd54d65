"""The arena: every problem can be run, a second start takes what is kept, and the standing adds up."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armspan.cli.main import main
from armspan.experiments import arena
from armspan.experiments.arena import PROBLEMS, Arena, entries, run_arena
from armspan.policies import LinUCB, LinUCBd
from armspan.report import arena as report


def silent(_: str) -> Any:
    return lambda done, total: None


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.key)
def test_every_problem_is_made_and_has_its_competitors(problem: Any) -> None:
    env = problem.make()
    names = [policy.name for policy in entries(env, problem.horizon)]
    assert len(set(names)) == len(names) >= 20
    assert {"LinUCB-d", "LinUCB, practical", "greedy"} <= set(names)


def test_the_standing_is_relative_to_the_best_of_each_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "PROBLEMS", PROBLEMS[:3])
    monkeypatch.setattr(arena, "entries", lambda env, horizon: [LinUCBd(), LinUCB(alpha="practical")])
    first = Arena(tuple(run_arena(runs=3, seed=1, announce=silent, folder=tmp_path, horizon=80)))
    again = Arena(
        tuple(run_arena(runs=3, seed=1, announce=lambda _: pytest.fail("computed again"), folder=tmp_path, horizon=80))
    )
    for one, two in zip(first.bouts, again.bouts, strict=True):
        np.testing.assert_array_equal(one.result.pseudo_regret, two.result.pseudo_regret)
        assert min(one.relative().values()) == pytest.approx(1)
    by_hand = {}
    for p, name in enumerate(first.bouts[0].result.policies):
        ratios = [bout.result.mean()[p, -1] / bout.result.mean()[:, -1].min() for bout in first.bouts]
        by_hand[name] = np.prod(ratios) ** (1 / 3)
    for name, mean, worst, _, count in first.standing():
        assert mean == pytest.approx(by_hand[name])
        assert count == 3
        assert worst >= mean
    assert report.write(first, tmp_path).read_text(encoding="utf-8").count("<h2>") == 3


def test_another_size_is_computed_afresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "PROBLEMS", PROBLEMS[:1])
    monkeypatch.setattr(arena, "entries", lambda env, horizon: [LinUCBd()])
    sizes = [next(run_arena(runs=runs, seed=0, announce=silent, folder=tmp_path, horizon=20)) for runs in (2, 3)]
    assert [bout.result.runs.size for bout in sizes] == [2, 3]


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "PROBLEMS", PROBLEMS[:1])
    monkeypatch.setattr(arena, "entries", lambda env, horizon: [LinUCBd(), LinUCB(alpha=1.0)])
    assert main(["reproduce", "arena", "--runs", "2", "--horizon", "30"]) == 0
    assert "regret / best" in capsys.readouterr().out
    assert main(["reproduce", "arena", "--runs", "0"]) == 2
