"""Drifting environments and logs with and without drift, set by someone who had not read the rules that they test.

Fourteen environments have parameters that change with time, each in its own way. Thirty-six kinds of logs come from as
many trades: in half of them the mean reward of some arm, given the features, truly changes with time; in the other
half it never does, but something else moves (who comes, who chooses, how much rewards scatter).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from armspan.environments import Bernoulli, DriftingContexts, Rademacher

Array = np.ndarray[Any, Any]
Random = np.random.Generator
Log = tuple[Array, Array, Array]
Maker = Callable[[], DriftingContexts]


# What environments are made of


def _box(*ranges: tuple[float, float]) -> dict[str, Any]:
    """The corners of a box whose first feature is all but constant at 1, and whose others have these ranges."""
    low, high = np.array([(0.999, 1.001), *ranges]).T
    return {"low": low, "high": high}


def _around_the_year(mean: Array, swing: Array, peaks: Array, sets: int) -> Array:
    """Parameters (J, K, d) that go around a mean (K, d) once, and peak at these shares (K,) of the cycle."""
    phase = 2 * np.pi * (np.arange(sets)[:, None] / sets - peaks)
    return mean + np.cos(phase)[:, :, None] * swing


def _wandering(rng: Random, start: Array, steps: int, size: Any) -> Array:
    """Parameters (J, K, d) that walk at random from a start, with steps of this size."""
    moves = size * rng.standard_normal((steps - 1, *start.shape))
    return start + np.concatenate([np.zeros((1, *start.shape)), moves.cumsum(axis=0)])


# Environments


def front_page() -> DriftingContexts:
    """A front page shows one of six stories, and what readers click moves on from one part of the week to the next."""
    rng = np.random.default_rng(61_001)
    theta = rng.uniform(0.0, 0.06, (8, 6, 5))
    theta[:, :, 0] = rng.uniform(0.02, 0.12, (8, 6))
    return DriftingContexts(theta, 2_500, noise=Bernoulli(), name="front page", **_box(*[(0.0, 1.0)] * 4))


def tired_banners() -> DriftingContexts:
    """Four banners pay in cents per view; each tires in turn while the others recover, and only intercepts move."""
    slopes = np.array([[0.8, -0.3], [0.5, 0.2], [0.9, 0.1], [0.3, 0.4]])
    fresh = np.array([2.4, 2.2, 1.9, 2.1]) - 0.9 * np.eye(4)
    theta = np.concatenate([fresh[:, :, None], np.broadcast_to(slopes, (4, 4, 2))], axis=2)
    return DriftingContexts(theta, 1_500, noise=0.3, name="tired banners", **_box((0.0, 1.0), (0.0, 1.0)))


def home_battery() -> DriftingContexts:
    """A home battery charges at night, at noon or never; each month of 730 hours has other gains, every year again."""
    mean = np.array([[1.0, 0.2, -0.4, 0.3], [0.8, 1.1, 0.1, -0.2], [0.9, 0.0, 0.0, 0.0]])
    swing = np.array([[0.5, 0.1, -0.3, 0.0], [0.7, 0.6, 0.0, -0.1], [0.0, 0.0, 0.0, 0.0]])
    theta = _around_the_year(mean, swing, np.array([0.0, 0.5, 0.0]), 12)
    box = _box((0.0, 1.0), (0.0, 2.0), (-1.0, 1.0))
    return DriftingContexts(theta, 730, noise=1.2, name="home battery", **box)


def antibiotic_resistance() -> DriftingContexts:
    """A ward has two antibiotics and seven measures; half way a resistant strain arrives and one works worse."""
    before = np.array([[6.0, 0.5, -0.3, 0.2, 0.0, 0.1, -0.4, 0.3], [5.2, -0.2, 0.4, 0.1, 0.3, 0.0, 0.2, -0.1]])
    after = before - np.array([[2.0, 0.4, 0.0, 0.0, 0.0, 0.0, 0.3, 0.0], [0.0] * 8])
    box = _box(*[(-1.0, 1.0)] * 7)
    return DriftingContexts([before, after], 2_500, abrupt=True, noise=2.0, name="antibiotic resistance", **box)


def game_patches() -> DriftingContexts:
    """A coach proposes one of ten heroes; every patch of the game changes three of them."""
    rng = np.random.default_rng(61_005)
    theta = np.repeat(0.5 * rng.standard_normal((1, 10, 6)), 7, axis=0)
    for patch in range(1, 7):
        changed = rng.choice(10, 3, replace=False)
        theta[patch:, changed] = 0.5 * rng.standard_normal((3, 6))
    return DriftingContexts(theta, 1_400, abrupt=True, low=-1.0, high=1.0, noise=1.0, name="game patches")


def failing_supplier() -> DriftingContexts:
    """Of five suppliers one, the best at first, becomes late over 10,000 orders, and then mends its ways."""
    early = np.array([[9.0, 1.0, -2.0], [8.5, 0.5, -1.0], [8.2, 1.5, -1.5], [8.0, 0.2, 0.0], [7.5, 2.0, -1.0]])
    late = early.copy()
    late[0] = [6.5, 0.5, -3.0]
    box = _box((0.0, 1.0), (0.0, 1.0))
    return DriftingContexts([early, late], 10_000, noise=0.5, name="failing supplier", **box)


def worn_grippers() -> DriftingContexts:
    """A robot has three grippers and twelve camera measures; nothing changes for long, then two of them wear out."""
    rng = np.random.default_rng(61_007)
    new = rng.uniform(-0.2, 0.3, (3, 12)) + np.array([[0.08], [0.0], [0.04]])
    worn = new - np.array([[0.25], [0.0], [0.1]]) * rng.uniform(0.5, 1.0, (3, 12))
    theta = [new, new, new, new, new, worn]
    return DriftingContexts(theta, 1_000, noise=0.05, name="worn grippers")


def last_seats() -> DriftingContexts:
    """An airline asks one of eight fares by the days that are left; demand wanders within hours."""
    rng = np.random.default_rng(61_008)
    start = np.column_stack([np.linspace(80.0, 130.0, 8), np.linspace(20.0, -40.0, 8)])
    theta = _wandering(rng, start, 15, 12.0)
    return DriftingContexts(theta, 200, noise=20.0, name="last seats", **_box((0.0, 1.0)))


def drying_valley() -> DriftingContexts:
    """Four ways to irrigate, seven measures of the soil, and a valley that dries slowly over 30,000 waterings."""
    rng = np.random.default_rng(61_009)
    wet = rng.uniform(0.1, 0.6, (4, 7)) + np.array([[0.15], [0.05], [0.0], [0.0]])
    dry = wet + np.array([[-0.4], [-0.1], [0.2], [0.3]]) * rng.uniform(0.3, 1.0, (4, 7))
    return DriftingContexts([wet, dry], 30_000, noise=0.8, name="drying valley")


def day_and_night() -> DriftingContexts:
    """A courier goes by bike, van or tram; between day and night, 200 rides each, roads are not the same."""
    day = [[5.0, 1.0, -1.0, 0.5], [3.5, 0.0, 1.0, -0.5], [4.5, 0.5, 0.0, 0.0]]
    night = [[3.5, 0.5, -1.5, 0.5], [5.5, 0.5, 1.0, -0.2], [3.0, 0.5, 0.0, 0.0]]
    box = _box(*[(0.0, 1.0)] * 3)
    return DriftingContexts([day, night], 200, abrupt=True, noise=1.5, name="day and night", **box)


def fraud_rings() -> DriftingContexts:
    """Five checks and ten facts on a payment; every 3,000 payments fraudsters learn to pass another check."""
    rng = np.random.default_rng(61_011)
    skill = rng.uniform(0.0, 0.15, (5, 10))
    passed = np.ones((5, 5)) - 0.7 * np.eye(5)
    noise = Rademacher(0.2)
    return DriftingContexts(passed[:, :, None] * skill, 3_000, abrupt=True, noise=noise, name="fraud rings")


def thumbnails() -> DriftingContexts:
    """Three thumbnails for a film by how young the viewer is; after 8,000 views taste jumps, twice."""
    theta = [
        [[0.04, 0.06], [0.07, 0.00], [0.05, 0.02]],
        [[0.04, 0.01], [0.05, 0.02], [0.06, 0.04]],
        [[0.09, 0.00], [0.03, 0.05], [0.05, 0.02]],
    ]
    return DriftingContexts(theta, 8_000, abrupt=True, noise=Bernoulli(), name="thumbnails", **_box((0.0, 1.0)))


def defrosting() -> DriftingContexts:
    """A heat pump defrosts now or later by four exact gauges; to wait pays less as its coil ages between services."""
    clean = np.array([[3.10, 0.20, -0.15, 0.05, 0.10], [3.08, 0.10, 0.05, 0.10, -0.05]])
    aged = clean - np.array([[0.00, 0.02, 0.00, 0.00, 0.01], [0.12, 0.00, 0.03, 0.00, 0.00]])
    box = _box((-1.0, 1.0), (0.0, 1.0), (0.0, 1.0), (-1.0, 1.0))
    return DriftingContexts([clean, aged], 4_000, noise=0.01, name="defrosting", **box)


def call_scripts() -> DriftingContexts:
    """Seven scripts of a call centre, nine facts on the caller, sales that are mostly luck, and moods that change."""
    rng = np.random.default_rng(61_014)
    theta = 0.4 * rng.standard_normal((1, 7, 9)) + 0.4 * rng.standard_normal((3, 7, 9))
    return DriftingContexts(theta, 15_000, low=-1.0, high=1.0, noise=5.0, name="call scripts")


ENVIRONMENTS: dict[str, tuple[Maker, int]] = {
    "front page": (front_page, 40_000),
    "tired banners": (tired_banners, 12_000),
    "home battery": (home_battery, 26_280),
    "antibiotic resistance": (antibiotic_resistance, 5_000),
    "game patches": (game_patches, 9_800),
    "failing supplier": (failing_supplier, 20_000),
    "worn grippers": (worn_grippers, 6_000),
    "last seats": (last_seats, 3_000),
    "drying valley": (drying_valley, 60_000),
    "day and night": (day_and_night, 20_000),
    "fraud rings": (fraud_rings, 15_000),
    "thumbnails": (thumbnails, 24_000),
    "defrosting": (defrosting, 16_000),
    "call scripts": (call_scripts, 45_000),
}
"""Name to the function that makes the environment, and the horizon."""


# What logs are made of


def _one(*columns: Array) -> Array:
    """Features (n, d): a constant 1, then these columns."""
    return np.column_stack([np.ones(len(columns[0])), *columns])


def _about(rng: Random, table: Any, share: float = 0.2) -> Array:
    """These numbers, each wrong by about this share."""
    numbers = np.array(table, dtype=np.float64)
    return numbers * (1 + share * rng.standard_normal(numbers.shape))


def _only(n_arms: int, arm: int, change: Any) -> Array:
    """A change (K, d) of one arm alone."""
    return np.eye(n_arms)[arm][:, None] * np.array(change, dtype=np.float64)


def _means(x: Array, theta: Array, *moves: tuple[Array, Array]) -> Array:
    """Mean rewards (n, K): linear with theta, plus for each move its course (n,) times its change (K, d)."""
    return x @ theta.T + sum(course[:, None] * (x @ change.T) for course, change in moves)


def _time(n: int) -> Array:
    """From 0 at the first row to 1 at the last."""
    return np.linspace(0.0, 1.0, n)


def _steps(n: int, *starts: float) -> Array:
    """0, then 1 from the first of these shares of the rows on, 0 again from the second, and so on."""
    return np.searchsorted(np.array(starts), _time(n), side="right") % 2.0


def _chain(rng: Random, n: int, memory: float, d: int = 1) -> Array:
    """Columns (n, d) with mean 0 and variance 1 that remember this share of their last value."""
    values = rng.standard_normal((n, d))
    for row in range(1, n):
        values[row] = memory * values[row - 1] + np.sqrt(1 - memory**2) * values[row]
    return values


def _clicks(rng: Random, means: Array) -> Array:
    """1 with the probability that the mean says, else 0."""
    if means.min() < 0 or means.max() > 1:
        raise ValueError(f"probabilities from {means.min():g} to {means.max():g}")
    return (rng.random(means.shape) < means).astype(np.float64)


def _softmax(rng: Random, scores: Array) -> Array:
    """Arms (n,) drawn with probabilities by the softmax of scores (n, K)."""
    return (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def _learn(
    rng: Random,
    x: Array,
    rewards: Array,
    *,
    epsilon: Any = 0.0,
    width: float = 0.0,
    posterior: float = 0.0,
    every: int = 50,
    keep: float = 1.0,
    offered: Array | None = None,
) -> Array:
    """Arms of ridge regression fitted anew every so many rows, with epsilon-greedy, UCB or Thompson exploration.

    A fit keeps this share of the weight of older rows; `offered` (n, K) says which arms can be had.
    """
    (n, d), K = x.shape, rewards.shape[1]
    grams, sums = np.tile(np.eye(d), (K, 1, 1)), np.zeros((K, d))
    arms, explores = np.empty(n, dtype=np.int64), rng.random(n) < epsilon
    for start in range(0, n, every):
        rows = slice(start, min(n, start + every))
        inverse, block = np.linalg.inv(grams), x[rows]
        fits = block @ np.einsum("kij,kj->ki", inverse, sums).T
        widths = np.sqrt(np.einsum("bi,kij,bj->bk", block, inverse, block))
        scores = fits + widths * (width + posterior * rng.standard_normal(fits.shape)) + 1e-12 * rng.random(fits.shape)
        scores[explores[rows]] = rng.random((int(explores[rows].sum()), K))
        if offered is not None:
            scores[~offered[rows]] = -np.inf
        arms[rows] = scores.argmax(axis=1)
        chosen = np.eye(K)[arms[rows]]
        grams = keep * grams + (1 - keep) * np.eye(d) + np.einsum("bk,bi,bj->kij", chosen, block, block)
        sums = keep * sums + np.einsum("bk,bk,bi->ki", chosen, rewards[rows], block)
    return arms


def _log(x: Array, arms: Array, rewards: Array) -> Log:
    """The log, from the chosen arms (n,) and what each arm would have given (n, K)."""
    return x, arms, rewards[np.arange(len(arms)), arms]


# Logs in which rewards drift


def headline_swap(rng: Random) -> Log:
    """Seconds read of four headlines, tested at random, before and after a redesign of the page."""
    n = 8_000
    x = _one(rng.random((n, 4)))
    theta, change = rng.normal(20.0, 6.0, (4, 5)), rng.normal(0.0, 8.0, (4, 5))
    rewards = _means(x, theta, (_steps(n, 0.5), change)) + 15.0 * rng.standard_normal((n, 4))
    return _log(x, rng.integers(4, size=n), rewards)


def creative_fatigue(rng: Random) -> Log:
    """Clicks on three advertisements; the one shown to most people falls from about 5 % to half of that."""
    n = 40_000
    x = _one(rng.random(n), rng.integers(2, size=n))
    theta = _about(rng, [[0.050, 0.010, 0.005], [0.030, 0.010, 0.010], [0.035, 0.005, 0.000]], 0.1)
    means = _means(x, theta, (_time(n), _only(3, 0, [-0.025, 0.0, 0.0])))
    return _log(x, rng.choice(3, n, p=[0.7, 0.15, 0.15]), _clicks(rng, means))


def spot_market(rng: Random) -> Log:
    """A plant sells power now, later or as reserve, hourly for two years; gains follow the season."""
    n = 17_520
    season = np.cos(2 * np.pi * 2 * _time(n))
    x = _one(_chain(rng, n, 0.95, 5))
    theta, swing = rng.normal([30.0, 4, 4, 4, 4, 4], 3.0, (3, 6)), rng.normal(0.0, 5.0, (3, 6))
    rewards = _means(x, theta, (season, swing)) + 12.0 * rng.standard_normal((n, 3))
    return _log(x, _learn(rng, x, rewards, epsilon=0.1, every=168), rewards)


def new_guideline(rng: Random) -> Log:
    """Pain relief by two drugs for 400 patients; half way a guideline on doses makes the second better by 0.8."""
    n = 400
    x = _one(rng.normal(0.0, 1.0, (n, 3)), rng.integers(2, size=(n, 2)))
    theta = _about(rng, [[3.0, 0.5, 0.0, -0.4, 0.3, 0.0], [3.2, 0.0, 0.4, -0.4, 0.0, 0.5]])
    means = _means(x, theta, (_steps(n, 0.5), _only(2, 1, _about(rng, [0.8, 0.0, 0.0, 0.0, 0.0, 0.0]))))
    return _log(x, rng.integers(2, size=n), means + 1.2 * rng.standard_normal((n, 2)))


def balance_patches(rng: Random) -> Log:
    """A game proposes one of ten weapons; each of five patches redraws two, and players follow an old guide."""
    n = 12_000
    x = _one(rng.uniform(-1.0, 1.0, (n, 5)))
    theta = rng.standard_normal((10, 6))
    moves = []
    for patch in range(1, 6):
        for arm in rng.choice(10, 2, replace=False):
            moves.append((_steps(n, patch / 6), _only(10, arm, rng.normal(0.0, 1.2, 6))))
    rewards = _means(x, theta, *moves) + rng.standard_normal((n, 10))
    return _log(x, _softmax(rng, 0.7 * x @ theta.T), rewards)


def slipping_supplier(rng: Random) -> Log:
    """Of eight suppliers the best slowly loses a tenth of its score, while a buyer learns by Thompson sampling."""
    n = 5_000
    x = _one(rng.random((n, 3)))
    theta = np.column_stack([rng.normal(7.0, 0.4, 8), rng.normal(0.0, 0.8, (8, 3))])
    best = int((x @ theta.T).mean(axis=0).argmax())
    rewards = _means(x, theta, (_time(n), _only(8, best, [-0.7, 0.0, 0.0, 0.0]))) + 0.8 * rng.standard_normal((n, 8))
    return _log(x, _learn(rng, x, rewards, posterior=0.8), rewards)


def late_wear(rng: Random) -> Log:
    """A mill with three feeds runs well for four fifths of the log; then its cutter wears."""
    n = 10_000
    x = _one(rng.random((n, 7)))
    theta, wear = rng.normal(1.0, 0.3, (3, 8)), -rng.uniform(0.0, 0.15, (3, 8))
    course = np.clip((_time(n) - 0.8) / 0.2, 0.0, None)
    rewards = _means(x, theta, (course, wear)) + 0.2 * rng.standard_normal((n, 3))
    return _log(x, rng.integers(3, size=n), rewards)


def rush_hours(rng: Random) -> Log:
    """Fares of six kinds; rush and calm take turns every 100 rides, and the log does not say which it is."""
    n = 6_000
    x = _one(rng.gamma(2.0, 0.5, n), rng.random(n) < 0.2)
    rush = np.arange(n) // 100 % 2.0
    theta, change = rng.normal([12.0, 6.0, 2.0], 1.5, (6, 3)), rng.normal(0.0, 2.5, (6, 3))
    rewards = _means(x, theta, (rush, change)) + 4.0 * rng.standard_normal((n, 6))
    return _log(x, _learn(rng, x, rewards, epsilon=0.3), rewards)


def warming_vineyard(rng: Random) -> Log:
    """Sugar in grapes under four prunings over many years; one gains a little, far less than grapes differ."""
    n = 2_000
    x = _one(rng.standard_normal((n, 6)))
    theta = np.column_stack([rng.normal(22.0, 0.5, 4), rng.normal(0.0, 0.6, (4, 6))])
    means = _means(x, theta, (_time(n), _only(4, 2, [0.25, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0])))
    return _log(x, np.arange(n) % 4, means + 2.0 * rng.standard_normal((n, 4)))


def strike_day(rng: Random) -> Log:
    """Minutes saved on three routes; for one twentieth of the log a strike makes one of them slow."""
    n = 8_000
    x = _one(rng.random((n, 3)), rng.integers(2, size=n))
    start = rng.uniform(0.2, 0.8)
    theta = rng.normal(0.0, 3.0, (3, 5))
    strike = _only(3, 1, _about(rng, [-4.0, 0.0, -3.0, 0.0, 0.0]))
    rewards = _means(x, theta, (_steps(n, start, start + 0.05), strike)) + 5.0 * rng.standard_normal((n, 3))
    return _log(x, rng.choice(3, n, p=[0.4, 0.4, 0.2]), rewards)


def wandering_fraud(rng: Random) -> Log:
    """Seven checks of payments whose worth walks at random, chosen by a model that forgets."""
    n = 15_000
    x = _one(rng.standard_normal((n, 7)))
    start, walks = rng.standard_normal((7, 8)), [rng.standard_normal(n).cumsum() / np.sqrt(n) for _ in range(12)]
    moves = [(walk, 0.4 * rng.standard_normal((7, 8))) for walk in walks]
    rewards = _means(x, start, *moves) + 2.0 * rng.standard_normal((n, 7))
    return _log(x, _learn(rng, x, rewards, epsilon=0.1, keep=0.95), rewards)


def rare_signups(rng: Random) -> Log:
    """Three landing pages whose visitors sign up one time in a hundred; one page gains a quarter of that half way."""
    n = 20_000
    x = _one(rng.random(n), rng.integers(2, size=n))
    theta = _about(rng, [[0.008, 0.003, 0.002], [0.009, 0.001, 0.001], [0.007, 0.002, 0.004]])
    means = _means(x, theta, (_steps(n, 0.5), _only(3, 1, [0.0025, 0.0, 0.0])))
    return _log(x, rng.integers(3, size=n), _clicks(rng, means))


def ageing_coil(rng: Random) -> Log:
    """A heat pump under two controls, measured closely; its slope on outside air moves by what rewards scatter."""
    n = 3_000
    x = _one(_chain(rng, n, 0.99)[:, 0], rng.random((n, 2)))
    theta = _about(rng, [[3.1, 0.20, -0.15, 0.05], [3.0, 0.25, 0.05, 0.10]], 0.05)
    means = _means(x, theta, (_time(n), np.array([[0.0, -0.03, 0.0, 0.0], [0.0, -0.02, 0.0, 0.0]])))
    return _log(x, rng.integers(2, size=n), means + 0.02 * rng.standard_normal((n, 2)))


def sales_moods(rng: Random) -> Log:
    """Five scripts on the phone; sales have heavy tails, and moods move them by a fraction of that."""
    n = 4_000
    x = _one(rng.standard_normal((n, 8)))
    theta, change = rng.standard_normal((5, 9)), 0.3 * rng.standard_normal((5, 9))
    means = _means(x, theta, (_time(n), change))
    return _log(x, rng.integers(5, size=n), means + 5.0 * rng.standard_t(3, (n, 5)))


def forgotten_fuel(rng: Random) -> Log:
    """Profit in dollars with four fuels for a ferry; the worst fuel, which UCB soon leaves alone, becomes better."""
    n = 6_000
    x = _one(rng.random((n, 2)))
    theta = _about(rng, [[5200, 900, -400], [5000, 400, 500], [4900, 1100, 0], [3800, 200, -300]], 0.03)
    rewards = _means(x, theta, (_time(n), _only(4, 3, [700, 0, 0]))) + 800.0 * rng.standard_normal((n, 4))
    return _log(x, _learn(rng, x, rewards, width=1_000.0), rewards)


def inflation(rng: Random) -> Log:
    """Receipts under five offers of a gym all rise together by a tenth, so that which is best does not change."""
    n = 9_000
    x = _one(rng.random((n, 4)))
    theta = np.column_stack([rng.normal(40.0, 3.0, 5), rng.normal(0.0, 5.0, (5, 4))])
    rise = np.zeros((5, 5))
    rise[:, 0] = 4.0
    rewards = _means(x, theta, (_time(n), rise)) + 12.0 * rng.standard_normal((n, 5))
    return _log(x, _learn(rng, x, rewards, epsilon=np.linspace(1.0, 0.05, n)), rewards)


def new_curriculum(rng: Random) -> Log:
    """A tutor has six exercises and eleven facts on the pupil; at one third the easiest exercise turns too easy."""
    n = 3_000
    x = _one(rng.integers(2, size=(n, 6)), rng.standard_normal((n, 5)))
    theta = np.column_stack([rng.normal(60.0, 2.0, 6), rng.normal(0.0, 2.0, (6, 11))])
    easy = int((x @ theta.T).mean(axis=0).argmax())
    change = np.concatenate([[-4.0], rng.normal(0.0, 1.5, 11)])
    rewards = _means(x, theta, (_steps(n, 1 / 3), _only(6, easy, change))) + 9.0 * rng.standard_normal((n, 6))
    return _log(x, _learn(rng, x, rewards, epsilon=0.15), rewards)


def greenhouse_zones(rng: Random) -> Log:
    """Growth in metres a day in eight zones, one-hot, under four lamps; the sun's season changes two of the zones."""
    n = 5_000
    x = np.eye(8)[rng.integers(8, size=n)]
    theta, swing = rng.normal(8e-3, 1e-3, (4, 8)), np.zeros((4, 8))
    swing[:, rng.choice(8, 2, replace=False)] = rng.normal(0.0, 6e-4, (4, 2))
    means = _means(x, theta, (np.sin(2 * np.pi * _time(n)), swing))
    return _log(x, rng.integers(4, size=n), means + 2e-3 * rng.standard_normal((n, 4)))


# Logs in which they do not


def hotel_guests(rng: Random) -> Log:
    """A hotel offers one of three rooms by a rule on age that it turns round half way; guests become ever younger."""
    n = 6_000
    age = 55.0 - 20.0 * _time(n) + 8.0 * rng.standard_normal(n)
    x = _one(age / 10, rng.gamma(2.0, 1.5, n), rng.integers(2, size=n))
    theta = _about(rng, [[60.0, 6.0, -2.0, 5.0], [80.0, 2.0, 1.0, 10.0], [70.0, 4.0, 3.0, -5.0]])
    rule = np.where(age > 45, 0, 1 + (rng.random(n) < 0.5))
    arms = np.where(_time(n) < 0.5, rule, 2 - rule)
    arms = np.where(rng.random(n) < 0.1, rng.integers(3, size=n), arms)
    return _log(x, arms, _means(x, theta) + 20.0 * rng.standard_normal((n, 3)))


def ice_cream(rng: Random) -> Log:
    """A van has four places and hourly weather with years and days in it; its driver is epsilon-greedy."""
    n = 8_760
    hours = np.arange(n)
    warmth = 12.0 - 9.0 * np.cos(2 * np.pi * hours / n) + 4.0 * np.sin(2 * np.pi * hours / 24) + 3 * rng.normal(size=n)
    sun = np.clip(np.sin(2 * np.pi * hours / 24) * (1 - 0.6 * np.cos(2 * np.pi * hours / n)), 0.0, None)
    x = _one(warmth / 10, sun, hours % 168 >= 120)
    rewards = _means(x, rng.normal([10.0, 15.0, 8.0, 6.0], 4.0, (4, 4))) + 10.0 * rng.standard_normal((n, 4))
    return _log(x, _learn(rng, x, rewards, epsilon=0.1, every=24), rewards)


def podcasts(rng: Random) -> Log:
    """Minutes heard of eight podcasts by five facts, chosen by UCB that is fitted anew after every ten."""
    n = 5_000
    x = _one(rng.standard_normal((n, 5)))
    theta = np.column_stack([rng.normal(20.0, 2.0, 8), rng.normal(0.0, 2.0, (8, 5))])
    rewards = _means(x, theta) + 8.0 * rng.standard_normal((n, 8))
    return _log(x, _learn(rng, x, rewards, width=16.0, every=10), rewards)


def loan_letters(rng: Random) -> Log:
    """Five letters to borrowers; the share chosen at random falls from all to one in a hundred."""
    n = 20_000
    x = _one(rng.standard_normal((n, 4)), rng.lognormal(0.0, 0.5, n))
    rewards = _means(x, rng.standard_normal((5, 6))) + 3.0 * rng.standard_normal((n, 5))
    return _log(x, _learn(rng, x, rewards, epsilon=np.geomspace(1.0, 0.01, n), every=100), rewards)


def new_dish(rng: Random) -> Log:
    """Of four dishes, one is on the menu from the middle on; Thompson sampling finds out what it is worth."""
    n = 4_000
    x = _one(rng.random((n, 3)))
    theta = rng.normal([7.0, 1.0, 0.0, -1.0], 0.6, (4, 4))
    theta[3, 0] = theta[:3, 0].max() + 1.0
    rewards = _means(x, theta) + 2.0 * rng.standard_normal((n, 4))
    offered = np.ones((n, 4), dtype=bool)
    offered[: n // 2, 3] = False
    return _log(x, _learn(rng, x, rewards, posterior=2.0, offered=offered), rewards)


def closed_depot(rng: Random) -> Log:
    """Parcels leave from one of five depots by their weight and distance; the third is closed at 60 % of the log."""
    n = 3_000
    x = _one(rng.lognormal(0.0, 0.7, n), rng.uniform(0.0, 3.0, n))
    theta = rng.normal([-10.0, -2.0, -4.0], 1.0, (5, 3))
    scores = 0.5 * _means(x, theta + 0.5 * rng.standard_normal((5, 3)))
    scores[int(0.6 * n) :, 2] = -np.inf
    return _log(x, _softmax(rng, scores), _means(x, theta) + 2.0 * rng.standard_normal((n, 5)))


def steel_charges(rng: Random) -> Log:
    """Charges of forty almost equal slabs, seven measures that remember the last charge, and three rolling speeds."""
    n = 4_800
    charges = np.repeat(_chain(rng, n // 40, 0.8, 7), 40, axis=0)
    x = _one(charges + 0.1 * rng.standard_normal((n, 7)))
    theta = rng.standard_normal((3, 8))
    arms = np.repeat(rng.integers(3, size=n // 40), 40)
    return _log(x, arms, _means(x, theta) + rng.standard_normal((n, 3)))


def ageing_gauge(rng: Random) -> Log:
    """Two valves, four measures, and a gauge whose readings scatter fifteen times as much at the end as at first."""
    n = 5_000
    x = _one(rng.uniform(-1.0, 1.0, (n, 4)))
    noise = np.linspace(0.2, 3.0, n)[:, None] * rng.standard_normal((n, 2))
    return _log(x, rng.integers(2, size=n), _means(x, rng.standard_normal((2, 5))) + noise)


def insurance_claims(rng: Random) -> Log:
    """Six tariffs; results scatter with the sum insured, have heavy tails, and sums insured grow with the years."""
    n = 8_000
    total = rng.lognormal(0.8 * _time(n), 0.5)
    x = _one(total, rng.standard_normal((n, 5)))
    noise = 0.8 * total[:, None] * rng.standard_t(2.5, (n, 6))
    theta = rng.normal([1.0, 0.5, 0, 0, 0, 0, 0], 0.3, (6, 7))
    return _log(x, rng.choice(6, n, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1]), _means(x, theta) + noise)


def rare_clicks(rng: Random) -> Log:
    """Six banners with about five clicks in a thousand, more on phones, which spread; Thompson sampling."""
    n = 40_000
    x = _one(rng.random(n) < 0.3 + 0.5 * _time(n), rng.random(n))
    theta = rng.uniform([0.001, 0.001, 0.0], [0.005, 0.006, 0.004], (6, 3))
    rewards = _clicks(rng, _means(x, theta))
    return _log(x, _learn(rng, x, rewards, posterior=0.07, every=200), rewards)


def one_huge_user(rng: Random) -> Log:
    """Four caches; in every fifth stretch of 200 requests almost all come from one user, far from all others."""
    n = 10_000
    rows = rng.standard_normal((n, 5))
    huge = (np.arange(n) // 200 % 5 == 4) & (rng.random(n) < 0.95)
    rows[huge] = rng.normal(0.0, 5.0, 5)
    x = _one(rows)
    rewards = _means(x, rng.normal(0.0, 1.0, (4, 6))) + 4.0 * rng.standard_normal((n, 4))
    return _log(x, _learn(rng, x, rewards, epsilon=0.1), rewards)


def freight_rates(rng: Random) -> Log:
    """Margins in dollars of three carriers; the year is one of the features, and temperatures are in kelvin."""
    n = 5_000
    year, weight = 2019.0 + 5.0 * _time(n), rng.gamma(3.0, 4.0, n)
    kelvin = 283.0 - 10.0 * np.cos(2 * np.pi * year) + 4.0 * rng.standard_normal(n)
    x = _one(year, kelvin, weight)
    slopes = _about(rng, [[120.0, 15.0, 60.0], [-80.0, -10.0, 75.0], [30.0, 5.0, 50.0]], 0.3)
    theta = np.column_stack([rng.normal(4_000.0, 300.0, 3) - slopes @ x[:, 1:].mean(axis=0), slopes])
    scores = (_means(x, theta) + rng.normal(0.0, 200.0, (1, 3))) / 400.0
    return _log(x, _softmax(rng, scores), _means(x, theta) + 900.0 * rng.standard_normal((n, 3)))


def pipettes(rng: Random) -> Log:
    """Errors in litres times a thousandth with four pipettes, 800 fillings, and UCB fitted anew after each."""
    n = 800
    x = _one(rng.uniform(0.0, 1.0, (n, 2)))
    rewards = 1e-3 * (_means(x, rng.normal([-2.0, 0.5, -0.5], 0.5, (4, 3))) + 0.4 * rng.standard_normal((n, 4)))
    return _log(x, _learn(rng, x, rewards, width=1e-3, every=1), rewards)


def shop_departments(rng: Random) -> Log:
    """A shop shows one of five vouchers by department alone, one-hot of twelve; departments have their seasons."""
    n = 6_000
    peaks = np.arange(12) / 12
    weights = np.exp(1.5 * np.cos(2 * np.pi * (_time(n)[:, None] - peaks)))
    x = np.eye(12)[_softmax(rng, np.log(weights))]
    rewards = _means(x, rng.normal(10.0, 3.0, (5, 12))) + 6.0 * rng.standard_normal((n, 5))
    return _log(x, _learn(rng, x, rewards, posterior=6.0), rewards)


def solar_tilt(rng: Random) -> Log:
    """Three tilts of a panel; gain levels off a little where the light is strong, and light remembers itself."""
    n = 5_000
    light = np.clip(0.5 + 0.25 * _chain(rng, n, 0.9)[:, 0], 0.0, 1.0)
    x = _one(light, rng.random((n, 2)))
    bend = -rng.uniform(0.1, 0.3, 3) * ((light - 0.5) ** 2)[:, None]
    means = _means(x, rng.normal([0.2, 1.0, 0.2, -0.2], 0.1, (3, 4))) + bend
    return _log(x, rng.integers(3, size=n), means + 0.15 * rng.standard_normal((n, 3)))


def shifting_demand(rng: Random) -> Log:
    """Four prices; what they earn bends slightly with demand, and demand rises all the time."""
    n = 8_000
    demand = 1.5 * _time(n) + rng.uniform(-1.0, 1.0, n)
    x = _one(demand, rng.standard_normal((n, 3)))
    bend = rng.uniform(0.1, 0.3, 4) * ((demand - 0.75) ** 2)[:, None]
    rewards = _means(x, rng.normal([5.0, 1.0, 0.0, 0.0, 0.0], 0.5, (4, 5))) + bend + 2.0 * rng.standard_normal((n, 4))
    return _log(x, _learn(rng, x, rewards, epsilon=0.2), rewards)


def logistic_clicks(rng: Random) -> Log:
    """Five mails, opened with logistic probabilities of about one in five, and a UCB that learns which to send."""
    n = 12_000
    x = _one(rng.standard_normal((n, 6)))
    logits = _means(x, np.column_stack([rng.normal(-1.5, 0.2, 5), rng.normal(0.0, 0.2, (5, 6))]))
    rewards = _clicks(rng, 1 / (1 + np.exp(-logits)))
    return _log(x, _learn(rng, x, rewards, width=0.8), rewards)


def small_clinic(rng: Random) -> Log:
    """Two treatments for 400 patients with nine facts, three of which follow the calendar, and Thompson sampling."""
    n = 400
    facts = rng.standard_normal((n, 9))
    facts[:, 0] += 3.0 * _time(n)
    facts[:, 1] += 2.0 * np.sin(2 * np.pi * _time(n))
    facts[:, 2] = (rng.random(n) < _time(n)).astype(np.float64)
    x = _one(facts)
    rewards = _means(x, 0.5 * rng.standard_normal((2, 10))) + rng.standard_normal((n, 2))
    return _log(x, _learn(rng, x, rewards, posterior=1.0, every=5), rewards)


def _seeded(write: Callable[[Random], Log]) -> Callable[[int], Log]:
    """The same log as a function of a seed."""
    return lambda seed: write(np.random.default_rng([seed, *write.__name__.encode()]))


LOGS: dict[str, tuple[bool, Callable[[int], Log]]] = {
    "headline swap": (True, _seeded(headline_swap)),  # blatant
    "creative fatigue": (True, _seeded(creative_fatigue)),  # moderate
    "spot market": (True, _seeded(spot_market)),  # blatant
    "new guideline": (True, _seeded(new_guideline)),  # moderate
    "balance patches": (True, _seeded(balance_patches)),  # blatant
    "slipping supplier": (True, _seeded(slipping_supplier)),  # moderate
    "late wear": (True, _seeded(late_wear)),  # blatant
    "rush hours": (True, _seeded(rush_hours)),  # moderate: large, but too fast for long windows
    "warming vineyard": (True, _seeded(warming_vineyard)),  # faint
    "strike day": (True, _seeded(strike_day)),  # faint
    "wandering fraud": (True, _seeded(wandering_fraud)),  # blatant
    "rare signups": (True, _seeded(rare_signups)),  # faint
    "ageing coil": (True, _seeded(ageing_coil)),  # blatant
    "sales moods": (True, _seeded(sales_moods)),  # faint
    "forgotten fuel": (True, _seeded(forgotten_fuel)),  # faint
    "inflation": (True, _seeded(inflation)),  # blatant
    "new curriculum": (True, _seeded(new_curriculum)),  # moderate
    "greenhouse zones": (True, _seeded(greenhouse_zones)),  # moderate
    "hotel guests": (False, _seeded(hotel_guests)),
    "ice cream": (False, _seeded(ice_cream)),
    "podcasts": (False, _seeded(podcasts)),
    "loan letters": (False, _seeded(loan_letters)),
    "new dish": (False, _seeded(new_dish)),
    "closed depot": (False, _seeded(closed_depot)),
    "steel charges": (False, _seeded(steel_charges)),
    "ageing gauge": (False, _seeded(ageing_gauge)),
    "insurance claims": (False, _seeded(insurance_claims)),
    "rare clicks": (False, _seeded(rare_clicks)),
    "one huge user": (False, _seeded(one_huge_user)),
    "freight rates": (False, _seeded(freight_rates)),
    "pipettes": (False, _seeded(pipettes)),
    "shop departments": (False, _seeded(shop_departments)),
    "solar tilt (bent)": (False, _seeded(solar_tilt)),
    "shifting demand (bent)": (False, _seeded(shifting_demand)),
    "logistic clicks (bent)": (False, _seeded(logistic_clicks)),
    "small clinic": (False, _seeded(small_clinic)),
}
"""Name to whether the mean reward of some arm changes with time, and the function that writes the log for a seed."""
