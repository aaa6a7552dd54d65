"""Tails: counts of very many runs, against the runs themselves."""

import math
from typing import Any

import numpy as np
import pytest

from armspan import LinUCBd, simulate
from armspan.environments import diversity_dial
from armspan.errors import Interrupted
from armspan.experiments import tails
from armspan.experiments.tails import Tails, run_tail, run_tails
from armspan.report.tails import over_table, tails_figure, tails_table

SIZE: Any = {"runs": 60, "horizon": 3000, "seed": 4}


def silent(done: int, total: int) -> None:
    pass


def test_counts_are_those_of_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tails, "TOGETHER", 17)  # several batches, the last one smaller
    tail = run_tail(0.45, **SIZE, engine="cpu", progress=silent)
    result = simulate(diversity_dial(0.45), LinUCBd(), **SIZE, events=True)
    final, last = result.pseudo_regret[0, :, -1], result.events["LinUCB-d"].last_suboptimal
    assert tail.exceeded.tolist() == [int((final > value).sum()) for value in tail.values]
    assert tail.exploring.tolist() == [int((last > step).sum()) for step in tail.steps]
    assert (tail.mean, tail.sd, tail.largest) == pytest.approx((final.mean(), final.std(), final.max()))
    assert (tail.runs, tail.engine) == (60, "cpu")


def test_quantiles_are_the_samples_to_the_width_of_a_bin() -> None:
    tail = run_tail(0.45, **SIZE, engine="cpu", progress=silent)
    final = np.sort(simulate(diversity_dial(0.45), LinUCBd(), **SIZE).pseudo_regret[0, :, -1])
    for probability in (0.25, 0.5, 0.9):
        exact = final[math.ceil(probability * 60) - 1]
        assert exact <= tail.quantile(probability) <= exact * 1.01
    assert tail.quantile(1.0) == tail.largest
    assert Tails((tail,), 1).told((0.5, 0.9, 0.99)) == [0.5, 0.9]  # of 60 runs
    steps = tail.over(0.5)
    assert (tail.exploring[tail.steps == steps] <= 30).all()
    never = run_tail(0.0, **SIZE, engine="cpu", progress=silent)
    assert never.over(0.5) == math.inf  # without diversity exploration goes on
    assert never.still_exploring > 30


def test_a_stop_keeps_the_levels_that_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(done: int, total: int) -> None:
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        run_tails(runs=5, horizon=200, seed=0, engine="cpu", progress=stop)
    assert isinstance(caught.value.partial, Tails)
    assert [tail.level for tail in caught.value.partial.entries] == [0.03, 0.1]


def test_figure_and_tables() -> None:
    told: list[tuple[int, int]] = []
    found = run_tails(runs=20, horizon=400, seed=0, engine="cpu", progress=lambda *now: told.append(now))
    assert told[-1][0] == told[-1][1]
    axes = tails_figure(found).axes
    assert [panel.get_title() for panel in axes][1:] == [
        "the last step of exploration",
        "quantiles of the final regret",
    ]
    for head, rows in (tails_table(found), over_table(found)):
        assert len(rows) == 5
        assert {len(row) for row in rows} == {len(head)}
