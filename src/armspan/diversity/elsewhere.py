"""What a log shows of an arm where another arm looks best, so that its line is not believed where it was hardly tried.

A policy that learns takes an arm where it looks best. A line fits those rows, whatever the arm would earn elsewhere. If
all arms earn the same, and rewards bend, then each side of the bend gives a line of its own, and two arms that are
alike look as if each led on its side. So an arm must have been tried where others look best, and have earned less.
"""

import math
from typing import NamedTuple

import numpy as np

from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.diversity.evidence import LEAST_SHARE
from armspan.diversity.fits import RANK, Bands, Fits, added
from armspan.diversity.quantiles import f_quantile
from armspan.diversity.sample import Sample

FEWEST_ELSEWHERE = 10
"""With fewer rows in contexts in which another arm looks best, nothing is known of an arm there."""
EVEN, EXPECTED = 0.1, 15
"""How evenly an arm must be tried there, in the direction in which it was tried least: 1 is as often as everywhere, 0
never. And where so many rows are to be expected in contexts in which one other arm looks best, a fifth must exist."""


class Elsewhere(NamedTuple):
    """What is seen of each arm where another arm looks best.

    best : (n,) the arm that looks best in each context. asked : (K,) whether it is the arm in some of them, and another
        in some. rows : (K,) how many rows, or groups of them, the arm has where it is another. even : (K,) whether they
        are all over.
    made_up : (K,) the part of its shortfall that the arm makes up there: 0 if its rewards follow its line, 1 if it is
        as good as the best. reach : (K,) how far limits of that are away; infinity where nothing tells.
    """

    best: IntArray
    asked: BoolArray
    rows: IntArray
    even: BoolArray
    made_up: FloatArray
    reach: FloatArray

    @property
    def untried(self) -> BoolArray:
        """Which arms (K,) were hardly taken there."""
        return np.asarray(self.asked & (self.rows < FEWEST_ELSEWHERE))

    def open(self, times: float = 1.0) -> BoolArray:
        """Which arms (K,) might be as good as the best there, or are off their lines by as much the other way.

        times : as if there were so many times as many rows.
        """
        near = np.abs(self.made_up) + self.reach / math.sqrt(times) < 1
        return np.asarray(self.asked & ~(near & self.even))

    def hidden(self, bands: Bands) -> Bands:
        """The same bands, but endless for untried arms there."""
        beyond = self.untried & (np.arange(len(self.rows)) != self.best[:, None])
        return bands._replace(variance=np.where(beyond, np.inf, bands.variance))


def elsewhere(sample: Sample, bands: Bands, fits: Fits, arms: IntArray, rewards: FloatArray, alpha: float) -> Elsewhere:
    """Look at every arm's rows where another one looks best; alpha : how often a limit may be wrong.

    An arm's rewards are fitted by its line and, besides, by its shortfall: how far it is behind the best arm.
    """
    z, K = sample.z, len(fits.theta)
    means = np.where(fits.known, bands.means, -np.inf)
    best = means.argmax(axis=1)
    there = [sample.groups.some((arms == a) & (best != a)) for a in range(K)]
    rows, made_up, reach = np.array([part.count for part in there]), np.zeros(K), np.full(K, np.inf)
    share = np.bincount(best, minlength=K) / len(z)
    asked, even = np.minimum(share, 1 - share) >= LEAST_SHARE / K, np.zeros(K, dtype=bool)
    for a in np.flatnonzero(fits.known):
        mine = arms == a
        own = sample.groups.some(mine)
        even[a] = _is_even(z, best, mine & (best != a), int(a), share)
        behind = means[mine].max(axis=1) - means[mine, a]
        found = added(np.column_stack([z[mine], behind]), rewards[mine], own)
        if found is None:
            continue
        made_up[a], variance = found
        reach[a] = math.sqrt(f_quantile(1 - 2 * alpha, 1, int(fits.freedom[a]) - 1) * variance)  # Student's, each side
    return Elsewhere(best, asked, rows, even, made_up, reach)


def _is_even(z: FloatArray, best: IntArray, tried: BoolArray, a: int, share: FloatArray) -> bool:
    """Whether arm a was tried all over the contexts in which another arm looks best; share : (K,) of each such arm."""
    n = int(tried.sum())
    if n == 0:
        return False
    expected, seen = n * share / (1 - share[a]), np.bincount(best[tried], minlength=len(share))
    if ((seen < expected / 5) & (expected >= EXPECTED) & (np.arange(len(share)) != a)).any():
        return False
    there = z[best != a]
    values, vectors = np.linalg.eigh(there.T @ there / len(there))
    kept = values > RANK * values[-1]
    q = z[tried] @ (vectors[:, kept] / np.sqrt(values[kept]))
    by_chance = max(1 - math.sqrt(q.shape[1] / n), 0.0) ** 2  # so uneven are few rows in many directions anyway
    return bool(np.linalg.eigvalsh(q.T @ q / n)[0] >= EVEN * by_chance)
