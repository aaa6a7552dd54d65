"""The paper's figures as experiments: small ones run through, and claims are judged by the results."""

from typing import Any

import numpy as np
import pytest

from armspan.errors import InvalidParameter
from armspan.experiments import ALL, DialResult, Effort, PanelResult, Survey, reproduce
from armspan.experiments.claims import keeps_growing, lower_regret, same_curves, stays_constant
from armspan.simulation import Result
from armspan.simulation.plan import as_checkpoints

SMALL = Effort(runs=6, horizon=400, draws=8)


def silent(stage: str) -> Any:
    return lambda done, total: None


def result(*shapes: Any, runs: int = 30) -> Result:
    """Curves of known growth, one policy a shape, named a, b, …"""
    marks = as_checkpoints(None, 100_000)
    luck = np.random.default_rng(0).uniform(0.8, 1.2, size=(runs, 1))
    curves = np.stack([luck * shape(marks) for shape in shapes])
    names = tuple("abcdef"[: len(shapes)])
    return Result(names, np.arange(runs), marks, curves, curves, "made up", "", 100_000, 0, "cpu")


def flat(t: Any) -> Any:
    return 50.0 * (1 - np.exp(-t / 100))


def line(t: Any) -> Any:
    return 0.1 * t


def bending(t: Any) -> Any:
    """Bounded by 100, and not flat yet."""
    return 100 * (1 - (1 + t / 100) ** -0.5)


def test_claims() -> None:
    results = {"x": result(flat, line, flat), "y": result(line)}
    assert stays_constant("x", "a", "")(results).confirmed is True
    assert stays_constant("x", "b", "")(results).confirmed is False
    assert keeps_growing("x", "a", "")(results).confirmed is False
    assert keeps_growing("x", "b", "")(results).confirmed is True
    assert keeps_growing("x", "a", "")({"x": result(bending)}).confirmed is None
    assert same_curves("x", "a", "c", "")(results).confirmed is True
    assert same_curves("x", "a", "b", "")(results).confirmed is False
    assert lower_regret("x", "y", "a", "")(results).confirmed is True
    assert lower_regret("y", "x", "a", "")(results).confirmed is False
    assert lower_regret("x", "z", "a", "")(results).confirmed is None
    assert stays_constant("x", "a", "")({"x": result(flat, runs=3)}).word == "undecided"


def test_every_figure_runs_through() -> None:
    outcomes = dict(reproduce(ALL, SMALL, silent))
    assert list(outcomes) == ["1a", "1b", "survey", "1c", "1c-typical", "dial", "idea"]
    for key in ("1a", "1b", "1c", "1c-typical"):
        outcome = outcomes[key]
        assert isinstance(outcome, PanelResult)
        assert outcome.result.runs.size == 6
        assert outcome.findings
    survey, dial = outcomes["survey"], outcomes["dial"]
    assert isinstance(survey, Survey)
    assert survey.rarest.shape == (8,)
    assert survey.most_diverse.rarest == survey.rarest.max()
    assert survey.typical.rarest == np.sort(survey.rarest)[4]
    assert isinstance(dial, DialResult)
    assert dial.lambda_0[0] == 0.0
    assert len(dial.results) == len(dial.levels) == len(dial.lambda_0)


def test_shares_of_draws() -> None:
    survey = Survey(np.array([0.0, 0.002, 0.02, 0.2]), np.ones(4, dtype=bool))
    assert [share.share for share in survey.shares()] == [0.75, 0.5, 0.25, 0.25]
    for share in survey.shares():
        assert 0 < share.low < share.share < share.high < 1


def test_settings_are_the_papers() -> None:
    assert (Effort().runs, Effort().horizon) == (100, 500_000)
    with pytest.raises(InvalidParameter, match="runs must be an integer from 1"):
        Effort(runs=0)
    with pytest.raises(AttributeError):
        Effort().runs = 5  # type: ignore[misc]
