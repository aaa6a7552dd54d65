"""What contexts show: in which an arm surely leads, in which it may, and what follows for the two questions.

*Diverse?* P_a is the share of contexts in which arm a leads by the margin m or more. How far those contexts spread is
S_a = λ_min(E[zzᵀ 1{a leads by m}]), in whitened coordinates z: 1/K where K arms share all contexts evenly, 0 where they
do not span. Contexts are diverse if every P_a is at least `LEAST_SHARE`/K and every S_a at least `LEAST_SPREAD`/(K·r).
*Gap?* There is one if some arm leads by m in all but at most `MOST_LEADLESS` of the contexts.

Mean rewards are known within bands. A context that an arm surely leads counts for "yes", one that it may lead counts
against "no"; so do those that it leads with coefficients at the edge of what is plausible.
"""

from dataclasses import dataclass

import numpy as np

from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.diversity.fits import Bands
from armspan.diversity.plausible import Plausible, alike, fewest, led
from armspan.diversity.sample import Sample

LEAST_SHARE, LEAST_SPREAD, MOST_LEADLESS = 0.015, 0.01, 0.01
MISSED = 2.0
"""What an upper limit is multiplied by for contexts that narrower bands may have missed."""
ROUNDING = 1e-12
"""A spread below this is 0; in whitened features the largest is about 1."""
PART = 5
"""Each kind of error (bands, shares and spreads, linearity) gets a fifth of the level: adaptive logging policies make
nominal bands miss more often than they should, and the rest makes up for that."""
HALF = PART / 2
"""What goes by plausible coefficients is wrong in half of the level, so many times as often as the rest; so are limits
of contexts against an arm. All that turned out to be wrong far less often than it may be (docs/accuracy.md)."""
LEVEL = 0.05
"""How often an answer may be wrong, if nothing else is asked for."""
MARGIN = 0.05
"""The margin m, as a share of the rewards' standard deviation."""


@dataclass(frozen=True, eq=False)
class Leaders:
    """surely : (n,) the arm that leads a context by the margin for certain, -1 where none does. may : (n, K)."""

    surely: IntArray
    may: BoolArray


@dataclass(frozen=True, eq=False)
class Evidence:
    """Limits of the numbers that the questions are about; each limit is wrong with a small stated probability.

    share, spread : (K, 2) of P_a and S_a. leadless : (2,) of the share of contexts in which no arm leads by the margin.
    weakest : (K, r) the direction in which each arm's contexts spread least. needed : the least P_a and S_a for "yes".
    """

    share: FloatArray
    spread: FloatArray
    leadless: tuple[float, float]
    weakest: FloatArray
    needed: tuple[float, float]

    @property
    def diverse(self) -> str:
        """The answer to the first question."""
        least_share, least_spread = self.needed
        if ((self.share[:, 1] < least_share) | (self.spread[:, 1] < least_spread)).any():
            return "no"
        sure = (self.share[:, 0] >= least_share) & (self.spread[:, 0] >= least_spread)
        return "yes" if sure.all() else "not known"

    @property
    def gap(self) -> str:
        """The answer to the second question."""
        low, high = self.leadless
        return "no" if low > MOST_LEADLESS else "yes" if high <= MOST_LEADLESS else "not known"


def both(diverse: str, gap: str) -> str:
    """Whether theory promises constant regret: yes if both are yes, no if either is no."""
    return "no" if "no" in (diverse, gap) else "yes" if diverse == gap == "yes" else "not known"


def leaders(bands: Bands, margin: float, *, sure: FloatArray, may: FloatArray) -> Leaders:
    """Who surely leads, and who may, by these kinds of the bands' reach.

    Of all others, an arm is compared with those that can most likely refute it: the two that look best and the one
    that is surely best.
    """
    n, K = bands.means.shape
    rows, known = np.arange(n), np.isfinite(np.diag(may))
    if not known.any():
        return Leaders(np.full(n, -1), np.ones((n, K), dtype=bool))
    means, variance = np.where(known, bands.means, -np.inf), bands.variance
    best_two = np.argsort(-means, axis=1, kind="stable")[:, :2]
    low = np.where(known, means - may[known][:, known].max() * np.sqrt(variance), -np.inf)
    rivals = [(rival, means[rows, rival], variance[rows, rival]) for rival in (*best_two.T, np.argmax(low, axis=1))]
    top, height, width = rivals[0]
    leads, can = np.full(n, bool(known.all())), np.ones((n, K), dtype=bool)
    for b in np.flatnonzero(known):
        half = bands.half(sure[top, b], width, variance[:, b])
        leads &= (top == b) | (height - means[:, b] - half >= margin)
        for rival, theirs, spread in rivals:
            half = bands.half(may[b, rival], variance[:, b], spread)
            can[:, b] &= (rival == b) | ~(means[:, b] - theirs + half < margin)
    return Leaders(np.where(leads, top, -1), can)


def evidence(sample: Sample, bands: Bands, margin: float, alpha: float, drawn: Plausible | None = None) -> Evidence:
    """Limits from a sample of contexts; alpha : the error probability of each limit. drawn : plausible coefficients.

    Limits come from bands that hold in all contexts at once. In addition, an arm's share and spread are said to be
    below what is needed, and no more than that, if they are so with nearly all plausible coefficients; and to reach
    it, if they do so by bands that arms that are alike would seldom pass, and that hold in any one context. And there
    is a second limit of the contexts without a leader; the smaller of the two counts. It comes from bands that hold
    only in each context singly and are narrower: a share β of those contexts is expected to be missed, half of them
    with probability 2β at most (Markov's inequality); so that limit is multiplied by `MISSED`.
    """
    everywhere = leaders(bands, margin, sure=bands.one_arm, may=bands.all_arms)
    mostly = leaders(bands, margin, sure=bands.mostly, may=bands.mostly)
    K, r = mostly.may.shape[1], sample.z.shape[-1]
    needed = LEAST_SHARE / K, LEAST_SPREAD / (K * r)
    below = np.nextafter(needed, 0.0)
    against = HALF * alpha
    plausible = led(sample.z, drawn, margin, against) if drawn else {}
    share, spread, weakest = np.empty((K, 2)), np.empty((K, 2)), np.empty((K, r))
    for a in range(K):
        own = sample.arm(a)
        sure, may = everywhere.surely == a, everywhere.may[:, a]
        share[a] = own.low(sure, alpha), own.high(may, alpha / K)
        most, weakest[a] = own.most_spread(may, alpha)
        spread[a] = own.least_spread(sure, alpha), min(most, 1.0)
        if a in plausible and own.high(plausible[a].by_share, against / K) < needed[0]:
            share[a, 1] = min(share[a, 1], below[0])
        if a in plausible and own.most_spread(plausible[a].by_spread, against)[0] < needed[1]:
            spread[a, 1] = min(spread[a, 1], below[1])
    if drawn:
        enough = _enough(sample, bands, margin, alpha, drawn)
        for limits, least, which in zip((share, spread), needed, enough, strict=True):
            limits[which, 0] = np.maximum(limits[which, 0], least)
    spread[spread < ROUNDING] = 0.0
    uncertain = (sample.high(found.surely < 0, alpha) for found in (everywhere, mostly))
    surest, most = uncertain
    leadless = sample.low(np.asarray(~everywhere.may.any(axis=1)), alpha), min(surest, MISSED * most, 1.0)
    return Evidence(share, spread, leadless, weakest, needed)


def _enough(sample: Sample, bands: Bands, margin: float, alpha: float, drawn: Plausible) -> BoolArray:
    """Which arms' shares, and which arms' spreads (2, K), are as large as needed against arms that are alike."""
    K, r = bands.means.shape[1], sample.z.shape[1]

    def reached(reach: FloatArray) -> BoolArray:
        surely = leaders(bands, margin, sure=reach, may=bands.mostly).surely
        share = [sample.low(surely == a, alpha) >= LEAST_SHARE / K for a in range(K)]
        return np.array([share, [sample.least_spread(surely == a, alpha) >= LEAST_SPREAD / (K * r) for a in range(K)]])

    hoped = reached(bands.one_side)
    reach = alike(sample.z, bands.variance, drawn, fewest(alpha) / sample.times, HALF * alpha) if hoped.all() else None
    return np.zeros_like(hoped) if reach is None else reached(np.clip(reach, bands.one_side, bands.one_arm))


def best_shares(sample: Sample, bands: Bands, alpha: float) -> FloatArray:
    """Limits (K, 2) of the share of contexts in which each arm is best, which hold for all arms at once."""
    found = leaders(bands, 0.0, sure=bands.all_arms, may=bands.all_arms)
    K = found.may.shape[1]
    low = [sample.low(found.surely == a, alpha / K) for a in range(K)]
    return np.column_stack([low, [sample.high(found.may[:, a], alpha / K) for a in range(K)]])
