"""Thirty fixed problems, each in the manner of an application, drawn blind by someone who had not read the package's
code: twenty to test its recommendations, and ten others, with linear rewards throughout, to test exploration constants.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from armspan.environments import (
    Bernoulli,
    BoxContexts,
    DriftingContexts,
    Environment,
    FiniteContexts,
    MarkovContexts,
    RewardTable,
    labelled,
)

Array = NDArray[np.float64]


def _shared(x: Array, n_arms: int) -> Array:
    """The same (n, d) contexts for every arm, as (K, n, d)."""
    return np.broadcast_to(x, (n_arms, *x.shape))


def _with_one(x: Array) -> Array:
    """The features with a constant 1 put in front."""
    return np.concatenate([np.ones((*x.shape[:-1], 1)), x], axis=-1)


def _means(features: Array, theta: Array) -> Array:
    """Mean rewards (K, n) of linear arms."""
    return np.asarray(np.einsum("knd,kd->kn", features, theta), dtype=np.float64)


def _to_range(features: Array, theta: Array, low: float, high: float) -> Array:
    """Parameters rescaled so that the mean rewards span [low, high]; the first feature must be the constant 1."""
    means = _means(features, theta)
    slope = (high - low) / (means.max() - means.min())
    scaled: Array = slope * theta
    scaled[:, 0] += low - slope * means.min()
    return scaled


def _zipf(n: int, power: float = 1.0) -> Array:
    """Probabilities falling off as a power of the rank."""
    weights = np.arange(1, n + 1) ** -power
    return np.asarray(weights / weights.sum())


def _sticky(rng: np.random.Generator, n: int, stay: float) -> Array:
    """A chain that keeps its state with probability ``stay`` and otherwise jumps by a random row."""
    return stay * np.eye(n) + (1.0 - stay) * rng.dirichlet(np.ones(n), size=n)


def _cycle(n: int, stay: float) -> Array:
    """A chain that waits in its state or moves on to the next, round a circle."""
    return stay * np.eye(n) + (1.0 - stay) * np.roll(np.eye(n), 1, axis=1)


# Recommendation: ordinary problems


def news_front_page() -> Environment:
    """Lead story for one of 40 reader segments of uneven size: eight stories, clicks, topic shares that sum to 1."""
    rng = np.random.default_rng(4101)
    features = _shared(_with_one(rng.dirichlet(np.full(6, 0.5), size=40)), 8)
    theta = _to_range(features, rng.normal(size=(8, 7)), 0.03, 0.45)
    return FiniteContexts(features, theta, _zipf(40, 0.8), Bernoulli(), name="news front page")


def display_ads() -> Environment:
    """Ad slot with own match features for each of five campaigns: clicks, the rates close together."""
    rng = np.random.default_rng(4102)
    features = _with_one(rng.uniform(size=(5, 60, 3)))
    theta = _to_range(features, rng.normal([0.0, 1.0, 0.6, -0.4], 0.3, size=(5, 4)), 0.05, 0.35)
    return FiniteContexts(features, theta, noise=Bernoulli(), name="display ads")


def insulin_two_doses() -> Environment:
    """Standard against intensified insulin for 25 patient profiles: two arms, noise twice the effect."""
    rng = np.random.default_rng(4103)
    x = _with_one(rng.normal(size=(25, 2)))
    theta = np.array([[0.5, 0.1, -0.2], [0.4, 0.6, 0.1]])
    return FiniteContexts(_shared(x, 2), theta, noise=1.0, name="insulin, two doses")


def grocery_pricing() -> Environment:
    """Seven prices for a basket: revenue p (a - b p + c'x), hence linear in own features with one shared theta."""
    rng = np.random.default_rng(4104)
    prices = np.linspace(0.6, 1.8, 7)[:, None, None]
    x = rng.uniform(-1.0, 1.0, size=(1, 50, 3))
    features = np.concatenate([prices + 0 * x[..., :1], prices**2 + 0 * x[..., :1], prices * x], axis=-1)
    theta = np.tile([2.2, -0.95, 0.7, -0.4, 0.3], (7, 1))
    return FiniteContexts(features, theta, noise=0.5, name="grocery pricing")


def parcel_routing() -> Environment:
    """Four routes under a traffic state that goes round the hours of a day: a negative travel time is the reward."""
    rng = np.random.default_rng(4105)
    hour = 2 * np.pi * np.arange(24) / 24
    x = np.column_stack([np.ones(24), np.cos(hour), np.sin(hour), np.cos(2 * hour), np.sin(2 * hour)])
    theta = rng.normal(0.0, [0.2, 0.6, 0.6, 0.3, 0.3], size=(4, 5)) - np.array([2.0, 0.0, 0.0, 0.0, 0.0])
    return MarkovContexts(_shared(x, 4), theta, _cycle(24, 0.9), noise=0.4, name="parcel routing")


def film_shelf() -> Environment:
    """Twelve films for 150 viewers with tastes of rank three seen through ten answers; popular viewers return."""
    rng = np.random.default_rng(4106)
    taste = rng.normal(size=(150, 3))
    answers = taste @ rng.normal(size=(3, 10)) / np.sqrt(3) + 0.3 * rng.normal(size=(150, 10))
    theta = rng.normal(0.0, 0.25, size=(12, 10))
    return FiniteContexts(_shared(answers, 12), theta, _zipf(150, 0.6), noise=0.8, name="film shelf")


def hotel_ranking() -> Environment:
    """Thirty hotels described by eight attributes each, new at every search, valued by one shared theta."""
    theta = np.random.default_rng(4107).normal(0.0, 0.4, size=8)
    return BoxContexts(np.tile(theta, (30, 1)), -1.0, 1.0, noise=0.7, name="hotel ranking")


def gene_panel() -> Environment:
    """Three therapies and a panel of forty markers, of which four matter to each: 300 patients who recur."""
    rng = np.random.default_rng(4108)
    x = rng.choice([-1.0, 0.0, 1.0], size=(300, 40))
    theta = np.zeros((3, 40))
    for row in theta:
        row[rng.choice(40, size=4, replace=False)] = rng.choice([-1.0, 1.0], size=4) * rng.uniform(0.3, 0.8, size=4)
    return FiniteContexts(_shared(x, 3), theta, noise=0.6, name="gene panel")


def email_subjects() -> Environment:
    """Four subject lines, one of them worse than another for everybody: easy, with little noise."""
    rng = np.random.default_rng(4109)
    x = _with_one(rng.uniform(size=(30, 3)))
    theta = np.array([[0.6, 0.8, -0.5, 0.2], [0.5, -0.6, 0.9, 0.1], [0.7, 0.1, 0.1, -0.3], [0.2, 0.1, 0.0, -0.3]])
    return FiniteContexts(_shared(x, 4), theta, noise=0.1, name="email subjects")


def fraud_triage() -> Environment:
    """Pass, ask or block a payment: blocking pays in a few rare contexts only, and there it pays much."""
    rng = np.random.default_rng(4110)
    risk = np.sort(rng.beta(1.0, 3.0, size=35))
    risk[-3:] = [0.9, 0.94, 0.98]
    x = np.column_stack([np.ones(35), risk, rng.uniform(size=35)])
    theta = np.array([[1.0, -3.0, 0.2], [0.6, -1.2, 0.1], [-0.9, 0.8, 0.0]])
    return FiniteContexts(_shared(x, 3), theta, _zipf(35, 1.2), noise=0.5, name="fraud triage")


def server_pool() -> Environment:
    """Six servers with own load features that come in long bursts: the state seldom changes."""
    rng = np.random.default_rng(4111)
    features = _with_one(rng.exponential(0.5, size=(6, 15, 4)))
    theta = np.column_stack([rng.uniform(1.0, 1.5, size=6), -rng.uniform(0.1, 0.9, size=(6, 4))])
    return MarkovContexts(features, theta, _sticky(rng, 15, 0.98), noise=0.3, name="server pool")


# Recommendation: reward tables, labels, drift, delay and perturbation


def anticoagulant_dose() -> Environment:
    """Low, middle or high dose, the reward falling with the squared distance from a patient's right dose."""
    rng = np.random.default_rng(4112)
    x = _with_one(rng.normal(size=(200, 7)))
    right = 1.0 / (1.0 + np.exp(-x @ rng.normal(0.0, 0.5, size=8)))
    rewards = 1.0 - 4.0 * (np.array([[0.2], [0.5], [0.8]]) - right) ** 2
    return RewardTable(_shared(x, 3), rewards, noise=0.4, name="anticoagulant dose")


def playlist_mood() -> Environment:
    """Six playlists whose appeal saturates in a linear score and has a bump that the features cannot tell."""
    rng = np.random.default_rng(4113)
    x = _with_one(rng.uniform(-1.0, 1.0, size=(80, 4)))
    score = rng.normal(0.0, 0.8, size=(6, 5)) @ x.T
    rewards = np.tanh(1.5 * score) + 0.15 * rng.normal(size=(6, 80))
    return RewardTable(_shared(x, 6), rewards, noise=0.5, name="playlist mood")


def ticket_desk() -> Environment:
    """Five help desks for a ticket, right or wrong: overlapping classes of uneven size in nine features."""
    rng = np.random.default_rng(4114)
    y = rng.choice(5, size=1200, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    x = rng.normal(size=(5, 9))[y] + rng.normal(0.0, 0.9, size=(1200, 9))
    return labelled(x, y, name="ticket desk")


def fashion_seasons() -> Environment:
    """Five clothing lines whose appeal glides from one season to the next."""
    theta = np.random.default_rng(4115).uniform(0.0, 1.0, size=(4, 5, 4))
    return DriftingContexts(theta, 4000, low=0.0, high=1.0, noise=0.3, name="fashion seasons")


def network_failover() -> Environment:
    """Three uplinks that break and recover: the parameters jump."""
    theta = np.random.default_rng(4116).normal(0.0, 0.8, size=(3, 3, 5))
    return DriftingContexts(theta, 5000, abrupt=True, low=-1.0, high=1.0, noise=0.5, name="network failover")


def pump_wear() -> Environment:
    """Four pump settings, one parameter vector each that wears off a little over a long time."""
    rng = np.random.default_rng(4117)
    new = rng.normal(0.3, 0.5, size=(4, 6))
    theta = np.stack([new, new + rng.normal(0.0, 0.15, size=(4, 6))])
    return DriftingContexts(theta, 10_000, low=0.0, high=1.0, noise=0.6, name="pump wear")


def _trial_offers() -> Environment:
    rng = np.random.default_rng(4118)
    features = _shared(_with_one(rng.uniform(-1.0, 1.0, size=(45, 5))), 4)
    theta = _to_range(features, rng.normal(size=(4, 6)), 0.02, 0.6)
    return FiniteContexts(features, theta, _zipf(45, 0.5), Bernoulli(), name="trial offers at once")


def trial_offers() -> Environment:
    """Four offers to visitors, bought or not, the purchase known after a random delay of 150 visitors on average."""
    from armspan.environments import DelayedRewards  # type: ignore[attr-defined, unused-ignore]

    env: Environment = DelayedRewards(_trial_offers(), mean=150.0, name="trial offers")
    return env


def _physiotherapy() -> Environment:
    rng = np.random.default_rng(4119)
    x = _with_one(rng.normal(size=(120, 8)))
    return FiniteContexts(_shared(x, 3), rng.normal(0.0, 0.3, size=(3, 9)), noise=1.2, name="physiotherapy at once")


def physiotherapy() -> Environment:
    """Three exercise plans, judged 60 patients later, one patient in eight never coming back."""
    from armspan.environments import DelayedRewards  # type: ignore[attr-defined, unused-ignore]

    env: Environment = DelayedRewards(_physiotherapy(), steps=60, lost=0.125, name="physiotherapy")
    return env


def freight_quotes() -> Environment:
    """Six carriers' quotes, chosen by others and then shaken a little by the market."""
    from armspan.environments import PerturbedContexts  # type: ignore[attr-defined, unused-ignore]

    theta = np.random.default_rng(4120).normal(0.0, 0.6, size=(6, 7))
    env: Environment = PerturbedContexts(theta, 0.3, noise=0.5, name="freight quotes")
    return env


# Exploration: linear rewards, separate parameters, nothing drifts or waits


def banner_colours() -> Environment:
    """Six banners for twenty visitor groups: clicks."""
    rng = np.random.default_rng(5201)
    features = _shared(_with_one(rng.uniform(size=(20, 4))), 6)
    theta = _to_range(features, rng.normal(size=(6, 5)), 0.05, 0.5)
    return FiniteContexts(features, theta, _zipf(20, 0.7), Bernoulli(), name="banner colours")


def search_sessions() -> Environment:
    """Three result layouts in sessions of similar queries that come in bursts: clicks."""
    rng = np.random.default_rng(5202)
    features = _shared(_with_one(rng.uniform(-1.0, 1.0, size=(30, 6))), 3)
    theta = _to_range(features, rng.normal(size=(3, 7)), 0.1, 0.8)
    return MarkovContexts(features, theta, _sticky(rng, 30, 0.85), Bernoulli(), name="search sessions")


def heating_modes() -> Environment:
    """Four heating modes with three sensor readings of their own: well measured."""
    theta = np.random.default_rng(5203).uniform(-1.0, 1.0, size=(4, 3))
    return BoxContexts(theta, 0.0, 1.0, noise=0.15, name="heating modes")


def crop_choice() -> Environment:
    """Five crops on 70 soils: yields vary much from field to field."""
    rng = np.random.default_rng(5204)
    x = _with_one(rng.normal(size=(70, 3)))
    theta = rng.normal(0.0, [0.3, 0.6, 0.4, 0.2], size=(5, 4))
    return FiniteContexts(_shared(x, 5), theta, noise=1.8, name="crop choice")


def tutoring_hints() -> Environment:
    """Three kinds of hint, each with its own reading of twelve kinds of mistake."""
    rng = np.random.default_rng(5205)
    features = rng.uniform(size=(3, 12, 4))
    return FiniteContexts(features, rng.uniform(0.2, 1.0, size=(3, 4)), noise=0.5, name="tutoring hints")


def taxi_zones() -> Environment:
    """Eight zones to wait in, the demand following a half-hourly clock with some idling."""
    rng = np.random.default_rng(5206)
    clock = 2 * np.pi * np.arange(48) / 48
    waves = [f(k * clock) for k in (1, 2) for f in (np.cos, np.sin)]
    x = np.column_stack([np.ones(48), *waves, rng.choice([0.0, 1.0], size=48)])
    theta = rng.normal(0.0, [0.3, 0.5, 0.5, 0.3, 0.3, 0.2], size=(8, 6))
    return MarkovContexts(_shared(x, 8), theta, _cycle(48, 0.5), noise=0.6, name="taxi zones")


def antibiotic_choice() -> Environment:
    """Narrow or broad antibiotic with fourteen yes-or-no findings; the broad one is right for a minority."""
    rng = np.random.default_rng(5207)
    x = _with_one((rng.uniform(size=(250, 14)) < 0.3).astype(np.float64))
    theta = np.vstack([np.r_[0.8, rng.normal(-0.1, 0.2, size=14)], np.r_[-0.1, rng.normal(0.05, 0.2, size=14)]])
    return FiniteContexts(_shared(x, 2), theta, noise=0.7, name="antibiotic choice")


def warehouse_slots() -> Environment:
    """Ten slots for a pallet, five measurements for each slot and pallet."""
    theta = np.random.default_rng(5208).normal(0.0, 0.5, size=(10, 5))
    return BoxContexts(theta, -1.0, 1.0, noise=1.0, name="warehouse slots")


def compiler_flags() -> Environment:
    """Twelve sets of flags for 100 programs in twenty counts: repeatable timings, much to learn."""
    rng = np.random.default_rng(5209)
    x = _with_one(rng.normal(size=(100, 19)))
    theta = rng.normal(0.0, 0.15, size=(12, 20))
    return FiniteContexts(_shared(x, 12), theta, _zipf(100, 0.9), noise=0.08, name="compiler flags")


def radio_channels() -> Environment:
    """Five channels under interference that lasts, with a level and one reading; one channel never the best."""
    rng = np.random.default_rng(5210)
    x = np.column_stack([np.ones(10), np.linspace(-1.0, 1.0, 10)])
    theta = np.array([[0.5, 0.6], [0.7, 0.1], [0.6, -0.4], [0.3, -0.9], [0.1, 0.0]])
    return MarkovContexts(_shared(x, 5), theta, _sticky(rng, 10, 0.95), noise=0.4, name="radio channels")


def far_from_zero() -> Environment:
    """Rewards are ten times as large as the noise, and nobody subtracts what is typical."""
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.uniform(-0.8, 0.8, size=(200, 2)), np.ones(200)])
    theta = [[0.3, 0.0, 5.0], [-0.3, 0.0, 5.0], [0.0, 0.3, 6.0]]
    return FiniteContexts(_shared(x, 3), np.array(theta), noise=0.5, name="far from zero")


RECOMMENDATION: dict[str, tuple[Callable[[], Environment], int]] = {
    "news front page": (news_front_page, 20_000),
    "display ads": (display_ads, 20_000),
    "insulin, two doses": (insulin_two_doses, 5_000),
    "grocery pricing": (grocery_pricing, 8_000),
    "parcel routing": (parcel_routing, 10_000),
    "film shelf": (film_shelf, 15_000),
    "hotel ranking": (hotel_ranking, 6_000),
    "gene panel": (gene_panel, 8_000),
    "email subjects": (email_subjects, 3_000),
    "fraud triage": (fraud_triage, 12_000),
    "server pool": (server_pool, 10_000),
    "anticoagulant dose": (anticoagulant_dose, 5_000),
    "playlist mood": (playlist_mood, 10_000),
    "ticket desk": (ticket_desk, 8_000),
    "fashion seasons": (fashion_seasons, 16_000),
    "network failover": (network_failover, 15_000),
    "pump wear": (pump_wear, 20_000),
    "trial offers": (trial_offers, 15_000),
    "physiotherapy": (physiotherapy, 6_000),
    "freight quotes": (freight_quotes, 8_000),
}

EXPLORATION: dict[str, tuple[Callable[[], Environment], int]] = {
    "banner colours": (banner_colours, 20_000),
    "search sessions": (search_sessions, 12_000),
    "heating modes": (heating_modes, 4_000),
    "crop choice": (crop_choice, 15_000),
    "tutoring hints": (tutoring_hints, 5_000),
    "taxi zones": (taxi_zones, 12_000),
    "antibiotic choice": (antibiotic_choice, 6_000),
    "warehouse slots": (warehouse_slots, 10_000),
    "compiler flags": (compiler_flags, 10_000),
    "radio channels": (radio_channels, 8_000),
}
