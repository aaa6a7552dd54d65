"""Logs written by rules of people, which a reviewer drew up to fool the check of lines; no problem is diverse."""

import numpy as np

from armspan.diversity import audit_log
from benchmarks.truth.loggers import Array

KINDS = {
    "peak": "two arms are alike, with a peak; a rule with a soft edge",
    "saturation": "two arms are alike, and saturate; a rule with a soft edge",
    "pilot": "arms differ in the part of the contexts in which they were tried at random, and only there",
    "default": "two arms are alike, and tried only beside a third one",
}


def draw(kind: str, seed: int) -> tuple[Array, Array, Array]:
    """Features, arms and rewards of one log of 3,000 rows."""
    rng, n = np.random.default_rng(seed), 3000
    u, s, coin = rng.standard_normal(n), (rng.random(n) < 0.3) * 1.0, rng.integers(2, size=n)
    X = np.column_stack([np.ones(n), u])
    if kind in ("peak", "saturation"):
        shape = -np.abs(u) if kind == "peak" else np.minimum(u, 0.0)
        means, arms = np.stack([shape, shape]), np.where(rng.random(n) < 1 / (1 + np.exp(-u / 0.15)), 1, 0)
    elif kind == "pilot":
        X = np.column_stack([X, s])
        means = np.stack([np.where(s, -u, np.abs(u)), np.where(s, u, np.abs(u))])
        arms = np.where(s, coin, u > 0).astype(np.int64)
    else:
        v = rng.standard_normal(n)
        X, means = np.column_stack([X, v]), np.stack([np.abs(v), 2 * u - 0.5, np.abs(v)])
        rule = np.where(2 * u - 0.5 > np.abs(v), 1, np.where(v > 0, 0, 2))
        arms = np.where(rng.random(n) < 0.1, np.where(rule == 1, 2 * coin, 1), rule)
    return X, arms, means[arms, np.arange(n)] + rng.standard_normal(n)


def examine(kind: str, logs: int, first: int = 0) -> tuple[str, int, int]:
    """How many logs get a wrong yes, and how many if rewards are taken to be linear."""
    wrong = [0, 0]
    for seed in range(first, first + logs):
        X, arms, rewards = draw(kind, seed)
        for place, linear in enumerate((False, True)):
            wrong[place] += audit_log(X, arms.tolist(), rewards, linear=linear).verdicts[1].answer == "yes"
    return kind, wrong[0], wrong[1]
