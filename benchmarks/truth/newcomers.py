"""Families of problems on finite lists of contexts: most have an arm that is not diverse for a reason hard to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from .loggers import Array, sums_between, two_best
from .problems import SHARE, SPREAD, TIE, Problem

Rng = np.random.Generator
TRIES = 12


class Family(NamedTuple):
    """A family: what it is in words, its sizes (K, d), and how to draw one problem (None: try again)."""

    words: str
    sizes: tuple[tuple[int, int], ...]
    draw: Callable[[int, int, Rng], Problem | None]


@dataclass(frozen=True, eq=False)
class Loud(Problem):
    """A problem with normal or skewed noise whose standard deviation depends on the arm."""

    loudness: Array | None = None
    skewed: bool = False

    def _noise_variances(self, U: Array, F: Array, weight: Array) -> Array:
        scale = np.ones(self.n_arms) if self.loudness is None else self.loudness
        return np.asarray((self.sigma * scale) ** 2)

    def _outcomes(self, U: Array, F: Array, rng: Rng) -> Array:
        scale = np.ones(self.n_arms) if self.loudness is None else self.loudness
        draws = rng.exponential(1.0, len(U)) - 1.0 if self.skewed else rng.standard_normal(len(U))
        return np.asarray(F + np.multiply.outer(draws, self.sigma * scale))


def _rooms(problem: Problem, margin: float) -> Array:
    """The smaller of P and S of every arm, as multiples of their thresholds."""
    truth = problem.truth(margin)
    K = problem.n_arms
    return np.asarray(np.minimum(truth.P * K / SHARE, truth.S * K * problem.rank / SPREAD))


def _quick_room(U: Array, p: Array, theta: Array, margin: float) -> float:
    """The least room of all arms at a given margin."""
    K, d = theta.shape
    best, lead = two_best(np.ascontiguousarray(U @ theta.T))
    P, moments = sums_between(U, p, best, lead, max(margin, TIE), np.inf, K)
    values, vectors = np.linalg.eigh((U * p[:, None]).T @ U)
    root = vectors / np.sqrt(np.maximum(values, 1e-12))
    S = np.linalg.eigvalsh(root.T @ moments @ root)[:, 0]
    return float(min(P.min() * K / SHARE, S.min() * K * d / SPREAD))


def _even(n: int) -> Array:
    return np.full(n, 1.0 / n)


def _zipf(n: int, rng: Rng, power: float = 0.8) -> Array:
    """Very unequal probabilities in random order."""
    p = rng.permutation(1.0 / np.arange(1, n + 1) ** power)
    return np.asarray(p / p.sum())


def _cloud(n: int, d: int, rng: Rng) -> Array:
    """An intercept and d - 1 numbers: normal, even, heavy-tailed or in clusters."""
    kind = rng.integers(4)
    if kind == 0:
        rest = rng.standard_normal((n, d - 1))
    elif kind == 1:
        rest = rng.uniform(-1.7, 1.7, (n, d - 1))
    elif kind == 2:
        rest = rng.standard_t(4, (n, d - 1)) / 1.4
    else:
        centres = rng.standard_normal((3 * d, d - 1))
        rest = centres[rng.integers(3 * d, size=n)] + 0.4 * rng.standard_normal((n, d - 1))
    return np.column_stack([np.ones(n), rest])


def _arms(K: int, U: Array, p: Array, rng: Rng, tries: int = 6) -> Array:
    """Arms that all lead somewhere: the roomiest of a few random draws with levelled intercepts."""
    top, chosen = -1.0, rng.standard_normal((K, U.shape[1]))
    constant = bool((U[:, 0] == 1.0).all())
    for _ in range(tries):
        theta = rng.standard_normal((K, U.shape[1]))
        theta /= np.sqrt((theta[:, 1:] ** 2).sum(1, keepdims=True)) / rng.uniform(0.8, 1.3, (K, 1))
        if constant:
            theta[:, 0] *= 0.2
            for step in range(10):
                shares = np.bincount((U @ theta.T).argmax(1), weights=p, minlength=K)
                theta[:, 0] -= (0.8 / (1 + 0.3 * step)) * (shares - 1 / K)
        room = _quick_room(U, p, theta, 0.05)
        if room > top:
            top, chosen = room, theta
    return chosen


def _view(d: int, rng: Rng) -> Array | None:
    """How the features are shown: as they are, rescaled, or mixed with unequal scales."""
    kind = rng.integers(3)
    if kind == 0:
        return None
    scales = np.diag(10.0 ** rng.uniform(-0.7, 1.0, d))
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0] if kind == 2 else np.eye(d)
    return np.asarray(turn @ scales)


def _problem(name: str, U: Array, p: Array, theta: Array, rng: Rng, loud: int | None = None) -> Problem:
    """A problem with random noise, features shown in a random way, and its arms in random order."""
    K, d = theta.shape
    order = rng.permutation(K)
    sigma = float(10.0 ** rng.uniform(-0.7, 0.4))
    view, kind = _view(d, rng), int(rng.integers(5))
    U = np.ascontiguousarray(U, dtype=np.float64)
    p = np.asarray(p / p.sum())
    if loud is not None or kind >= 3:
        loudness = rng.uniform(0.5, 1.5, K)
        if loud is not None:
            loudness[loud] = rng.uniform(2.0, 4.0)
        return Loud(
            name, K, d, theta[order], sigma, points=U, probs=p, view=view, loudness=loudness[order], skewed=kind == 4
        )
    tilt = rng.uniform(-0.6, 0.6, K) if kind == 1 else None
    noise = ("normal", "uneven", "student")[kind]
    return Problem(name, K, d, theta[order], sigma, points=U, probs=p, noise=noise, tilt=tilt, view=view)


def _fails(problem: Problem | None, weak: int, least: float = 1.1) -> Problem | None:
    """The problem if it is not diverse at both margins while all arms but the `weak` weakest have room."""
    if problem is None or any(problem.truth(m).diverse for m in problem.margins):
        return None
    rooms = np.sort(_rooms(problem, problem.margins[1]))
    return problem if weak >= len(rooms) or rooms[weak] >= least else None


def _holds(problem: Problem, least: float = 2.0) -> Problem | None:
    """The problem if it is diverse at both margins with room to spare."""
    if not all(problem.truth(m).diverse for m in problem.margins):
        return None
    return problem if _rooms(problem, problem.margins[1]).min() >= least else None


def _tuned(make: Callable[[float], Problem], poor: float, rich: float, rng: Rng, part: float = 1.0) -> Problem | None:
    """The problem between a poor and a rich value of a knob whose weakest arm is a little short of what it needs."""
    goal, found = float(rng.uniform(0.3, 0.95)), None
    for _ in range(11):
        middle = (poor + rich) / 2
        problem = make(middle)
        if _rooms(problem, part * problem.margins[0]).min() <= goal:
            poor, found = middle, problem
        else:
            rich = middle
    return found


def _again(make: Callable[[int, int, Rng], Problem | None]) -> Callable[[int, int, Rng], Problem | None]:
    """The first of a few attempts that succeeds."""

    def draw(K: int, d: int, rng: Rng) -> Problem | None:
        for _ in range(TRIES):
            problem = make(K, d, rng)
            if problem is not None:
                return problem
        return None

    return draw


def _pulled(U: Array, theta: Array, arm: int, lead: float, share: float, rng: Rng) -> Array:
    """Contexts that an arm leads, moved: a share into one hyperplane, the rest to where its lead is just `lead`."""
    F = U @ theta.T
    rows = np.flatnonzero(F.argmax(1) == arm)
    out = U.copy()
    if len(rows) == 0:
        return out
    v = rng.standard_normal(U.shape[1] - 1)
    v /= np.linalg.norm(v)
    flat = rng.random(len(rows)) < share
    kept, moved = rows[flat], rows[~flat]
    along = U[:, 1:] @ v
    out[kept, 1:] -= np.multiply.outer(along[kept] - np.median(along[rows]), v)
    others = F[moved].copy()
    others[:, arm] = -np.inf
    second = others.argmax(1)
    delta = theta[arm, 1:] - theta[second, 1:]
    excess = F[moved, arm] - F[moved, second] - lead
    out[moved, 1:] -= delta * (excess / np.maximum((delta**2).sum(1), 1e-12))[:, None]
    return out


def _creases(K: int, d: int, rng: Rng) -> Problem | None:
    U = _cloud(1000, d, rng)
    theta = _arms(K, U, _even(1000), rng)
    s, share = rng.choice([0.0, rng.uniform(0.5, 0.95)]), rng.uniform(0.2, 0.7)
    state = int(rng.integers(2**31))
    m, problem = 0.0, None
    for _ in range(2):
        V = _pulled(U, theta, 0, float(s) * m, share, np.random.default_rng(state))
        problem = _problem("creases", V, _even(1000), theta, np.random.default_rng(state + 1))
        m = problem.margins[0]
    return _fails(problem, 1)


def _all_creases(K: int, d: int, rng: Rng) -> Problem | None:
    U = _cloud(1200, d, rng)
    theta = _arms(K, U, _even(1200), rng)
    share = rng.uniform(0.2, 0.6)
    for arm in range(K):
        U = _pulled(U, theta, arm, 0.0, share, rng)
    return _fails(_problem("all creases", U, _even(1200), theta, rng), K)


def _blocks(d: int, n: int, rng: Rng) -> tuple[Array, Array, Array]:
    """Categories by numbers: every category has its own intercept and slope. Contexts, probabilities, categories."""
    G = d // 2
    g, x = rng.integers(G, size=n), rng.standard_normal(n)
    U = np.zeros((n, d))
    U[np.arange(n), 2 * g], U[np.arange(n), 2 * g + 1] = 1.0, x
    return U, _even(n), g


def _lines(K: int, rng: Rng) -> Array:
    """K lines (intercept, slope) of which every one leads somewhere in the bulk of a standard normal."""
    cuts = np.quantile(rng.standard_normal(400), (np.arange(1, K) + rng.uniform(-0.2, 0.2, K - 1)) / K)
    slopes = np.cumsum(rng.uniform(0.6, 1.4, K))
    levels = np.concatenate([[0.0], -np.cumsum(np.diff(slopes) * cuts)])
    return np.column_stack([levels, slopes - slopes.mean()])


def _block_arms(K: int, d: int, rng: Rng) -> Array:
    """Arms of which every one leads somewhere in every category."""
    return np.hstack([_lines(K, rng)[rng.permutation(K)] for _ in range(d // 2)])


def _patchwork(K: int, d: int, rng: Rng) -> Problem | None:
    U, p, _ = _blocks(d, 900, rng)
    theta = _block_arms(K - 1, d, rng)
    copy = np.concatenate([theta[rng.integers(K - 1), 2 * g : 2 * g + 2] for g in range(d // 2)])
    return _fails(_problem("patchwork", U, p, np.vstack([theta, copy]), rng), K)


def _interaction(K: int, d: int, rng: Rng) -> Problem | None:
    U, p, g = _blocks(d, 900, rng)
    theta = _block_arms(K, d, rng)
    slope = theta[:, 1]
    first, second = (int(a) for a in np.argsort(slope)[-2:])
    theta[first, :2] = theta[second, :2]
    p = np.where(g == 0, rng.uniform(0.1, 1.0), 1.0)
    return _fails(_problem("interaction", U, p, theta, rng), 2)


def _crossings(K: int, d: int, rng: Rng) -> Problem | None:
    U, p, g = _blocks(d, 1000, rng)
    theta = _block_arms(K - 1, d, rng)
    blend = np.zeros(d)
    for c in range(d // 2):
        part = theta[:, 2 * c : 2 * c + 2]
        order = np.argsort(part[:, 1])
        place = int(rng.integers(K - 2))
        one, two = part[order[place]], part[order[place + 1]]
        w = rng.uniform(0.3, 0.7)
        blend[2 * c : 2 * c + 2] = w * one + (1 - w) * two
        cross = (one[0] - two[0]) / (two[1] - one[1])
        rows = np.flatnonzero((g == c) & (rng.random(1000) < 0.35))
        U[rows, 2 * c + 1] = cross + rng.choice([0.0, 0.02]) * rng.standard_normal(len(rows))
    return _fails(_problem("crossings", U, p, np.vstack([theta, blend]), rng), 1)


def _interpolated(name: str, atoms: Array, p: Array, K: int, rng: Rng) -> Problem | None:
    """An arm that leads clearly in d - 1 listed contexts, and by less than the margin in one more or in none."""
    d = atoms.shape[1]
    theta = _arms(K - 1, atoms, p, rng, 4) if K > 2 else 0.5 * rng.standard_normal((1, d))
    top = (atoms @ theta.T).max(1)
    least, found = 0.6, None
    for _ in range(25):
        chosen = rng.choice(len(atoms), d, replace=False)
        basis = atoms[chosen]
        if np.linalg.cond(basis) > 60:
            continue
        leads = rng.uniform(0.3, 1.0, d) * float(np.std(top))
        leads[0] = rng.choice([0.0, 0.005]) * float(np.std(top))
        mine = np.linalg.solve(basis, top[chosen] + leads)
        over = atoms @ mine - top > 1e-7
        over[chosen] = False
        if p[over].sum() < least:
            least, found = float(p[over].sum()), (chosen, mine, over)
    if found is None:
        return None
    chosen, mine, over = found
    keep = ~over
    weight = np.where(np.isin(np.arange(len(atoms)), chosen), np.maximum(p, 0.3 / (K * d)), p)
    return _fails(_problem(name, atoms[keep], weight[keep], np.vstack([theta, mine]), rng), 1 if K > 2 else 2)


def _atoms(K: int, d: int, rng: Rng) -> Problem | None:
    n = int(rng.integers(9 * K, 14 * K)) + 4 * d
    return _interpolated("atoms", _cloud(n, d, rng), _zipf(n, rng), K, rng)


def _curve(K: int, d: int, rng: Rng) -> Problem | None:
    t = np.linspace(-1.0, 1.0, int(rng.integers(10 * d, 14 * d)))
    return _interpolated("curve", np.polynomial.legendre.legvander(t, d - 1), _zipf(len(t), rng, 0.4), K, rng)


def _bits(K: int, d: int, rng: Rng) -> Problem | None:
    bits = np.array(list(product((0.0, 1.0), repeat=d - 1)))
    rates = rng.uniform(0.25, 0.6, d - 1)
    p = (rates**bits * (1 - rates) ** (1 - bits)).prod(1)
    return _interpolated("bits", np.column_stack([np.ones(len(bits)), bits]), p, K, rng)


def _corner(K: int, d: int, rng: Rng) -> Problem | None:
    """Categories with an intercept each and shared slopes on a grid; an arm only just leads in some categories."""
    G = d // 2
    grid = np.array(list(product(np.linspace(-1.5, 1.5, 5), repeat=d - G)))
    U = np.vstack([np.column_stack([np.tile(np.eye(G)[c], (len(grid), 1)), grid]) for c in range(G)])
    p = np.repeat(rng.dirichlet(np.full(G, 4.0)), len(grid))
    theta = _arms(K, U, p / p.sum(), rng, 8)
    theta[:, :G] *= 0.2
    F = U @ theta.T
    excess = F[:, 0] - F[:, 1:].max(1)
    poor = rng.permutation(G)[: int(rng.integers(1, G + 1))]
    state = int(rng.integers(2**31))
    m, problem = 0.0, None
    for _ in range(3):
        mine = theta.copy()
        for c in poor:
            mine[0, c] -= float(excess[U[:, c] == 1].max()) - 0.93 * m
        problem = _problem("corner", U, p, mine, np.random.default_rng(state))
        m = problem.margins[0]
    return _fails(problem, 1)


def _rare_twins(K: int, d: int, rng: Rng) -> Problem | None:
    U = _cloud(1200, d, rng)
    rare = rng.uniform(0.002, 0.03)
    U[:, -1] = rng.choice([-1.0, 0.0, 1.0], size=1200, p=[rare / 2, 1 - rare, rare / 2])
    if np.abs(U[:, -1]).sum() < 3:
        return None
    pairs = K // 2
    theta = _arms(pairs, U, _even(1200), rng) if pairs > 1 else rng.standard_normal((1, d))
    theta = np.vstack([theta, theta, theta[: K - 2 * pairs] * 1.0])
    theta[:, -1] += rng.uniform(-1.5, 1.5, K)
    return _fails(_problem("rare twins", U, _even(1200), theta, rng), K)


def _giants(K: int, d: int, rng: Rng) -> Problem | None:
    U = _cloud(1500, d, rng)
    theta = _arms(K, U, _even(1500), rng)
    rows = np.flatnonzero((U @ theta.T).argmax(1) != 0)
    huge = rng.choice(rows, 40)
    share = rng.uniform(0.002, 0.02)
    p = np.concatenate([np.full(1500, (1 - share) / 1500), np.full(40, share / 40)])
    state = int(rng.integers(2**31))

    def make(size: float) -> Problem:
        far = U[huge].copy()
        far[:, 1:] *= size
        return _problem("giants", np.vstack([U, far]), p, theta, np.random.default_rng(state))

    problem = _fails(_tuned(make, 250.0, 1.0, rng, 0.2), K)
    # a log without giants has a smaller margin
    return None if problem is None or problem.truth(0.2 * problem.margins[0]).diverse else problem


def _lifeline(K: int, d: int, rng: Rng) -> Problem | None:
    U = _cloud(1000, d, rng)
    theta = _arms(K, U, _even(1000), rng)
    V = _pulled(U, theta, 0, 0.0, 0.85, rng)
    F = U @ theta.T
    lead = F[:, 0] - F[:, 1:].max(1)
    off = U[lead > np.quantile(lead, 1 - 0.4 / K)]
    state = int(rng.integers(2**31))

    def make(share: float) -> Problem:
        p = np.concatenate([np.full(1000, (1 - share) / 1000), np.full(len(off), share / len(off))])
        return _problem("lifeline", np.vstack([V, off]), p, theta, np.random.default_rng(state))

    return _fails(_tuned(make, 0.0, 0.2, rng), 1)


def _diagonal(K: int, d: int, rng: Rng) -> Problem | None:
    side = 5 if d <= 4 else 3
    levels = np.arange(side) - side // 2
    rest = np.array(list(product(levels, repeat=d - 1)), dtype=float)
    U = np.column_stack([np.ones(len(rest)), rest])
    p = np.exp(-0.15 * (rest**2).sum(1))
    i, j = (int(k) for k in 1 + rng.permutation(d - 1)[:2])
    c, s = rng.uniform(0.5, 1.5), rng.choice([0.0, 0.01])
    theta = np.zeros((K, d))
    for row, sign in ((1, 1.0), (2, -1.0)):
        theta[row, 0], theta[row, i], theta[row, j] = -c * (1 + float(s)), sign * c, -sign * c
    far = rng.standard_normal((K - 3, d))
    far *= c * rng.uniform(1.2, 2.0, (K - 3, 1)) / np.sqrt((far[:, 1:] ** 2).sum(1, keepdims=True))
    far[:, 0] = -c * rng.uniform(1.0, 1.6, K - 3)
    theta[3:] = far
    theta += rng.standard_normal(d) * 0.5
    return _fails(_problem("diagonal", U, p, theta, rng), 1, 1.0)


def _staircase(K: int, d: int, rng: Rng) -> Problem | None:
    extra = d - 2
    n = 120 if extra else 1
    level = np.repeat(np.arange(2 * K - 1) - (K - 1.0), n)
    U = np.column_stack([np.ones(len(level)), level, rng.standard_normal((len(level), extra))])
    slopes = np.cumsum(rng.uniform(0.4, 1.2, K))
    cuts = -(K - 1.0) + 1 + 2 * np.arange(K - 1)
    theta = np.zeros((K, d))
    theta[:, 1] = slopes - slopes.mean()
    theta[:, 0] = np.concatenate([[0.0], -np.cumsum(np.diff(slopes) * cuts)])
    theta[:, 2:] = 0.4 * rng.standard_normal(extra)
    p = np.where((level + K - 1) % 2 == 1, rng.uniform(0.5, 2.0), 1.0)
    return _fails(_problem("staircase", U, p, theta, rng), K)


def _slices(K: int, d: int, rng: Rng) -> Problem | None:
    U = _cloud(1200, d, rng)
    v = rng.standard_normal(d - 1)
    v /= np.linalg.norm(v)
    along = U[:, 1:] @ v
    slopes = np.cumsum(rng.uniform(0.8, 1.4, K))
    place, base, state = int(rng.integers(1, K - 1)), rng.standard_normal(d) * 0.4, int(rng.integers(2**31))

    def make(width: float) -> Problem:
        shares = np.full(K, (1 - width) / (K - 1))
        shares[place] = width
        cuts = np.quantile(along, np.cumsum(shares)[:-1])
        levels = np.concatenate([[0.0], -np.cumsum(np.diff(slopes) * cuts)])
        theta = base + np.column_stack([levels, np.multiply.outer(slopes - slopes.mean(), v)])
        return _problem("slices", U, _even(1200), theta, np.random.default_rng(state))

    return _fails(_tuned(make, 0.001, 0.9 / (K - 1), rng), K)


def _shell(K: int, d: int, rng: Rng) -> Problem | None:
    rest = rng.standard_normal((1200, d - 1))
    rest /= np.linalg.norm(rest, axis=1, keepdims=True)
    U = np.column_stack([np.ones(1200), rest * np.sqrt(d - 1)])
    theta, state = _arms(K, U, _even(1200), rng), int(rng.integers(2**31))

    def make(lift: float) -> Problem:
        mine = theta.copy()
        mine[0, 0] += lift
        return _problem("shell", U, _even(1200), mine, np.random.default_rng(state))

    return _fails(_tuned(make, -4.0, 0.0, rng), 1)


def _loud(K: int, d: int, rng: Rng) -> Problem | None:
    U = _cloud(1200, d, rng)
    theta, state = _arms(K, U, _even(1200), rng), int(rng.integers(2**31))

    def make(lift: float) -> Problem:
        mine = theta.copy()
        mine[0, 0] += lift
        return _problem("loud", U, _even(1200), mine, np.random.default_rng(state), loud=0)

    return _fails(_tuned(make, -5.0, 0.0, rng), 1, 0.8)


def _mixes(K: int, d: int, rng: Rng) -> Problem | None:
    U = rng.dirichlet(np.full(d, rng.uniform(0.4, 1.2)), size=1200)
    owners = np.arange(d) % (K - 1)
    theta = np.where(owners[None, :] == np.arange(K - 1)[:, None], 1.0, 0.0) * rng.uniform(0.8, 1.2, d)
    theta += rng.uniform(-0.1, 0.1, (K - 1, d))
    state = int(rng.integers(2**31))

    def make(height: float) -> Problem:
        mine = np.vstack([theta, np.full(d, height)])
        return _problem("mixes", U, _even(1200), mine, np.random.default_rng(state))

    return _fails(_tuned(make, 0.1, 0.9, rng), K)


def _sparse(K: int, d: int, rng: Rng) -> Problem | None:
    """Contexts with one or two features switched on; an arm leads clearly by one, and ties by the others."""
    U = np.zeros((1000, d))
    for _ in range(2):
        U[np.arange(1000), rng.integers(d, size=1000)] += rng.choice([-2.0, -1.0, 1.0, 2.0], size=1000)
    U = U[np.abs(U).sum(1) > 0]
    theta = _arms(K - 1, U, _even(len(U)), rng) if K > 2 else rng.standard_normal((1, d))
    rows = np.arange(d)
    top = theta[theta.argmax(0), rows]
    signs = rng.choice([True, False], size=d)
    mine = np.where(signs, top, theta[theta.argmin(0), rows])
    clear = int(rng.integers(d))
    mine[clear] += rng.uniform(0.5, 1.5) * (1 if signs[clear] else -1)
    theta = np.vstack([theta, mine])
    F = U @ theta.T
    lead = F[:, -1] - F[:, :-1].max(1)
    return _fails(_problem("sparse", U, np.where(lead > 1e-9, 0.02, 1.0), theta, rng), K)


def _easy_cloud(K: int, d: int, rng: Rng) -> Problem | None:
    U = _cloud(1500, d, rng)
    return _holds(_problem("easy cloud", U, _even(1500), _arms(K, U, _even(1500), rng), rng))


def _easy_blocks(K: int, d: int, rng: Rng) -> Problem | None:
    U, p, _ = _blocks(d, 1200, rng)
    return _holds(_problem("easy blocks", U, p, _block_arms(K, d, rng), rng))


def _easy_grid(K: int, d: int, rng: Rng) -> Problem | None:
    levels = np.linspace(-1.5, 1.5, 9 if d <= 3 else 5)
    rest = np.array(list(product(levels, repeat=d - 1)))
    U, p = np.column_stack([np.ones(len(rest)), rest]), _zipf(len(rest), rng, 0.3)
    return _holds(_problem("easy grid", U, p, _arms(K, U, p, rng), rng))


def _easy_shell(K: int, d: int, rng: Rng) -> Problem | None:
    U = rng.standard_normal((1500, d))
    U *= (rng.uniform(0.8, 1.2, 1500) / np.linalg.norm(U, axis=1))[:, None]
    return _holds(_problem("easy shell", U, _even(1500), _arms(K, U, _even(1500), rng), rng))


FAMILIES: dict[str, Family] = {
    name: Family(words, sizes, _again(make))
    for name, words, sizes, make in (
        (
            "creases",
            "an arm leads on one slice; its other contexts lie where it ties with various rivals",
            ((3, 3), (5, 4), (8, 3), (2, 6)),
            _creases,
        ),
        (
            "all creases",
            "every arm leads on a slice of its own and ties with its neighbours elsewhere",
            ((2, 4), (4, 3), (6, 5), (10, 3)),
            _all_creases,
        ),
        (
            "patchwork",
            "categories by numbers; an arm copies another rival in each category",
            ((3, 4), (4, 6), (6, 8), (10, 4)),
            _patchwork,
        ),
        (
            "interaction",
            "two arms are the same in one category only, slope and level",
            ((2, 4), (3, 6), (5, 4), (4, 8)),
            _interaction,
        ),
        (
            "crossings",
            "in each category an arm is the blend of two rivals, and many contexts lie where those cross",
            ((3, 4), (4, 6), (5, 8), (4, 4)),
            _crossings,
        ),
        (
            "atoms",
            "few distinct contexts of very unequal frequency; an arm leads clearly in too few of them",
            ((2, 3), (3, 4), (5, 3), (4, 5)),
            _atoms,
        ),
        (
            "curve",
            "contexts on a polynomial curve; an arm leads at too few points of it",
            ((2, 3), (3, 4), (2, 5), (3, 3)),
            _curve,
        ),
        (
            "bits",
            "yes-no features; an arm leads in too few of their combinations",
            ((2, 4), (4, 8), (2, 6), (3, 7)),
            _bits,
        ),
        (
            "corner",
            "an arm reaches just below the margin at the corner of a grid in some categories",
            ((2, 4), (3, 5), (4, 6), (6, 4)),
            _corner,
        ),
        (
            "rare twins",
            "all arms come in pairs that differ by one rare feature only",
            ((2, 3), (4, 4), (6, 3), (9, 5)),
            _rare_twins,
        ),
        (
            "giants",
            "rare huge contexts, none of them an arm's own, dwarf the contexts that it leads",
            ((2, 3), (3, 5), (5, 3), (8, 6)),
            _giants,
        ),
        (
            "lifeline",
            "an arm's last direction rests on a kind of context that is a little too rare",
            ((2, 4), (3, 3), (5, 4), (8, 3)),
            _lifeline,
        ),
        (
            "diagonal",
            "contexts on a grid; an arm leads on a diagonal and ties beside it",
            ((3, 3), (4, 4), (5, 3), (6, 4)),
            _diagonal,
        ),
        (
            "staircase",
            "ordered levels; every arm leads on one level and ties with its neighbours on the next",
            ((3, 2), (4, 3), (6, 2), (8, 5)),
            _staircase,
        ),
        (
            "slices",
            "arms share one direction in slices, of which a middle one is too thin",
            ((3, 2), (4, 5), (6, 3), (8, 2)),
            _slices,
        ),
        (
            "shell",
            "contexts on a sphere; an arm leads on a cap that is too small",
            ((2, 3), (3, 5), (5, 4), (4, 3)),
            _shell,
        ),
        ("loud", "the noisiest arm leads in a corner that is too small", ((2, 2), (3, 4), (5, 3), (8, 4)), _loud),
        (
            "mixes",
            "contexts are shares of a whole; an arm leads only near the even mix",
            ((3, 3), (4, 4), (5, 8), (4, 6)),
            _mixes,
        ),
        (
            "sparse",
            "one or two features are on at a time; an arm ties with the best by each of them but one",
            ((2, 4), (3, 3), (4, 6), (5, 8)),
            _sparse,
        ),
        (
            "easy cloud",
            "diverse: scattered contexts shared evenly by the arms",
            ((2, 3), (3, 4), (5, 3), (6, 4)),
            _easy_cloud,
        ),
        (
            "easy blocks",
            "diverse: every arm leads somewhere in every category",
            ((2, 4), (3, 6), (4, 4), (3, 8)),
            _easy_blocks,
        ),
        (
            "easy grid",
            "diverse: contexts on a grid of unequal frequencies",
            ((2, 3), (3, 4), (4, 3), (3, 5)),
            _easy_grid,
        ),
        (
            "easy shell",
            "diverse: directions without an intercept, shared by the arms",
            ((3, 2), (3, 4), (5, 3), (2, 6)),
            _easy_shell,
        ),
    )
}
