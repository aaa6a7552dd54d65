"""Twenty problems drawn blind for the recommendation, after the first twenty had been used.

Each imitates an application and draws its numbers from a fixed seed; none was tuned to any result.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from armspan.environments import (
    Bernoulli,
    BoxContexts,
    DelayedRewards,
    DriftingContexts,
    Environment,
    FiniteContexts,
    MarkovContexts,
    PerturbedContexts,
    RewardTable,
    labelled,
)

Array = NDArray[np.float64]


def _for_all(x: Array, arms: int) -> Array:
    """The same features (n, d) shown for every arm."""
    return np.array(np.broadcast_to(x, (arms, *x.shape)))


def _with_one(x: Array) -> Array:
    """The features (n, d) after a leading constant."""
    return np.column_stack([np.ones(len(x)), x])


def _scaled(features: Array, theta: Array, spread: float) -> Array:
    """Rescale theta so that mean rewards have this standard deviation over arms (averaged over contexts)."""
    means = np.einsum("knd,kd->kn", features, theta)
    return np.asarray(theta * (spread / means.std(axis=0).mean()), dtype=np.float64)


def _zipf(n: int, power: float = 1.0) -> Array:
    """Probabilities that fall as a power of the rank."""
    weights = np.arange(1, n + 1, dtype=np.float64) ** -power
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _sticky(n: int, stay: float) -> Array:
    """A chain that stays where it is with this probability and else moves anywhere."""
    return stay * np.eye(n) + (1 - stay) * np.full((n, n), 1 / n)


def thermostat() -> Environment:
    """Heating level of a room: two-hour slots of the day times three kinds of weather, one after the other."""
    rng = np.random.default_rng(7101)
    slot, weather = np.divmod(np.arange(36), 3)
    angle = 2 * np.pi * slot / 12
    occupied = ((slot >= 4) & (slot <= 9)).astype(np.float64)
    x = np.column_stack([np.ones(36), weather - 1.0, occupied, np.sin(angle), np.cos(angle)])
    clock = 0.1 * np.eye(12) + 0.9 * np.roll(np.eye(12), 1, axis=1)
    features = _for_all(x, 4)
    theta = _scaled(features, rng.normal(size=(4, 5)), 0.5)
    return MarkovContexts(features, theta, np.kron(clock, _sticky(3, 0.9)), noise=0.3, name="thermostat")


def call_routing() -> Environment:
    """Eight teams of a call centre: five languages (one-hot) and two measures of the call, a few types common."""
    rng = np.random.default_rng(7102)
    x = np.column_stack([np.eye(5)[rng.permutation(40) % 5], rng.uniform(-1, 1, size=(40, 2))])
    features = _for_all(x, 8)
    theta = _scaled(features, rng.normal(size=(8, 7)), 0.6)
    return FiniteContexts(features, theta, probabilities=_zipf(40), noise=1.0, name="call routing")


def web_layout() -> Environment:
    """Clicks on five page layouts by visitors who are mixtures of four kinds of interest."""
    rng = np.random.default_rng(7103)
    x = rng.dirichlet(np.full(4, 0.5), size=30)
    theta = rng.uniform(0.02, 0.4, size=(5, 4))
    return FiniteContexts(_for_all(x, 5), theta, noise=Bernoulli(), name="web layout")


def pricing() -> Environment:
    """Six prices for sixteen segments: revenue by logistic demand, seen through price, its square and the segment."""
    rng = np.random.default_rng(7104)
    price = np.linspace(1.0, 3.5, 6)[:, None]
    limit = rng.uniform(1.2, 3.2, size=16)[None, :]
    revenue = price / (1 + np.exp(4.0 * (price - limit)))
    one = np.ones((6, 16))
    features = np.stack([one, price * one, price**2 * one, limit * one, price * limit], axis=2)
    return RewardTable(features, revenue, noise=0.8, name="pricing")


def irrigation() -> Environment:
    """Which of three fields gets the water tonight: own sensors for each field, little noise."""
    rng = np.random.default_rng(7105)
    return BoxContexts(rng.uniform(-0.2, 1.0, size=(3, 5)), 0.0, 1.0, noise=0.1, name="irrigation")


def charging() -> Environment:
    """Seven charging stations with own queues and tariffs, moderately noisy waiting costs."""
    rng = np.random.default_rng(7106)
    theta = rng.normal(-0.3, 0.25, size=(1, 8)) + rng.normal(0.0, 0.2, size=(7, 8))
    return BoxContexts(theta, 0.0, 1.0, noise=0.5, name="charging")


def tutoring() -> Environment:
    """Four kinds of exercise for pupils who stay with a topic for a while: contexts in bursts, noisy marks."""
    rng = np.random.default_rng(7107)
    x = _with_one(rng.normal(size=(25, 5)))
    features = _for_all(x, 4)
    theta = _scaled(features, rng.normal(size=(4, 6)), 0.7)
    return MarkovContexts(features, theta, _sticky(25, 0.97), noise=1.2, name="tutoring")


def triage() -> Environment:
    """Home, doctor or ambulance: the last is best only for severe cases, which are a few in a hundred."""
    rng = np.random.default_rng(7108)
    severe = np.arange(60) >= 50
    signs = rng.uniform(0.0, 0.4, size=(60, 4)) + 0.6 * severe[:, None]
    x = _with_one(np.column_stack([signs, rng.uniform(-1, 1, size=60)]))
    theta = np.zeros((3, 6))
    theta[0] = [0.9, -0.5, -0.6, -0.4, -0.5, 0.1]
    theta[1] = [0.5, 0.1, -0.1, 0.2, 0.0, -0.1]
    theta[2] = [-0.9, 0.6, 0.5, 0.5, 0.6, 0.0]
    theta += rng.normal(scale=0.05, size=(3, 6))
    weights = np.where(severe, 0.03 / 10, 0.97 / 50)
    return FiniteContexts(_for_all(x, 3), theta, probabilities=weights, noise=0.5, name="triage")


def search_ranking() -> Environment:
    """Which of twelve results goes on top: own features of each, one theta for all, noisy dwell time."""
    rng = np.random.default_rng(7109)
    theta = np.tile(rng.normal(scale=0.35, size=15), (12, 1))
    return BoxContexts(theta, -1.0, 1.0, noise=1.0, name="search ranking")


def lockers() -> Environment:
    """One of twenty-five parcel lockers: distance, load and such per locker and district, one theta for all."""
    rng = np.random.default_rng(7110)
    features = rng.normal(size=(25, 1, 5)) + 0.7 * rng.normal(size=(25, 20, 5))
    theta = _scaled(features, np.tile(rng.normal(size=5), (25, 1)), 0.8)
    return FiniteContexts(features, theta, noise=0.6, name="lockers")


def sparse_ads() -> Environment:
    """Three campaigns and thirty facts about a customer, of which four matter for each."""
    rng = np.random.default_rng(7111)
    features = _for_all(_with_one(rng.choice([-1.0, 1.0], size=(200, 29))), 3)
    theta = np.zeros((3, 30))
    for row in theta:
        row[rng.choice(30, size=4, replace=False)] = rng.choice([-1.0, 1.0], size=4) * rng.uniform(0.3, 1.0, size=4)
    return FiniteContexts(features, _scaled(features, theta, 0.5), noise=0.7, name="sparse ads")


def game_difficulty() -> Environment:
    """Easy or hard level by a player's skill: two arms, two features, very noisy playing time."""
    skill = np.random.default_rng(7112).normal(size=50)
    theta = np.array([[1.0, -0.3], [0.8, 0.4]])
    return FiniteContexts(_for_all(_with_one(skill[:, None]), 2), theta, noise=2.0, name="game difficulty")


def carriers() -> Environment:
    """Six carriers for parcels, hardly any noise; half of them are never best."""
    rng = np.random.default_rng(7113)
    x = _with_one(rng.uniform(-1, 1, size=(80, 3)))
    theta = rng.normal(scale=0.5, size=(6, 4))
    theta[4:] = theta[:4].mean(axis=0) - np.array([[0.2, 0.0, 0.0, 0.0], [0.9, 0.0, 0.0, 0.0]])
    return FiniteContexts(_for_all(x, 6), theta, noise=0.05, name="carriers")


def fault_codes() -> Environment:
    """Name the fault of a machine from six readings: four overlapping clouds of unequal size."""
    rng = np.random.default_rng(7114)
    y = rng.choice(4, size=1500, p=[0.5, 0.25, 0.17, 0.08])
    centres = rng.normal(scale=1.1, size=(4, 6))
    x = _with_one(centres[y] + rng.normal(size=(1500, 6)))
    return labelled(x, y, name="fault codes")


def subject_lines() -> Environment:
    """Opens of mails with four subject lines, which come in hours later and in part never."""
    rng = np.random.default_rng(7115)
    x = rng.dirichlet(np.full(5, 0.6), size=40)
    inner = FiniteContexts(_for_all(x, 4), rng.uniform(0.05, 0.7, size=(4, 5)), noise=Bernoulli())
    return DelayedRewards(inner, steps=20, mean=80.0, lost=0.1, name="subject lines")


def news_fashion() -> Environment:
    """Five kinds of news whose readers' tastes move slowly."""
    rng = np.random.default_rng(7116)
    steps = rng.normal(scale=0.35, size=(5, 5, 6))
    theta = rng.normal(scale=0.5, size=(1, 5, 6)) + np.cumsum(steps, axis=0)
    return DriftingContexts(theta, 2500, low=0.0, high=1.0, noise=0.5, name="news fashion")


def supplier_outage() -> Environment:
    """Four suppliers; now and then one of them turns bad at once and another recovers."""
    rng = np.random.default_rng(7117)
    theta = np.tile(rng.uniform(0.1, 0.6, size=(1, 4, 4)), (3, 1, 1))
    best = np.argsort(-theta[0].sum(axis=1))
    theta[1, best[0]] -= 0.4
    theta[2, best[1]] -= 0.4
    return DriftingContexts(theta, 4000, abrupt=True, low=0.0, high=1.0, noise=0.3, name="supplier outage")


def drone_relay() -> Environment:
    """Four radio relays for a drone, with readings that are jittered by the wind."""
    theta = np.random.default_rng(7118).normal(scale=0.6, size=(4, 5))
    return PerturbedContexts(theta, 0.3, noise=0.4, name="drone relay")


def hearing_aid() -> Environment:
    """Nine presets on a grid of two settings: satisfaction falls off smoothly from a listener's optimum, not linear."""
    rng = np.random.default_rng(7119)
    grid = np.array([(a, b) for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)])
    x = rng.normal(scale=0.7, size=(70, 4))
    optimum = np.tanh(x @ rng.normal(scale=0.7, size=(4, 2)))
    distance = ((grid[:, None, :] - optimum[None, :, :]) ** 2).sum(axis=2)
    return RewardTable(_for_all(_with_one(x), 9), 1.5 * np.exp(-distance / 1.5), noise=0.5, name="hearing aid")


def greenhouse() -> Environment:
    """Five light recipes for trays of seedlings, each weighed a fixed time after."""
    rng = np.random.default_rng(7120)
    features = _for_all(_with_one(rng.uniform(-1, 1, size=(24, 4))), 5)
    theta = _scaled(features, rng.normal(size=(5, 5)), 0.8)
    return DelayedRewards(FiniteContexts(features, theta, noise=0.6), steps=150, name="greenhouse")


SECOND: dict[str, tuple[Callable[[], Environment], int]] = {
    "thermostat": (thermostat, 8_000),
    "call routing": (call_routing, 12_000),
    "web layout": (web_layout, 20_000),
    "pricing": (pricing, 15_000),
    "irrigation": (irrigation, 3_000),
    "charging": (charging, 10_000),
    "tutoring": (tutoring, 10_000),
    "triage": (triage, 12_000),
    "search ranking": (search_ranking, 10_000),
    "lockers": (lockers, 6_000),
    "sparse ads": (sparse_ads, 8_000),
    "game difficulty": (game_difficulty, 20_000),
    "carriers": (carriers, 5_000),
    "fault codes": (fault_codes, 6_000),
    "subject lines": (subject_lines, 5_000),
    "news fashion": (news_fashion, 10_000),
    "supplier outage": (supplier_outage, 12_000),
    "drone relay": (drone_relay, 4_000),
    "hearing aid": (hearing_aid, 9_000),
    "greenhouse": (greenhouse, 4_000),
}
