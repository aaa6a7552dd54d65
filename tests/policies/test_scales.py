"""Exploration that follows the residuals expects features of about one scale; a simulation says where they are not."""

import logging
from typing import Any

import numpy as np
import pytest

from armspan import LinUCB, LinUCBd, simulate
from armspan.environments import BoxContexts, FiniteContexts, PerturbedContexts, labelled, paper_1a, paper_1b

THETA = np.array([[0.5, 0.3], [0.2, 0.6]])


def said(env: Any, policy: Any, caplog: pytest.LogCaptureFixture) -> list[str]:
    caplog.clear()
    with caplog.at_level(logging.WARNING, "armspan"):
        simulate(env, policy, horizon=5, runs=1)
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("how", ["practical", "estimated"])
def test_unequal_scales_are_told(how: str, caplog: pytest.LogCaptureFixture) -> None:
    for env in (
        BoxContexts(THETA / [1000.0, 1.0], [-1000.0, -1.0], [1000.0, 1.0], name="unequal"),
        FiniteContexts(np.array([[100.0, 0.5], [50.0, 1.0]]), THETA / [100.0, 1.0], name="unequal"),
    ):
        (sentence,) = said(env, LinUCB(alpha=how), caplog)
        assert f"LinUCB, {how} expects features of about one scale, and those of unequal differ by" in sentence
        assert "divide each feature by its largest size" in sentence


def test_the_same_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    env = FiniteContexts(np.array([[100.0, 0.5], [50.0, 1.0]]), THETA / [100.0, 1.0], name="told once")
    assert len(said(env, [LinUCB(alpha="practical"), LinUCB(alpha="practical", shared=True)], caplog)) == 1
    assert said(env, LinUCB(alpha="practical"), caplog) == []


def test_nothing_is_said_where_all_is_well(caplog: pytest.LogCaptureFixture) -> None:
    unequal = BoxContexts(THETA / [1000.0, 1.0], [-1000.0, -1.0], [1000.0, 1.0])
    flag = FiniteContexts(np.eye(2)[[0] * 99 + [1]], THETA)  # rare, but not small
    missing = FiniteContexts(np.array([[1.0, 0.0], [0.5, 0.0]]), THETA)
    labels = np.arange(300) % 2
    pixels = labelled(np.column_stack([labels, np.arange(300) < 2, np.arange(300)]), labels)  # one is hardly ever set
    for env in (paper_1a(), paper_1b(), flag, missing, pixels, PerturbedContexts(THETA, sigma=0.1)):
        assert said(env, LinUCB(alpha="practical"), caplog) == []
    assert said(unequal, [LinUCBd(), LinUCB(alpha=1.0)], caplog) == []
