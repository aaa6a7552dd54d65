"""More logs with and without drift, drawn up by someone who had not read the rule that they test.

Twenty-four kinds, other than those of `drifting_problems`. In half of them the mean reward of some arm, given the
features, truly changes with time. In the other half it never does, and it is linear in the features, except in the one
whose name says that it is bent; but contexts, noise, offers or the logger are of a sort that may look like drift.
"""

from collections.abc import Callable

import numpy as np

from benchmarks.drifting_problems import (
    Array,
    Log,
    Random,
    _about,
    _chain,
    _clicks,
    _learn,
    _log,
    _means,
    _one,
    _only,
    _seeded,
    _softmax,
    _steps,
    _time,
)

# What these logs are made of, besides


def _in_turn(n: int, n_arms: int, each: int) -> Array:
    """What is offered (n, K): at first one arm alone, in turn, until all have had so many rows, and then all arms."""
    offered = np.ones((n, n_arms), dtype=bool)
    start = n_arms * each
    offered[:start] = np.eye(n_arms, dtype=bool)[np.arange(start) % n_arms]
    return offered


def _walk(rng: Random, n: int, end: float, d: int = 1) -> Array:
    """Columns (n, d) that walk at random from 0, and whose ends scatter by this much."""
    return end / np.sqrt(n) * rng.standard_normal((n, d)).cumsum(axis=0)


# Logs in which rewards drift


def oven_profiles(rng: Random) -> Log:
    """Four profiles of a kiln, fired in turn; a new lining at three tenths changes all; there is no constant."""
    n = 1_000
    x = rng.normal(0.5, 1.0, (n, 4))
    theta, change = rng.normal(0.0, 2.0, (4, 4)), rng.normal(0.0, 1.5, (4, 4))
    rewards = _means(x, theta, (_steps(n, 0.3), change)) + rng.standard_normal((n, 4))
    return _log(x, np.arange(n) % 4, rewards)


def tyre_wear(rng: Random) -> Log:
    """Lap times on five tyres; one tyre's slope on heat ramps by half of what laps scatter, and days get hotter."""
    n = 6_000
    facts = rng.standard_normal((n, 6))
    facts[:, 2] += 1.5 * _time(n)
    x = _one(facts)
    theta = np.column_stack([rng.normal(90.0, 1.0, 5), rng.normal(0.0, 0.5, (5, 6))])
    slope = np.eye(7)[3] * rng.choice([-0.5, 0.5])
    rewards = _means(x, theta, (_time(n), _only(5, int(rng.integers(5)), slope))) + rng.standard_normal((n, 5))
    return _log(x, rng.integers(5, size=n), rewards)


def fishing_tides(rng: Random) -> Log:
    """Catches at three banks; five tides, not in the log, swing each by a fifth of what catches scatter."""
    n = 9_000
    x = _one(rng.uniform(-1.0, 1.0, (n, 3)))
    theta, swing = rng.normal([20.0, 1.0, 0.0, -1.0], 1.0, (3, 4)), np.zeros((3, 4))
    swing[:, 0] = rng.choice([-1.0, 1.0], 3) * rng.uniform(0.8, 1.2, 3)
    tide = np.sin(2 * np.pi * (5 * _time(n) + rng.random()))
    rewards = _means(x, theta, (tide, swing)) + 5.0 * rng.standard_normal((n, 3))
    return _log(x, _learn(rng, x, rewards - 20.0, epsilon=0.3, every=100), rewards)


def street_vendors(rng: Random) -> Log:
    """Takings at eight corners, each of which walks at random on its own; the vendor forgets as she learns."""
    n = 4_000
    x = _one(rng.random((n, 2)))
    theta = rng.normal([0.0, 1.0, -1.0], 0.5, (8, 3))
    drift = _walk(rng, n, 1.5, 8)
    rewards = _means(x, theta) + drift + rng.standard_normal((n, 8))
    return _log(x, _learn(rng, x, rewards, epsilon=0.2, keep=0.9, every=40), rewards)


def last_weeks(rng: Random) -> Log:
    """One of three search pages loses a quarter of a standard deviation in the last 6 % of a long log."""
    n = 15_000
    x = _one(rng.standard_normal((n, 4)))
    theta = rng.normal(0.0, 0.5, (3, 5))
    change = _only(3, int(rng.integers(3)), [-0.25, 0.0, 0.0, 0.0, 0.0])
    rewards = _means(x, theta, (_steps(n, 0.94), change)) + rng.standard_normal((n, 3))
    return _log(x, rng.integers(3, size=n), rewards)


def first_shifts(rng: Random) -> Log:
    """Workers at five machines get used to them within the first tenth of the log, and nothing changes after."""
    n = 5_000
    x = _one(rng.gamma(2.0, 0.5, n), rng.random((n, 3)))
    theta = np.column_stack([rng.normal(30.0, 2.0, 5), rng.normal(0.0, 2.0, (5, 4))])
    loss = np.zeros((5, 5))
    loss[:, 0] = -rng.uniform(2.4, 4.0, 5)
    rewards = _means(x, theta, (np.exp(-_time(n) / 0.05), loss)) + 4.0 * rng.standard_normal((n, 5))
    return _log(x, rng.choice(5, n, p=[0.3, 0.3, 0.2, 0.1, 0.1]), rewards)


def exact_clock(rng: Random) -> Log:
    """Two oscillators without any noise; the gain of one creeps by a thousandth over 500 readings."""
    n = 500
    x = _one(rng.uniform(-1.0, 1.0, (n, 2)))
    theta = rng.normal([10.0, 0.5, -0.5], 0.2, (2, 3))
    return _log(x, rng.integers(2, size=n), _means(x, theta, (_time(n), _only(2, 1, 1e-3 * theta[1]))))


def stale_coupons(rng: Random) -> Log:
    """Four coupons redeemed by about 8 %; the best one drops by 3 points at three fifths, and UCB finds out."""
    n = 25_000
    x = _one(rng.random((n, 2)), rng.integers(2, size=n))
    theta = _about(rng, [[0.07, 0.01, 0.02, 0.01], [0.05, 0.02, 0.01, 0.01], [0.04, 0.01, 0.0, 0.03], [0.03] * 4], 0.1)
    best = int((x @ theta.T).mean(axis=0).argmax())
    lost = np.array([min(0.03, 0.9 * theta[best, 0]), 0.0, 0.0, 0.0])
    rewards = _clicks(rng, _means(x, theta, (_steps(n, 0.6), _only(4, best, -lost))))
    return _log(x, _learn(rng, x, rewards, width=0.5, every=100), rewards)


def thinning_herds(rng: Random) -> Log:
    """Animals counted by three methods, Poisson with about four; one method's counts ramp down by a quarter."""
    n = 3_000
    x = _one(rng.random((n, 4)))
    theta = rng.uniform([2.5, 0.2, 0.2, 0.2, 0.2], [3.5, 1.0, 1.0, 1.0, 1.0], (3, 5))
    means = _means(x, theta, (_time(n), _only(3, int(rng.integers(3)), [-1.0, 0.0, 0.0, 0.0, 0.0])))
    return _log(x, rng.integers(3, size=n), rng.poisson(means).astype(np.float64))


def night_exchange(rng: Random) -> Log:
    """Prices near a million of six exchanges; the one used for 3 % of orders jumps by half a standard deviation."""
    n = 8_000
    x = _one(rng.standard_normal((n, 5)))
    theta = np.column_stack([1e6 + rng.normal(0.0, 50.0, 6), rng.normal(0.0, 20.0, (6, 5))])
    change = _only(6, 5, [20.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    rewards = _means(x, theta, (_steps(n, rng.uniform(0.4, 0.6)), change)) + 40.0 * rng.standard_normal((n, 6))
    return _log(x, rng.choice(6, n, p=[0.3, 0.2, 0.2, 0.17, 0.1, 0.03]), rewards)


def turned_compass(rng: Random) -> Log:
    """Slopes of two courses turn round half way and mean rewards stay; noise remembers half of itself."""
    n = 6_500
    x = _one(rng.standard_normal((n, 9)))
    theta, change = rng.normal(0.0, 0.4, (4, 10)), np.zeros((4, 10))
    for arm in rng.choice(4, 2, replace=False):
        change[arm, 1:] = -2 * theta[arm, 1:]
    noise = _chain(rng, n, 0.5)
    rewards = _means(x, theta, (_steps(n, 0.5), change)) + noise
    return _log(x, rng.integers(4, size=n), rewards)


def many_small_moves(rng: Random) -> Log:
    """Twelve playlists and twelve features; each arm moves once, when it will, by a little in every coefficient."""
    n = 30_000
    x = _one(rng.standard_normal((n, 11)))
    theta = rng.normal(0.0, 0.3, (12, 12))
    moves = [(_steps(n, rng.uniform(0.3, 0.7)), _only(12, arm, rng.normal(0.0, 0.04, 12))) for arm in range(12)]
    return _log(x, rng.integers(12, size=n), _means(x, theta, *moves) + rng.standard_normal((n, 12)))


# Logs in which they do not


def drifting_buoys(rng: Random) -> Log:
    """Three pumps by three readings of buoys, each of which is a random walk and nothing else; UCB."""
    n = 7_000
    x = _one(_walk(rng, n, 4.0, 3))
    rewards = _means(x, rng.normal(0.0, 0.6, (3, 4))) + rng.standard_normal((n, 3))
    return _log(x, _learn(rng, x, rewards, width=2.0, every=25), rewards)


def checkout_queues(rng: Random) -> Log:
    """Two ways to open tills, drawn at random; what customers save remembers 0.6 of what the last one's luck was."""
    n = 2_500
    x = _one(rng.gamma(2.0, 1.0, n), rng.random(n) < 0.4)
    rewards = _means(x, rng.normal([5.0, 0.5, -1.0], 0.5, (2, 3))) + 2.0 * _chain(rng, n, 0.6)
    return _log(x, rng.integers(2, size=n), rewards)


def weir_gates(rng: Random) -> Log:
    """Four gates of a weir, one drawn for each day of 24 hours; seasonal waters, and noise with a memory of 0.85."""
    n = 9_000
    hours = np.arange(n)
    season = np.sin(2 * np.pi * (hours / 4_500 + rng.random())) + 0.3 * rng.standard_normal(n)
    daily = np.cos(2 * np.pi * hours / 24) + 0.3 * rng.standard_normal(n)
    x = _one(season, daily, _chain(rng, n, 0.9, 2))
    arms = np.repeat(rng.integers(4, size=n // 24 + 1), 24)[:n]
    return _log(x, arms, _means(x, rng.standard_normal((4, 5))) + _chain(rng, n, 0.85))


def bird_feeders(rng: Random) -> Log:
    """Visits to five feeders, Poisson with means linear in cold and snow, which grow; no constant, and UCB."""
    n = 12_000
    cold = rng.gamma(2.0, 0.3 + 0.7 * _time(n))
    x = np.column_stack([cold, rng.random(n) < 0.6 * _time(n), rng.random(n)])
    theta = rng.uniform([0.2, 0.0, 0.2], [1.0, 2.0, 1.0], (5, 3))
    rewards = rng.poisson(_means(x, theta)).astype(np.float64)
    return _log(x, _learn(rng, x, rewards, width=2.0, every=40), rewards)


def tiny_trial(rng: Random) -> Log:
    """Four diets, eleven facts and 320 people whose age and weight trend; ten each in turn, and then greedily."""
    n = 320
    facts = rng.standard_normal((n, 11))
    facts[:, :2] += 2.0 * _time(n)[:, None] * rng.choice([-1.0, 1.0], 2)
    x = _one(facts)
    rewards = _means(x, rng.normal(0.0, 0.4, (4, 12))) + 1.5 * rng.standard_normal((n, 4))
    return _log(x, _learn(rng, x, rewards, every=4, offered=_in_turn(n, 4, 10)), rewards)


def donation_pleas(rng: Random) -> Log:
    """Twelve pleas with three gifts in a thousand, more from old friends, who come in waves; epsilon-greedy."""
    n = 30_000
    x = _one(rng.random(n) < 0.4 + 0.35 * np.sin(2 * np.pi * (3 * _time(n) + rng.random())))
    theta = rng.uniform([0.0005, 0.0005], [0.003, 0.005], (12, 2))
    rewards = _clicks(rng, _means(x, theta))
    return _log(x, _learn(rng, x, rewards, epsilon=0.1, every=300), rewards)


def satellite_ranges(rng: Random) -> Log:
    """Ranges near 1e9 from three stations; two of five gauges were wired as one until half way, and then apart."""
    n = 1_500
    facts = rng.standard_normal((n, 5))
    facts[: n // 2, 1] = facts[: n // 2, 0]
    x = _one(facts)
    theta = np.column_stack([1e9 + rng.normal(0.0, 1.0, 3), rng.standard_normal((3, 5))])
    arms = _softmax(rng, x[:, :3] @ rng.normal(0.0, 0.7, (3, 3)))
    return _log(x, arms, _means(x, theta) + 0.5 * rng.standard_normal((n, 3)))


def lab_balance(rng: Random) -> Log:
    """Five programmes of a balance that errs by 1e-7; ten rows each in turn, then greedily, as the room warms up."""
    n = 600
    facts = rng.uniform(-1.0, 1.0, (n, 7))
    facts[:, 0] = 20.0 + 5.0 * _time(n) + 0.5 * facts[:, 0]
    x = _one(facts)
    theta = np.column_stack([rng.normal(2.0, 1.0, 5), rng.normal(0.0, 0.1, 5), rng.normal(0.0, 1.0, (5, 6))])
    rewards = _means(x, theta) + 1e-7 * rng.standard_normal((n, 5))
    return _log(x, _learn(rng, x, rewards, every=10, offered=_in_turn(n, 5, 10)), rewards)


def seasonal_stalls(rng: Random) -> Log:
    """Nine stalls of which eight come and go with seasons of their own, as visitors do; Thompson sampling."""
    n = 10_000
    phases = 2 * np.pi * (_time(n)[:, None] * rng.integers(1, 5, 9) + rng.random(9))
    x = _one(np.sin(phases[:, 1:3]) + 0.5 * rng.standard_normal((n, 2)), rng.standard_normal((n, 2)))
    offered = np.sin(phases) > 0.1
    offered[:, 0] = True
    rewards = _means(x, rng.standard_normal((9, 5))) + 2.0 * rng.standard_normal((n, 9))
    return _log(x, _learn(rng, x, rewards, epsilon=0.02, posterior=2.0, every=20, offered=offered), rewards)


def bond_desks(rng: Random) -> Log:
    """Two desks whose noise swaps scales half way and is ten times as large in a crisis; clients change at once."""
    n = 4_000
    half = _steps(n, 0.5)
    start = rng.uniform(0.1, 0.8)
    x = _one(rng.standard_normal((n, 3)) + half[:, None] * rng.normal(0.0, 2.0, 3))
    scale = np.column_stack([1.0 + 3.0 * half, 4.0 - 3.0 * half]) * (1.0 + 9.0 * _steps(n, start, start + 0.1)[:, None])
    rewards = _means(x, rng.standard_normal((2, 4))) + scale * rng.standard_t(4, (n, 2))
    return _log(x, (rng.random(n) < 0.2 + 0.6 * half).astype(np.int64), rewards)


def venture_bets(rng: Random) -> Log:
    """Seven kinds of bets that pay their linear mean times Pareto luck with a tail of 2.5, in ever larger rounds."""
    n = 20_000
    rounds = rng.gamma(2.0, 0.5 + 1.0 * _time(n))
    x = _one(rounds, rng.random((n, 4)))
    theta = rng.uniform([0.5, 0.5, 0.0, 0.0, 0.0, 0.0], [1.0, 1.5, 1.0, 1.0, 1.0, 1.0], (7, 6))
    luck = (1.0 + rng.pareto(2.5, (n, 7))) * 1.5 / 2.5
    rewards = _means(x, theta) * luck
    return _log(x, _learn(rng, x, rewards, posterior=2.0, every=100), rewards)


def apricot_drier(rng: Random) -> Log:
    """Three settings of a drier; gain bends with moisture, which wanders slowly, and the logger is epsilon-greedy."""
    n = 3_500
    moisture = _chain(rng, n, 0.995)[:, 0]
    x = _one(moisture, rng.standard_normal((n, 2)))
    bend = -rng.uniform(0.05, 0.15, 3) * (moisture**2)[:, None]
    rewards = _means(x, rng.normal(0.0, 0.4, (3, 4))) + bend + 0.8 * rng.standard_normal((n, 3))
    return _log(x, _learn(rng, x, rewards, epsilon=0.2), rewards)


MORE_LOGS: dict[str, tuple[bool, Callable[[int], tuple[Array, Array, Array]]]] = {
    "oven profiles": (True, _seeded(oven_profiles)),  # blatant
    "tyre wear": (True, _seeded(tyre_wear)),  # moderate
    "fishing tides": (True, _seeded(fishing_tides)),  # moderate: halves of the log have the same means
    "street vendors": (True, _seeded(street_vendors)),  # blatant
    "last weeks": (True, _seeded(last_weeks)),  # faint
    "first shifts": (True, _seeded(first_shifts)),  # moderate
    "exact clock": (True, _seeded(exact_clock)),  # blatant: there is no noise at all
    "stale coupons": (True, _seeded(stale_coupons)),  # moderate
    "thinning herds": (True, _seeded(thinning_herds)),  # moderate
    "night exchange": (True, _seeded(night_exchange)),  # faint
    "turned compass": (True, _seeded(turned_compass)),  # blatant
    "many small moves": (True, _seeded(many_small_moves)),  # faint
    "drifting buoys": (False, _seeded(drifting_buoys)),
    "checkout queues": (False, _seeded(checkout_queues)),
    "weir gates": (False, _seeded(weir_gates)),
    "bird feeders": (False, _seeded(bird_feeders)),
    "tiny trial": (False, _seeded(tiny_trial)),
    "donation pleas": (False, _seeded(donation_pleas)),
    "satellite ranges": (False, _seeded(satellite_ranges)),
    "lab balance": (False, _seeded(lab_balance)),
    "seasonal stalls": (False, _seeded(seasonal_stalls)),
    "bond desks": (False, _seeded(bond_desks)),
    "venture bets": (False, _seeded(venture_bets)),
    "apricot drier (bent)": (False, _seeded(apricot_drier)),
}
"""Name to whether the mean reward of some arm changes with time, and the function that writes the log for a seed."""
