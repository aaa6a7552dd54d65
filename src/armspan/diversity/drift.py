"""Do rewards drift? A log is read in order of time, and what has been seen so far predicts what comes next.

The log is cut into blocks. Before each block, every arm's regression is fitted to the rows so far, once with all of
them, and once for each of a few half-lives with weights that fall with age. Where mean rewards do not change with time,
old rows are as good as new ones, and forgetting them makes predictions worse on average. So if a model that forgets
predicts better, by a t-test over the rows, rewards drift; the half-life that predicts best says how fast.
"""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from armspan._text import percent
from armspan._typing import FloatArray, IntArray
from armspan.diversity.fits import says_constant
from armspan.diversity.quantiles import f_quantile
from armspan.diversity.sample import Sample

BLOCKS, FEWEST_ROWS = 64, 8
"""Blocks of a log, and rows that each of them has at least: a shorter log has fewer blocks."""
FEWEST_BLOCKS = 24
LEARNING = 4
"""A fourth of the log is learnt from before anything is compared."""
HALF_LIVES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""In blocks."""
RIDGE = 0.1
MOST_NUMBERS = 4_000_000
"""K·r², beyond which a log has too few rows per arm to say anything."""


class Drift(NamedTuple):
    """The half-life that predicts best.

    half_life : in rows. gain : by which part of the squared error its predictions are better than with all rows.
    """

    half_life: float
    gain: float

    @property
    def words(self) -> str:
        """What was seen, and what to do."""
        lasting = f"{self.half_life:,.0f}"
        return (
            f"Rewards seem to change with time: a model in which a row counts half after {lasting} more predicts the "
            f"next rows better, by {percent(self.gain)} of the squared error. Audit the latest rows alone; and let an "
            f"agent forget, with half_life={self.half_life:.0f}."
        )


def drift(sample: Sample, arms: IntArray, rewards: FloatArray, n_arms: int, alpha: float) -> Drift | None:
    """The half-life that predicts better than remembering all; None if none does for sure.

    sample : whitened contexts in order of time. alpha : how often a log that does not drift may seem to. Rows of one
    group that follow each other are in one block, so that none of them is predicted from others.
    """
    z, groups = sample.z, sample.groups
    edges = groups.starts(np.linspace(0, len(z), min(BLOCKS, len(z) // FEWEST_ROWS) + 1).astype(int))
    if len(edges) <= FEWEST_BLOCKS or n_arms * z.shape[1] ** 2 > MOST_NUMBERS or not rewards.std() > 0:
        return None
    y = (rewards - says_constant(z) * rewards.mean()) / rewards.std()  # without a constant, an offset is not linear
    compared = slice(len(z) // LEARNING, None)
    losses = _losses(z, arms, y, n_arms, edges)[compared]
    gains = losses[:, :1] - losses[:, 1:]
    mean, own = gains.mean(axis=0), groups.some(compared)
    error = np.sqrt((own.sums(gains) ** 2).sum(axis=0)) / len(gains)
    needed = math.sqrt(f_quantile(1 - 2 * alpha / len(HALF_LIVES), 1, max(own.count - 1, 1)))
    shown = (mean > needed * error) & (error > 0)
    if not shown.any():
        return None
    best = int(np.argmax(np.where(shown, mean, -np.inf)))
    rows = HALF_LIVES[best] * len(z) / (len(edges) - 1)
    return Drift(max(float(f"{rows:.2g}"), 1.0), float(mean[best] / losses[:, 0].mean()))


def _losses(z: FloatArray, arms: IntArray, y: FloatArray, n_arms: int, edges: IntArray) -> FloatArray:
    """Squared errors (n, 1 + half-lives) of what was predicted before each row's block, with all rows first."""
    n, r = z.shape
    keep = np.array([1.0, *(0.5 ** (1 / h) for h in HALF_LIVES)])
    gram, sums = np.zeros((n_arms, len(keep), r, r)), np.zeros((n_arms, len(keep), r))
    losses, ridge = np.empty((n, len(keep))), RIDGE * np.eye(r)
    for start, stop in pairwise(edges):
        order = start + np.argsort(arms[start:stop], kind="stable")
        present, first = np.unique(arms[order], return_index=True)
        theta = np.linalg.solve(gram[present] + ridge, sums[present][..., None])[..., 0]
        gram *= keep[:, None, None]
        sums *= keep[:, None]
        for rows, arm, own in zip(np.split(order, first[1:]), present, theta, strict=True):
            Z, target = z[rows], y[rows]
            losses[rows] = (target[:, None] - Z @ own.T) ** 2
            gram[arm] += Z.T @ Z
            sums[arm] += Z.T @ target
    return losses
