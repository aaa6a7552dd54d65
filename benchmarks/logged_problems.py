"""Sixteen problems with logs, set without knowledge of the policies or of the recommendation under test.

Each is of another trade, in which all arms share the features of the context, and an earlier system of that trade
wrote a log: what it saw, which arm it chose, and what came of it. Rewards in the log scatter as in the environment.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armspan.environments import Bernoulli, Environment, FiniteContexts, MarkovContexts, Rademacher, RewardTable
from armspan.environments.table import TableEnvironment

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Log = tuple[Array, Ints, Array]
Logger = Callable[[TableEnvironment, Ints, Array, np.random.Generator], Ints]
"""From the environment, the contexts (n,), what each arm would give (n, K) and a generator to the chosen arms (n,)."""


# How logs are written


def _uniform() -> Logger:
    """Every arm is equally likely."""
    return lambda env, contexts, rewards, rng: rng.integers(env.n_arms, size=len(contexts))


def _shares(*shares: float) -> Logger:
    """Arms are drawn at random with these shares, whatever the context."""
    return lambda env, contexts, rewards, rng: rng.choice(env.n_arms, len(contexts), p=shares)


def _round_robin(newcomer: int | None = None) -> Logger:
    """Arms take turns; if the last one is a newcomer, it has every other of the last turns, so many in all."""

    def choose(env: TableEnvironment, contexts: Ints, rewards: Array, rng: np.random.Generator) -> Ints:
        if newcomer is None:
            return np.arange(len(contexts)) % env.n_arms
        arms = np.arange(len(contexts)) % (env.n_arms - 1)
        arms[-2 * newcomer :: 2] = env.n_arms - 1
        return arms

    return choose


def _epsilon_greedy(phase: int, epsilon: float) -> Logger:
    """Uniform for a phase; then the best by least squares, fitted anew now and then, but for a share epsilon."""

    def choose(env: TableEnvironment, contexts: Ints, rewards: Array, rng: np.random.Generator) -> Ints:
        x, n = env.features[0][contexts], len(contexts)
        arms, explores, start = rng.integers(env.n_arms, size=n), rng.random(n) < epsilon, phase
        while start < n:
            now = slice(start, min(n, start + start // 4 + 1))
            mine = [np.flatnonzero(arms[:start] == arm) for arm in range(env.n_arms)]
            fits = [np.linalg.lstsq(x[rows], rewards[rows, arm], rcond=None)[0] for arm, rows in enumerate(mine)]
            arms[now] = np.where(explores[now], arms[now], (x[now] @ np.array(fits).T).argmax(axis=1))
            start = now.stop
        return arms

    return choose


def _by_table(picks: Callable[[TableEnvironment], Ints], epsilon: float) -> Logger:
    """Whoever has a fixed choice for each context, but for a share epsilon at random."""

    def choose(env: TableEnvironment, contexts: Ints, rewards: Array, rng: np.random.Generator) -> Ints:
        n = len(contexts)
        return np.where(rng.random(n) < epsilon, rng.integers(env.n_arms, size=n), picks(env)[contexts])

    return choose


def _rule_of_thumb(feature: int, *arms: int) -> Logger:
    """One feature says which of these arms it is, the first where it is low; one choice in ten is random."""

    def picks(env: TableEnvironment) -> Ints:
        values = env.features[0][:, feature]
        cuts = np.quantile(values, np.arange(1, len(arms)) / len(arms))
        return np.array(arms)[np.searchsorted(cuts, values)]

    return _by_table(picks, 0.1)


def _old_model(*wrong: int) -> Logger:
    """A model that knows all but the wrong arms, which it thinks good where they are bad; 5 % are random."""

    def picks(env: TableEnvironment) -> Ints:
        guess = env.reward_table.copy()
        for arm in wrong:
            guess[arm] = 2 * guess[arm].mean() - guess[arm]
        return guess.argmax(axis=0)

    return _by_table(picks, 0.05)


def _softmax(error: float, temperature: float, seed: int) -> Logger:
    """Softmax over a guess of the parameters; error and temperature are shares of how much arms differ."""

    def choose(env: TableEnvironment, contexts: Ints, rewards: Array, rng: np.random.Generator) -> Ints:
        slips = error * env.theta.std(axis=0) * np.random.default_rng(seed).standard_normal(env.theta.shape)
        guess = env.features[0] @ (env.theta + slips).T
        scores = guess / (temperature * guess.std(axis=1).mean())
        noisy = scores[contexts] + rng.gumbel(size=(len(contexts), env.n_arms))  # its largest is a draw of softmax
        return noisy.argmax(axis=1)

    return choose


def _arrivals(env: TableEnvironment, n: int, rng: np.random.Generator) -> Ints:
    """Contexts (n,) that arrive as they do in the environment."""
    if not isinstance(env, MarkovContexts):
        return rng.choice(env.n_contexts, n, p=env.probabilities)
    contexts, chain = np.empty(n, dtype=np.int64), np.cumsum(env.transition, axis=1)
    contexts[0] = rng.choice(env.n_contexts, p=env.probabilities)
    for step, chance in enumerate(rng.random(n - 1), start=1):
        contexts[step] = min(np.searchsorted(chain[contexts[step - 1]], chance, side="right"), env.n_contexts - 1)
    return contexts


def _outcomes(env: TableEnvironment, contexts: Ints, rng: np.random.Generator) -> Array:
    """What each arm would give in these contexts, (n, K), with the noise of the environment."""
    means = env.reward_table.T[contexts]
    if isinstance(env.noise, Bernoulli):
        return (rng.random(means.shape) < means).astype(np.float64)
    if isinstance(env.noise, Rademacher):
        return means + env.noise.scale * rng.choice([-1.0, 1.0], means.shape)
    return means + env.noise.scale * rng.standard_normal(means.shape)


Problem = tuple[Callable[[], Environment], int, Callable[[int], Log]]


def _problem(make: Callable[[], TableEnvironment], horizon: int, rows: int, logger: Logger) -> Problem:
    """The environment, the horizon, and a log of so many rows by this logger for a seed."""

    def write(seed: int) -> Log:
        env = make()
        rng = np.random.default_rng([seed, *env.name.encode()])
        contexts = _arrivals(env, rows, rng)
        rewards = _outcomes(env, contexts, rng)
        arms = logger(env, contexts, rewards, rng)
        return env.features[0][contexts], arms, rewards[np.arange(rows), arms]

    return make, horizon, write


# What the problems are made of


def _with_one(*columns: NDArray[Any]) -> Array:
    """Features (n, d): a constant 1, then these columns."""
    return np.column_stack([np.ones(len(columns[0])), *columns])


def _between(x: Array, theta: Array, low: float, high: float) -> Array:
    """Parameters moved and scaled so that mean rewards on x, whose first column is 1, fill low to high."""
    scaled = theta * (high - low) / np.ptp(x @ theta.T)
    shift = np.zeros_like(scaled)
    shift[:, 0] = low - (x @ scaled.T).min()
    return scaled + shift


# The problems


def ferry_boarding() -> TableEnvironment:
    """A ferry boards in one of two orders by the number of cars, and is some twenty minutes late either way."""
    x = _with_one(np.linspace(0.1, 2.0, 20))
    return FiniteContexts(x, [[-13.0, -7.0], [-20.0, -1.5]], noise=15.0, name="ferry boarding")


def orchard_spraying() -> TableEnvironment:
    """An orchard picks one of four sprays from five leaf measures, and weighs some fifty kilos almost exactly."""
    rng = np.random.default_rng(51_002)
    x = _with_one(rng.uniform(-1.0, 1.0, (120, 5)))
    theta = _between(x, rng.standard_normal((4, 6)), 45.0, 56.0)
    return FiniteContexts(x, theta, noise=0.1, name="orchard spraying")


def pharmacy_leaflets() -> TableEnvironment:
    """A pharmacy adds one of six leaflets by seven yes-or-no facts, two of them rare; one to three in 100 answer."""
    rng = np.random.default_rng(51_003)
    facts = np.array([(row >> np.arange(7)) & 1 for row in range(128)], dtype=np.float64)
    how_often = np.array([0.5, 0.4, 0.3, 0.6, 0.2, 0.03, 0.01])
    probabilities = np.prod(np.where(facts > 0, how_often, 1 - how_often), axis=1)
    x = _with_one(facts)
    theta = _between(x, rng.standard_normal((6, 8)), 0.01, 0.03)
    return FiniteContexts(x, theta, probabilities, Bernoulli(), name="pharmacy leaflets")


def cab_ranks() -> TableEnvironment:
    """A cab waits at one of five ranks by the hour alone, one-hot, and the hours follow one another."""
    rng = np.random.default_rng(51_004)
    hours = np.eye(24)
    daily = np.sin(2 * np.pi * (np.arange(24) / 24 + rng.random((5, 1))))
    theta = 9.0 + 3.0 * daily + rng.standard_normal((5, 24))
    return MarkovContexts(hours, theta, 0.8 * hours + 0.2 * np.roll(hours, 1, axis=1), 4.0, name="cab ranks")


def theatre_prices() -> TableEnvironment:
    """A theatre asks one of eight prices for a seat; what that earns bends with the demand and is not linear."""
    rng = np.random.default_rng(51_005)
    x = _with_one(rng.uniform(-1.0, 1.0, (350, 4)))
    prices = np.linspace(10.0, 52.0, 8)[:, None]
    worth = 28.0 + x[:, 1:] @ np.array([14.0, 6.0, -4.0, 3.0])
    return RewardTable(x, prices / (1 + np.exp((prices - worth) / 5.0)), noise=25.0, name="theatre prices")


def foundry_alloys() -> TableEnvironment:
    """A foundry casts one of three alloys by twenty-nine measures that follow five causes closely."""
    rng = np.random.default_rng(51_006)
    measures = rng.standard_normal((500, 5)) @ rng.standard_normal((5, 29)) / 2 + 0.25 * rng.standard_normal((500, 29))
    x = _with_one(measures)
    theta = _between(x, rng.standard_normal((3, 30)), -1.0, 1.0)
    return FiniteContexts(x, theta, noise=3.0, name="foundry alloys")


def library_shelf() -> TableEnvironment:
    """A library shows a reader one of twelve books by counts of earlier loans in eight genres; many borrow it."""
    rng = np.random.default_rng(51_007)
    x = _with_one(rng.poisson([3.0, 2.0, 2.0, 1.5, 1.5, 1.0, 1.0, 0.7], (600, 8)))
    theta = _between(x, rng.standard_normal((12, 9)), 0.1, 0.75)
    return FiniteContexts(x, theta, noise=Bernoulli(), name="library shelf")


def grid_reserve() -> TableEnvironment:
    """A power grid picks one of seven reserves from megawatts, hertz and degrees, to save thousandths in loud noise."""
    rng = np.random.default_rng(51_008)
    low, high = np.array([300.0, -0.05, -8.0]), np.array([850.0, 0.05, 31.0])
    x = _with_one(rng.uniform(low, high, (400, 3)))
    theta = rng.standard_normal((7, 4))
    theta[:, 1:] /= high - low
    theta[:, 0] = -theta[:, 1:] @ (low + high) / 2 + 0.1 * theta[:, 0]
    return FiniteContexts(x, _between(x, theta, 1e-3, 4e-3), noise=0.015, name="grid reserve")


def blood_bank() -> TableEnvironment:
    """A blood bank sends one of three units; one is right only for a marker that one patient in fifty has."""
    rng = np.random.default_rng(51_009)
    marker = np.arange(250) < 25
    x = _with_one(rng.uniform(-1.0, 1.0, (250, 2)), marker)
    theta = np.array([[2.0, 0.9, -0.3, -1.0], [2.1, -0.7, 0.5, -1.2], [0.4, 0.3, 0.3, 2.6]])
    return FiniteContexts(x, theta, np.where(marker, 0.02 / 25, 0.98 / 225), 0.8, name="blood bank")


def language_school() -> TableEnvironment:
    """A language school assigns one of fifteen teachers who hardly differ, the last of whom came a week ago."""
    rng = np.random.default_rng(51_010)
    x = _with_one(rng.beta(2.0, 2.0, (200, 4)) * 2)
    theta = np.array([4.0, 1.0, 0.5, -0.5, 0.8]) + 0.03 * rng.standard_normal((15, 5))
    return FiniteContexts(x, theta, noise=0.7, name="language school")


def lift_repairs() -> TableEnvironment:
    """A lift firm picks one of four repairs, all at a cost and one never the best; three columns repeat others."""
    rng = np.random.default_rng(51_011)
    age, doors, motor = rng.uniform(0.2, 3.0, 300), rng.poisson(1.2, 300), rng.poisson(0.8, 300)
    x = _with_one(age, doors, motor, doors + motor, age, 3.0 - age)
    theta = np.array([[-1.0, -0.9, -0.2, -1.3], [-2.2, -0.3, -0.9, -0.3], [-3.9, -0.2, -0.1, -0.2]])
    theta = np.vstack([theta, theta.mean(axis=0) - [1.5, 0.0, 0.0, 0.0]])
    return FiniteContexts(x, np.hstack([theta, np.zeros((4, 3))]), noise=1.6, name="lift repairs")


def wine_auction() -> TableEnvironment:
    """A merchant sends wine to one of five auction houses, each with a taste of kinks and folds around fifty euros."""
    rng = np.random.default_rng(51_012)
    x = _with_one(rng.standard_normal((450, 6)))
    likes, minds = rng.normal(0.0, 0.5, (2, 5, 7))
    rewards = 52.0 + 5.0 * np.maximum(likes @ x.T, 0.0) - 3.0 * np.abs(minds @ x.T)
    return RewardTable(x, rewards, rng.dirichlet(np.ones(450)), 6.0, name="wine auction")


def job_adverts() -> TableEnvironment:
    """A job agency mails one of nine adverts by trade, one-hot beside a constant, and scores; replies are logistic."""
    rng = np.random.default_rng(51_013)
    trades = np.eye(6)[rng.choice(6, 700, p=[0.4, 0.25, 0.15, 0.1, 0.06, 0.04])]
    x = _with_one(trades, rng.uniform(0.0, 2.0, (700, 5)))
    chances = 1 / (1 + np.exp(1.8 - rng.normal(0.0, 0.7, (9, 12)) @ x.T))
    return RewardTable(x, chances, noise=Bernoulli(), name="job adverts")


def fishing_grounds() -> TableEnvironment:
    """A trawler sails to one of six grounds in weather that lasts and whose measures move together; catches vary."""
    rng = np.random.default_rng(51_014)
    weather = rng.standard_normal((60, 2))
    x = _with_one(weather @ rng.standard_normal((2, 4)) + 0.3 * rng.standard_normal((60, 4)))
    theta = _between(x, rng.standard_normal((6, 5)), 2.0, 9.0)
    near = np.exp(-6.0 * ((weather[:, None] - weather) ** 2).sum(axis=2)) + 1e-3
    return MarkovContexts(x, theta, near / near.sum(axis=1, keepdims=True), 17.0, name="fishing grounds")


def coffee_roasting() -> TableEnvironment:
    """A roaster picks one of three curves, two almost alike, by degrees, damp and kilos with no intercept."""
    rng = np.random.default_rng(51_015)
    units = np.array([230.0, 0.13, 60.0])
    x = rng.uniform([0.75, 0.6, 0.1], 1.0, (80, 3)) * units
    theta = np.array([[70.0, 9.0, 6.0], [69.9, 9.3, 5.8], [74.0, 15.0, -8.0]]) / units
    return FiniteContexts(x, theta, noise=Rademacher(4.0), name="coffee roasting")


def charity_letters() -> TableEnvironment:
    """A charity posts one of five letters to eighteen groups of donors; one is best nowhere, one was hardly sent."""
    rng = np.random.default_rng(51_016)
    theta = rng.uniform(0.1, 0.5, (5, 18))
    theta[2] = 0.8 * np.median(theta, axis=0)
    return FiniteContexts(np.eye(18), theta, rng.dirichlet(np.full(18, 2.0)), Bernoulli(), name="charity letters")


LOGGED: dict[str, Problem] = {
    "ferry boarding": _problem(ferry_boarding, 2_000, 300, _uniform()),
    "orchard spraying": _problem(orchard_spraying, 3_000, 600, _round_robin()),
    "pharmacy leaflets": _problem(pharmacy_leaflets, 40_000, 20_000, _shares(0.05, 0.7, 0.1, 0.05, 0.06, 0.04)),
    "cab ranks": _problem(cab_ranks, 20_000, 4_000, _epsilon_greedy(300, 0.1)),
    "theatre prices": _problem(theatre_prices, 10_000, 2_500, _rule_of_thumb(1, 1, 3, 4, 6)),
    "foundry alloys": _problem(foundry_alloys, 15_000, 3_000, _old_model(2)),
    "library shelf": _problem(library_shelf, 25_000, 8_000, _softmax(0.8, 0.7, 52_007)),
    "grid reserve": _problem(grid_reserve, 40_000, 10_000, _uniform()),
    "blood bank": _problem(blood_bank, 8_000, 1_500, _old_model(2)),
    "language school": _problem(language_school, 12_000, 900, _round_robin(newcomer=7)),
    "lift repairs": _problem(lift_repairs, 6_000, 2_000, _epsilon_greedy(80, 0.1)),
    "wine auction": _problem(wine_auction, 5_000, 1_200, _shares(0.7, 0.12, 0.1, 0.05, 0.03)),
    "job adverts": _problem(job_adverts, 30_000, 6_000, _softmax(0.5, 0.6, 52_013)),
    "fishing grounds": _problem(fishing_grounds, 20_000, 5_000, _rule_of_thumb(2, 0, 5, 3)),
    "coffee roasting": _problem(coffee_roasting, 4_000, 700, _epsilon_greedy(60, 0.15)),
    "charity letters": _problem(charity_letters, 18_000, 5_000, _shares(0.3, 0.409, 0.2, 0.001, 0.09)),
}
"""Name to the function that makes the environment, the horizon, and the function that writes the log for a seed."""
