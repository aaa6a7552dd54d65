"""Predictions before a run against verdicts after it."""

import numpy as np
import pytest

from armspan.diversity import audit
from armspan.environments import paper_1a
from armspan.experiments.forecast import Forecast, forecast
from armspan.experiments.predictions import (
    Prediction,
    confusion,
    draw,
    run_predictions,
    within_factor,
)


@pytest.mark.parametrize("kind", ["diverse", "flat", "dominated"])
def test_problems_are_of_their_kind(kind: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        report = audit(draw(kind, rng))
        assert report.gap >= 0.1 - 1e-9
        assert report.verdicts[0].answer == ("yes" if kind == "diverse" else "no")
        assert (min(row.probability for row in report.arms) == 0) == (kind == "dominated")


def test_the_quiet_run_forecasts_the_papers_plateau() -> None:
    """539 ± 103 was measured in figure 1a by an independent program, flat from some 10⁵ steps on."""
    found = forecast(paper_1a(), horizon=300_000)
    assert 539 / 3 < found.regret < 539 * 3
    assert 30_000 < found.last_exploration < 300_000


def entry(kind: str, predicted: bool, verdict: str, ratio: float = 1.0) -> Prediction:
    return Prediction(kind, 0.1, 0.2, predicted, Forecast(10 * ratio, 100.0), verdict, 10.0, 100.0)


def test_counting() -> None:
    entries = (
        entry("diverse", True, "constant", 2.0),
        entry("diverse", True, "undecided", 4.0),
        entry("flat", False, "logarithmic"),
    )
    table = confusion(entries)
    assert table["constant"]["constant"] == table["constant"]["undecided"] == table["not constant"]["logarithmic"] == 1
    assert sum(sum(row.values()) for row in table.values()) == 3
    assert within_factor(entries) == (0.5, 1.0)


@pytest.mark.slow
def test_said_before_seen_after() -> None:
    """Prediction and verdict never contradict each other, most diverse problems are flat by then, and at least 80 % of
    the forecasts are within a factor 3. The draw of the problems is fixed.
    """
    entries = run_predictions(runs=30, horizon=200_000, seed=1, progress=lambda done, total: None)
    table = confusion(entries)
    assert sum(table["constant"][verdict] for verdict in ("logarithmic", "power", "linear")) == 0
    assert table["not constant"]["constant"] == 0
    assert table["constant"]["constant"] >= 20
    assert min(within_factor(entries)) >= 0.8
