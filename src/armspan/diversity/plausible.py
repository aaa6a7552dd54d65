"""Coefficients that a log leaves possible, drawn at random, and which contexts an arm leads with them.

An upper limit of how often an arm leads must hold for the coefficients as they are, not in each context for the worst
coefficients there. So coefficients are drawn from the distribution of the estimates' errors, and the limit is what all
but a few draws stay below. Where the coefficients with which an arm leads too seldom form a convex set, as with one
rival, this is wrong no more often than those few draws: a half-space that touches the set at the truth has as many
draws beyond it as estimates that are farther off.

A lower limit would not hold in this way: where all arms are alike, nearly every draw makes one of them lead. There the
question is what two arms that are alike, or differ by less than the margin, would seem to show. An arm leads enough
contexts only if it leads the `fewest` that a limit needs, so the draws tell how wide bands must be for `alike` arms to
seldom seem to do so. Such bands are narrower than those that hold in all contexts, the more so the more features there
are.
"""

import math
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.diversity.fits import FEWEST_EACH_WAY, Fits
from armspan.diversity.sample import Sample

DRAWS, MOST_DRAWS = 200, 2000
"""So many, or as many as a smaller error rate needs; where that takes more than the second, none are drawn."""
MOST_CONTEXTS = 3000
"""Contexts by which draws are ordered."""
ROWS_AT_ONCE = 20_000
MOST_ARMS = 20
"""Arms that are looked at: those that lead most rarely, with the estimates."""
COMPARED = 5_000
"""Contexts in which arms that are alike are compared."""


class Plausible(NamedTuple):
    """theta : (draws, K, r), the estimate first. known : (K,) arms that have one; nothing is drawn for others.

    believed : (K,) arms that were tried where another arm looks best, too, and known from enough rows in any direction.
    """

    theta: FloatArray
    known: BoolArray
    believed: BoolArray

    def narrower(self, factor: float) -> "Plausible":
        """The same with errors this many times as small."""
        return self._replace(theta=self.theta[0] + (self.theta - self.theta[0]) / factor)


class Led(NamedTuple):
    """The contexts (n,) that an arm leads with the coefficients at a quantile: of their share, and of their spread."""

    by_share: BoolArray
    by_spread: BoolArray


def plausible(fits: Fits, sample: Sample, arms: IntArray, everywhere: BoolArray, alpha: float) -> Plausible | None:
    """Draws from the distribution of the errors, which are always the same ones for the same contexts (n, r).

    everywhere : (K,) arms that were tried where another arm looks best, too. None where draws are too few for quantiles
    at 1 - alpha.
    """
    draws = max(DRAWS, math.ceil(1 / alpha))
    if draws > MOST_DRAWS:
        return None
    z, rng, believed = sample.z, np.random.default_rng(0), everywhere.copy()
    theta = np.tile(fits.theta, (draws, 1, 1))
    for a in np.flatnonzero(fits.known):
        mine, freedom = arms == a, int(fits.freedom[a])
        Z = z[mine]
        believed[a] &= fits.each_way[a] >= FEWEST_EACH_WAY
        same, anyhow = fits.covariance[a]
        sums = np.zeros((draws - 1, z.shape[1]))  # noise is drawn by row, so that units and rotations do not matter
        for part in np.array_split(Z, -(-len(Z) // ROWS_AT_ONCE)):
            sums += rng.standard_normal((draws - 1, len(part))) @ part
        own = math.sqrt(np.trace(same @ fits.gram[a]) / z.shape[1])  # the standard deviation of its residuals
        errors = (
            fits.wider[a].max()
            * max(own, fits.noise)
            * np.linalg.solve(fits.gram[a], sums.T).T
            @ _stretch(same, anyhow).T
        )
        theta[1:, a] += errors * np.sqrt(freedom / rng.chisquare(freedom, (draws - 1, 1)))
    return Plausible(theta, fits.known, believed)


def _stretch(A: FloatArray, B: FloatArray) -> FloatArray:
    """A matrix M with which MAMᵀ is at least A and at least B in every direction."""
    values, vectors = np.linalg.eigh(A)
    values = np.sqrt(np.maximum(values, 0.0))
    if not values[0] > 0:
        return np.zeros_like(A)  # no residuals at all: the estimate is exact
    root, inverse = vectors * values, vectors / values
    excess, turned = np.linalg.eigh(inverse.T @ B @ inverse)
    return np.asarray(root @ (turned * np.sqrt(np.maximum(excess, 1.0))) @ turned.T @ inverse.T)


@lru_cache(maxsize=4)
def sampled_rows(n: int, most: int) -> IntArray:
    """At most so many of n rows, drawn at random, because rows may alternate; always the same ones."""
    return np.sort(np.random.default_rng(0).permutation(n)[:most])


def led(z: FloatArray, drawn: Plausible, margin: float, alpha: float) -> dict[int, Led]:
    """For each arm that is looked at, the contexts z (n, r) that it leads with the draws at the 1 - alpha quantiles.

    Only arms that are believed are looked at: of others, draws know no more than their line does.
    """
    few = z[sampled_rows(len(z), MOST_CONTEXTS)]
    across = np.ascontiguousarray(few.T)
    draws, _, r = drawn.theta.shape
    arms = np.flatnonzero(drawn.known & drawn.believed)
    share = np.count_nonzero(_leads(across, drawn, 0, margin)[arms], axis=1)
    arms = arms[np.argsort(share, kind="stable")[:MOST_ARMS]]
    second = np.empty((draws, len(arms), r, r))
    shares = np.empty((draws, len(arms)))
    for i in range(draws):
        leads = _leads(across, drawn, i, margin)
        for place, a in enumerate(arms):
            mine = few.compress(leads[a], axis=0)
            shares[i, place], second[i, place] = len(mine), mine.T @ mine
    spreads = np.linalg.eigvalsh(second)[:, :, 0]
    last = min(math.ceil((1 - alpha) * draws), draws - 1)
    found = {}
    for place, a in enumerate(arms):
        which = (int(np.argsort(numbers[:, place], kind="stable")[last]) for numbers in (shares, spreads))
        found[int(a)] = Led(*(_leads(z.T, drawn, i, margin)[a] for i in which))
    return found


def fewest(alpha: float) -> int:
    """With fewer contexts no lower limit of a spread is above 0: k equal squares have mean k and error √k."""
    return math.floor(NormalDist().inv_cdf(alpha) ** 2) + 1


def alike(z: FloatArray, variance: FloatArray, drawn: Plausible, count: float, alpha: float) -> FloatArray | None:
    """The reach (K, K) with which an arm seems to lead so many contexts by the margin where it falls just short of it.

    That is how far estimates alone go, at rate alpha: an arm that is like another, or leads it by less than the margin,
    seems to lead fewer. variance : (n, K) of the bands. count : of contexts. None where there are too many arms or
    contexts to know.
    """
    K, compared = len(drawn.known), sampled_rows(len(z), COMPARED)
    few, variance = z[compared], variance[compared]
    place, last = int(count * len(few) / len(z)), len(drawn.theta) - 1
    if K > MOST_ARMS or place < 1:
        return None
    errors, reach = drawn.theta[1:] - drawn.theta[0], np.full((K, K), np.inf)
    known = np.flatnonzero(drawn.known)
    for a, b in ((a, b) for a in known for b in known if a < b):
        width = np.sqrt(variance[:, a] + variance[:, b])
        wide = width > 0
        if np.count_nonzero(wide) < place:  # contexts of zeros show nothing
            continue
        leads = (errors[:, a] - errors[:, b]) @ few[wide].T / width[wide]
        shown = np.sort(np.partition(leads, -place, axis=1)[:, -place])
        reach[a, b] = reach[b, a] = max(float(shown[min(math.ceil((1 - alpha) * (last + 1)), last) - 1]), 0.0)
    return reach


def _leads(across: FloatArray, drawn: Plausible, draw: int, margin: float) -> BoolArray:
    """Which arm leads each context (K, n) by the margin with one draw of the coefficients; the contexts are (r, n)."""
    means = drawn.theta[draw] @ across
    means[~drawn.known] = -np.inf
    top = means.max(axis=0)
    near = (means > top - margin).sum(axis=0, dtype=np.int32)
    return np.asarray((means == top) & (near <= 1))
