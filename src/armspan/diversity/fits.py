"""What a log says about each arm's mean reward in a context: least squares, with bands for all contexts at once.

Features are whitened first: z = Wᵀx with E[zzᵀ] = I over the log's contexts, in as many directions as these vary in. So
units do not matter, and columns that are combinations of others cost nothing. There is no ridge: an arm with few rows
is not known, and a ridge would only hide that.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from armspan._typing import BoolArray, FloatArray, IntArray
from armspan.diversity.groups import Groups
from armspan.diversity.quantiles import f_quantile
from armspan.errors import InvalidParameter

FEWEST_ROWS = 20
RANK = 1e-9
"""Mean squares below this, relative to the largest, are not trusted: in squares, half of the digits are lost."""
TINY = 1e-11
"""Directions in which scaled contexts vary by less than this, relative to the largest, are none."""
DROWNED = 1e-10
CONSTANT = 1e-6
"""The part of a constant that features may fail to say, which is rounding."""
RIVALS = 3
"""Arms that an arm is compared with in each context: the two that look best, and the one that is surely best."""
MOST_PRODUCTS = 30
"""Products of features that the test of linearity looks at."""
FEWEST_EACH_WAY, LOOKED_AT = 5.0, 16
"""An arm that is known from fewer rows than this in some direction, such as where a rare flag is set, is not believed
where coefficients are drawn: a policy that learns gives an arm up there after a few rewards by which it looks bad, and
then those are all there is. From fewer groups than this, nothing is known of it. And how many rows, those that matter
most, are looked at for that."""
MOST_PAIRED = 20
"""Arms of which each pair is looked at: whether groups like one and dislike the other."""


class Whitened(NamedTuple):
    """Contexts z (n, r) with E[zzᵀ] = I, and how they are computed from features.

    even : (n, d) features at one scale, x_j/rms(x_j). weights : (d, r) with z = even·weights. missing : (d, d - r)
    directions of x in which contexts do not vary.
    """

    z: FloatArray
    even: FloatArray
    weights: FloatArray
    missing: FloatArray


def whiten(X: FloatArray) -> Whitened:
    """Contexts X (n, d) in whitened coordinates, of which there may be fewer."""
    largest = np.abs(X).max(axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    rms = np.sqrt(((X / largest) ** 2).mean(axis=0))
    rms = np.where(rms > 0, rms, 1.0)
    even = X / largest / rms
    values, vectors = np.linalg.eigh(even.T @ even / len(X))
    if values[0] > RANK * values[-1]:
        weights = vectors / np.sqrt(values)
        return Whitened(even @ weights, even, weights, np.empty((X.shape[1], 0)))
    Q, R = np.linalg.qr(even)
    U, sizes, directions = np.linalg.svd(R)
    r, n = int((sizes > TINY * sizes[0]).sum()), len(X)
    weights = directions[:r].T * (math.sqrt(n) / sizes[:r])
    return Whitened(math.sqrt(n) * (Q @ U[:, :r]), even, weights, directions[r:].T / (largest * rms)[:, None])


def says_constant(z: FloatArray) -> bool:
    """Whether whitened contexts z (n, r) have a constant among them, or one that is a sum of them."""
    mean = z.mean(axis=0)  # as E[zzᵀ] = I, the constant 1 is mean·z and a rest of this mean square:
    return bool(1 - mean @ mean <= CONSTANT)


def check_sizes(X: FloatArray, features: Sequence[Any]) -> None:
    """Refuse columns of contexts (n, d) or (n, K, d) whose differences would be lost beside their size."""
    rows = X.reshape(len(X), -1)
    differences, size = np.abs(rows - rows[0]).max(axis=0), np.abs(rows).max(axis=0)
    drowned = np.flatnonzero((differences > 0) & (differences < DROWNED * size))
    if drowned.size:
        feature, first = features[int(drowned[0]) % X.shape[-1]], float(rows[0, drowned[0]])
        raise InvalidParameter(
            f"features must be constant, or differ by {DROWNED:g} of their size or more: subtract {first:.17g} "
            f"from {feature!r}, or leave it out"
        )


@dataclass(frozen=True, eq=False)
class Fits:
    """Each arm's least squares in whitened coordinates.

    theta : (K, r). rows : (K,). groups : (K,) of how many groups; as many as rows where each row stands for itself.
    each_way, thin : (K,), (K, r) of how many of them, in effect, in the direction in which fewest tell, and which that
        is. known : (K,) whether an arm has enough of them to say anything. freedom : (K,) degrees of freedom.
    covariance : (K, 2, r, r) of theta, once for noise that is the same in all contexts and independent, once for any
        noise, which may depend on that of other rows in a group. wider : (K, K) how many times as wide as the sum of
        the arms' variances says the band of a difference must be, where groups like one arm and dislike the other.
    gram : (K, r, r) Σzzᵀ of the arm's rows. noise : the standard deviation of the residuals of all known arms.
    crooked : (K,) how far the mean reward is from linear, as a standard deviation over contexts; 0 where nothing shows.
    """

    theta: FloatArray
    rows: IntArray
    groups: IntArray
    each_way: FloatArray
    thin: FloatArray
    known: BoolArray
    freedom: IntArray
    covariance: FloatArray
    wider: FloatArray
    gram: FloatArray
    noise: float
    crooked: FloatArray


def fewest_rows(rank: int) -> int:
    """With this many rows or groups, or fewer, an arm is not known at all."""
    return max(FEWEST_ROWS, 2 * rank)


def fit_arms(
    white: Whitened, arms: IntArray, rewards: FloatArray, n_arms: int, alpha: float, groups: Groups | None = None
) -> Fits:
    """Fit every arm; alpha : the error probability of the test of linearity, over all arms."""
    z, r = white.z, white.z.shape[1]
    groups = Groups(len(z)) if groups is None else groups
    theta, gram = np.zeros((n_arms, r)), np.zeros((n_arms, r, r))
    covariance, known, crooked = np.zeros((n_arms, 2, r, r)), np.zeros(n_arms, dtype=bool), np.zeros(n_arms)
    counts, each_way, thin = np.zeros(n_arms, dtype=np.int64), np.zeros(n_arms), np.zeros((n_arms, r))
    moved, freedom = dict[int, FloatArray](), np.ones(n_arms, dtype=np.int64)
    squares, left = 0.0, 0
    for a in range(n_arms):
        mine = arms == a
        Z, y, own = z[mine], rewards[mine], groups.some(mine)
        gram[a], counts[a] = Z.T @ Z, own.count
        if own.count <= fewest_rows(r) or np.linalg.eigvalsh(gram[a])[0] <= RANK * len(Z):
            continue
        inverse = np.asarray(np.linalg.inv(gram[a]), dtype=np.float64)
        each_way[a], thin[a] = rows_each_way(Z, inverse, own)
        freedom[a] = own.count - r
        if own.numbers is not None:
            if each_way[a] < FEWEST_EACH_WAY:
                continue
            freedom[a] = max(min(freedom[a], math.floor(each_way[a]) - 1), 1)
        theta[a] = inverse @ (Z.T @ y)
        residuals = y - Z @ theta[a]
        known[a], squares, left = True, squares + float(residuals @ residuals), left + len(Z) - r
        leverage = own.sums(forms(Z, inverse))
        moved[a] = own.sums(Z * residuals[:, None]) / np.maximum(1 - leverage, 0.1)[:, None] @ inverse
        covariance[a, 0] = inverse * float(residuals @ residuals) / (len(Z) - r)
        covariance[a, 1] = moved[a].T @ moved[a]
        crooked[a] = _crooked(Z, white.even[mine], residuals, alpha / n_arms, own)
    noise = math.sqrt(squares / left) if left else 0.0
    mean_squares = np.einsum("kij,kji->k", covariance[:, 0], gram) / r
    for same in np.flatnonzero(known & (mean_squares <= (RANK * noise) ** 2)):  # rewards that never differ, as no click
        covariance[same, 0] = np.linalg.inv(gram[same]) * noise**2 / groups.some(arms == same).worth
    wider = np.ones((n_arms, n_arms)) if groups.numbers is None else _wider(groups, arms, moved, n_arms)
    rows = np.bincount(arms, minlength=n_arms)
    return Fits(theta, rows, counts, each_way, thin, known, freedom, covariance, wider, gram, noise, crooked)


def _wider(groups: Groups, arms: IntArray, moved: Mapping[int, FloatArray], n_arms: int) -> FloatArray:
    """By how much groups that like one arm and dislike another make their difference vary (K, K), at least 1.

    moved : by how much each group of an arm moves its estimate. Not looked at for many arms: it is √2 at most.
    """
    if n_arms > MOST_PAIRED:
        return np.full((n_arms, n_arms), math.sqrt(2.0))
    wider = np.ones((n_arms, n_arms))
    shifts = {}
    for a, own in moved.items():
        shifts[a] = np.zeros((groups.count, own.shape[1]))
        shifts[a][groups.present(arms == a)] = own
    for a, b in combinations(shifts, 2):
        values, vectors = np.linalg.eigh(shifts[a].T @ shifts[a] + shifts[b].T @ shifts[b])
        kept = values > RANK * values[-1]
        root = vectors[:, kept] / np.sqrt(values[kept])
        apart = (shifts[a] - shifts[b]) @ root
        most = np.linalg.eigvalsh(apart.T @ apart)[-1] if kept.any() else 1.0
        wider[a, b] = wider[b, a] = math.sqrt(max(float(most), 1.0))
    return wider


def rows_each_way(Z: FloatArray, inverse: FloatArray, groups: Groups) -> tuple[float, FloatArray]:
    """From how many of the rows Z (m, r), or groups of them, an arm is known in the direction of which fewest tell.

    Rows tell of a direction by their squares along it: n equal ones are n rows, one large one is hardly more than one.
    The directions are those that most depend on a single row, or group; inverse : of ZᵀZ. And which direction that is.
    """
    leverage = forms(Z, inverse)
    heads = groups.largest(leverage)
    shares = groups.sums(leverage)
    most = heads[np.argpartition(shares, -min(LOOKED_AT, len(shares)))[-LOOKED_AT:]]
    most = most[leverage[most] > 0]  # not rows of zeros
    directions = inverse @ Z[most].T
    squares = groups.sums((Z @ directions) ** 2)
    effective = squares.sum(axis=0) ** 2 / (squares**2).sum(axis=0)
    fewest = int(np.argmin(effective))
    return float(effective[fewest]), directions[:, fewest] / np.linalg.norm(directions[:, fewest])


def added(Z: FloatArray, y: FloatArray, groups: Groups) -> tuple[float, float] | None:
    """The coefficient of the last of the features Z (m, q), and its variance for any noise; None if it is not known."""
    gram, freedom = Z.T @ Z, len(Z) - Z.shape[1]
    sizes = np.sqrt(np.diag(gram))
    if sizes[-1] == 0 or freedom < 1 or np.linalg.eigvalsh(gram / np.outer(sizes, sizes))[0] <= RANK:
        return None
    inverse = np.asarray(np.linalg.inv(gram), dtype=np.float64)
    fitted = inverse @ (Z.T @ y)
    residuals = y - Z @ fitted
    same = float(inverse[-1, -1]) * float(residuals @ residuals) / freedom
    moved = groups.sums(Z @ inverse[-1] * residuals) / np.maximum(1 - groups.sums(forms(Z, inverse)), 0.1)
    return float(fitted[-1]), max(same, float(np.square(moved).sum()))


def forms(z: FloatArray, A: FloatArray) -> FloatArray:
    """zᵀAz of each row of z (n, r)."""
    return np.asarray(((z @ A) * z).sum(axis=1))


def _crooked(Z: FloatArray, even: FloatArray, residuals: FloatArray, alpha: float, groups: Groups) -> float:
    """How far rewards are from linear in an arm's contexts Z (m, r), by squares and products of features `even`."""
    r, m = Z.shape[1], groups.count
    first, second = np.triu_indices(even.shape[1])
    order = np.argsort(first != second, kind="stable")[: min(MOST_PRODUCTS, max(m // 20, 1))]  # squares first
    products = even[:, first[order]] * even[:, second[order]]
    products = products - Z @ np.linalg.lstsq(Z, products, rcond=None)[0]
    products = products[:, np.linalg.norm(products, axis=0) > 1e-6 * math.sqrt(len(Z))]
    if not products.shape[1]:
        return 0.0
    basis, sizes, _ = np.linalg.svd(products, full_matrices=False)
    basis = basis[:, sizes > 1e-8 * sizes[0]]
    q = basis.shape[1]
    if m - r - q < 20:
        return 0.0
    scores = basis.T @ residuals
    meat = groups.sums(basis * residuals[:, None])
    wald = float(scores @ np.linalg.lstsq(meat.T @ meat, scores, rcond=None)[0])  # for any noise
    if wald < q * f_quantile(1 - alpha, q, m - r - q):
        return 0.0
    left = groups.sums(basis * (residuals - basis @ scores)[:, None])
    excess = float(scores @ scores) - float((left**2).sum()) * m / (m - r - q)
    return math.sqrt(max(excess, 0.0) / len(Z))


class Bands(NamedTuple):
    """Means (n, K) of each arm in each context, and what their differences may be off by.

    A difference between arms a and b is off by at most reach[a, b]·√(variance[a] + variance[b]), or, where widths add,
    by reach[a, b]·(√variance[a] + √variance[b]). There are four kinds of reach (K, K), infinite for arms that are not
    known: `all_arms` holds in all contexts and for all pairs of arms at once, `one_arm` in all contexts and for all
    pairs of any one arm, `mostly` in any one context for the few pairs that decide about any one arm, `one_side` in
    any one context for one pair, and only as an upper limit of the difference or only as a lower one.
    """

    means: FloatArray
    variance: FloatArray
    all_arms: FloatArray
    one_arm: FloatArray
    mostly: FloatArray
    one_side: FloatArray
    add: bool

    def half(self, reach: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
        """Half the band of a difference, from the reach and the two variances."""
        with np.errstate(invalid="ignore"):
            half = reach * (np.sqrt(one) + np.sqrt(other) if self.add else np.sqrt(one + other))
        return np.where(np.isnan(half), np.inf, half)  # nothing is known, in a context of zeros too

    def some(self, step: int) -> "Bands":
        """The same for every so many-th context."""
        return self._replace(means=self.means[::step], variance=self.variance[::step])

    def narrower(self, factor: float) -> "Bands":
        """The same with bands this many times as narrow."""
        reaches = {kind: getattr(self, kind) / factor for kind in ("all_arms", "one_arm", "mostly", "one_side")}
        return self._replace(**reaches)


def scheffe(z: FloatArray, fits: Fits, alpha: float) -> Bands:
    """Bands by Scheffé's method for contexts at once, by Student's for one, with Bonferroni's correction over pairs."""
    K, r = fits.theta.shape
    variance = np.zeros((len(z), K))
    for a in np.flatnonzero(fits.known):
        variance[:, a] = np.maximum(*(forms(z, fits.covariance[a, kind]) for kind in (0, 1)))
    freedom = np.minimum(fits.freedom[:, None], fits.freedom[None, :])
    both = fits.known[:, None] & fits.known[None, :]
    reaches = []
    kinds = ((r, alpha / (K * (K - 1) // 2)), (r, alpha / (K - 1)), (1, alpha / (RIVALS * K)), (1, 2 * alpha))
    for dimensions, part in kinds:
        reach = np.full((K, K), np.inf)
        for n in np.unique(freedom[both]):
            reach[both & (freedom == n)] = math.sqrt(dimensions * f_quantile(1 - part, dimensions, int(n)))
        reaches.append(reach * fits.wider)
    all_arms, one_arm, mostly, one_side = reaches
    return Bands(z @ fits.theta.T, variance, all_arms, one_arm, mostly, one_side, add=False)


def mixture(z: FloatArray, fits: Fits, alpha: float, noise_scale: float) -> Bands:
    """Bands that hold under any logging policy, however it used what it saw, if noise is noise_scale-subgaussian.

    With S = Σεz of an arm's rows, the method of mixtures bounds ‖S‖ in the norm of (G + G₀)⁻¹, G = Σzzᵀ, for all times
    at once; G₀ = r·I is the mixture's precision, in whitened coordinates. Then θ̂ - θ = G⁻¹S.
    """
    K, r = fits.theta.shape
    variance = np.zeros((len(z), K))
    prior = r * np.eye(r)
    for a in np.flatnonzero(fits.known):
        whole = fits.gram[a] + prior
        gain = np.linalg.slogdet(whole)[1] - np.linalg.slogdet(prior)[1]
        inverse = np.linalg.inv(fits.gram[a])
        radius_2 = noise_scale**2 * (gain + 2 * math.log(K / alpha))
        variance[:, a] = radius_2 * forms(z, inverse @ whole @ inverse)
    reach = np.where(fits.known[:, None] & fits.known[None, :], 1.0, np.inf)
    return Bands(z @ fits.theta.T, variance, reach, reach, reach, reach, add=True)


def exact(means: FloatArray) -> Bands:
    """Bands of no width, where mean rewards (n, K) are known."""
    nothing = np.zeros((means.shape[1], means.shape[1]))
    return Bands(means, np.zeros_like(means), nothing, nothing, nothing, nothing, add=False)
