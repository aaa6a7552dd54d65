"""Twelve linear contextual bandit problems from twelve trades, set without knowledge of the policies under test."""

from collections.abc import Callable

import numpy as np

from armspan.environments import Bernoulli, BoxContexts, Environment, FiniteContexts, MarkovContexts


def _constant(x: np.ndarray, value: float = 1.0) -> np.ndarray:
    """The features with a constant one in front."""
    return np.concatenate([np.full((*x.shape[:-1], 1), value), x], axis=-1)


def _means(x: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Mean reward (K, n) of each arm in each context."""
    return np.einsum("knd,kd->kn", np.broadcast_to(x, (len(theta), *x.shape[-2:])), theta)


def _spread(x: np.ndarray, theta: np.ndarray) -> float:
    """The standard deviation of the mean rewards over all arms and contexts."""
    return float(_means(x, theta).std())


def _between(x: np.ndarray, theta: np.ndarray, low: float, high: float) -> np.ndarray:
    """Theta changed so that mean rewards go from low to high; the first feature must be a constant 1."""
    means = _means(x, theta)
    factor = (high - low) / (means.max() - means.min())
    changed = theta * factor
    changed[:, 0] += low - factor * means.min()
    return changed


def _sticky(rng: np.random.Generator, x: np.ndarray, stay: float, reach: float) -> np.ndarray:
    """A chain that stays with some probability and otherwise moves, mostly to contexts that are close."""
    distance = np.linalg.norm(x[:, None] - x[None], axis=2)
    weight = np.exp(-distance / (reach * distance.mean())) * rng.uniform(0.5, 1.5, size=distance.shape)
    np.fill_diagonal(weight, 0.0)
    move = weight / weight.sum(axis=1, keepdims=True)
    return stay * np.eye(len(x)) + (1.0 - stay) * move


def kiln_firing() -> Environment:
    """A pottery picks one of 3 firing curves for a batch; the sound weight in kg is measured almost exactly."""
    rng = np.random.default_rng(4101)
    x = _constant(rng.uniform(-1.0, 1.0, size=(40, 3)))
    theta = np.array([[80.0, 6.0, -3.0, 1.0], [79.0, -4.0, 5.0, 2.0], [80.5, -2.0, -3.0, -6.0]])
    return FiniteContexts(x, theta, noise=0.01 * _spread(x, theta), name="kiln firing")


def headline_clicks() -> Environment:
    """A news site shows one of 6 headlines; few readers click, and some kinds of reader come much more often."""
    rng = np.random.default_rng(4102)
    x = _constant(rng.binomial(1, 0.4, size=(200, 7)).astype(float))
    theta = rng.normal(size=(6, 8))
    theta = _between(x, theta, 0.01, 0.16)
    return FiniteContexts(x, theta, rng.dirichlet(np.full(200, 0.7)), Bernoulli(), name="headline clicks")


def drug_dosing() -> Environment:
    """A clinic gives a low, middle or high dose; most patients need the middle one, and outcomes vary."""
    rng = np.random.default_rng(4103)
    mixing = rng.normal(size=(9, 9)) / 3.0
    x = _constant(np.clip(rng.normal(size=(250, 9)) @ (0.7 * np.eye(9) + 0.5 * mixing), -2.5, 2.5))
    need = rng.normal(size=9) * rng.binomial(1, 0.6, size=9)
    need *= 1.2 / np.linalg.norm(need)
    shared = rng.normal(scale=0.3, size=9)
    theta = np.stack(
        [
            np.concatenate([[-0.9], shared - need]),
            np.concatenate([[0.0], shared]),
            np.concatenate([[-1.1], shared + need]),
        ]
    )
    return FiniteContexts(x, theta, rng.dirichlet(np.full(250, 3.0)), _spread(x, theta), name="drug dosing")


def freight_bids() -> Environment:
    """A haulier gives a load to one of 8 lorries, each with features of its own; the margin is around 0."""
    rng = np.random.default_rng(4104)
    load = rng.normal(size=(1, 150, 5))
    x = np.clip(0.6 * load + 0.8 * rng.normal(size=(8, 150, 5)), -3.0, 3.0)
    theta = rng.normal(size=5) + 0.5 * rng.normal(size=(8, 5))
    return FiniteContexts(x, theta, noise=0.5 * _spread(x, theta), name="freight bids")


def packet_routes() -> Environment:
    """A network sends traffic by one of 5 routes; rewards are minus the delay in ms, and load changes slowly."""
    rng = np.random.default_rng(4105)
    load = rng.beta(2.0, 3.0, size=(60, 6))
    x = _constant(load)
    own = np.array([40.0, 35.0, 35.0, 30.0, 25.0])
    theta = -np.column_stack([own, rng.gamma(2.0, 8.0, size=(5, 6)) * rng.binomial(1, 0.6, size=(5, 6))])
    return MarkovContexts(x, theta, _sticky(rng, load, 0.8, 0.5), 0.1 * _spread(x, theta), name="packet routes")


def crop_spraying() -> Environment:
    """A farm sprays a field or not; 15 soil and weather readings, and yields that differ mostly by luck."""
    rng = np.random.default_rng(4106)
    factors = rng.normal(size=(300, 5))
    x = _constant(np.clip(factors @ rng.normal(size=(5, 14)) / 3.0 + 0.7 * rng.normal(size=(300, 14)), -3.0, 3.0))
    soil = np.concatenate([[6.0], rng.normal(scale=0.3, size=14)])
    effect = np.concatenate([[0.1], rng.normal(scale=0.2, size=14)])
    theta = np.stack([soil, soil + effect])
    return FiniteContexts(x, theta, noise=5.0 * _spread(x, theta), name="crop spraying")


def call_desks() -> Environment:
    """A call centre sends a caller to one of 7 desks; each desk's queue, fit and freshness are continuous."""
    rng = np.random.default_rng(4107)
    theta = rng.uniform(0.3, 1.5, size=(7, 3))
    return BoxContexts(theta, 0.0, 1.0, noise=0.25, name="call desks")


def tutor_hints() -> Environment:
    """A tutoring program gives one of 5 hints; the next answer is right or wrong, and pupils change slowly."""
    rng = np.random.default_rng(4108)
    skill = rng.uniform(0.0, 1.0, size=(50, 5))
    x = _constant(skill)
    theta = np.concatenate([np.zeros((5, 1)), np.abs(rng.normal(0.5, 0.3, size=5)) + rng.normal(size=(5, 5))], axis=1)
    theta = _between(x, theta, 0.25, 0.92)
    return MarkovContexts(x, theta, _sticky(rng, skill, 0.6, 0.3), Bernoulli(), name="tutor hints")


def battery_trades() -> Environment:
    """A battery charges, waits or discharges; 9 market signals, money around 0, prices that jump about."""
    rng = np.random.default_rng(4109)
    x = np.clip(rng.standard_t(5, size=(100, 9)), -4.0, 4.0)
    signal = rng.normal(size=9)
    theta = np.stack(
        [-signal + rng.normal(scale=0.3, size=9), rng.normal(scale=0.1, size=9), signal + rng.normal(scale=0.3, size=9)]
    )
    return MarkovContexts(x, theta, _sticky(rng, x, 0.3, 0.6), 2.0 * _spread(x, theta), name="battery trades")


def hotel_extras() -> Environment:
    """A hotel offers one of 12 extras; a guest spends some 200 in any case, and most extras are never the best."""
    rng = np.random.default_rng(4110)
    x = _constant(rng.uniform(-1.0, 1.0, size=(80, 4)))
    theta = rng.normal(scale=8.0, size=(12, 5))
    theta[:, 0] = 200.0 + np.where(np.arange(12) % 3 == 0, 8.0, rng.uniform(-30.0, -8.0, size=12))
    return FiniteContexts(x, theta, rng.dirichlet(np.full(80, 1.5)), 0.4 * _spread(x, theta), name="hotel extras")


def pump_speeds() -> Environment:
    """A waterworks runs one of 4 pump speeds; two readings in bar, no constant, and 20 states of the network."""
    rng = np.random.default_rng(4111)
    x = rng.uniform(2.0, 10.0, size=(20, 2))
    angle = np.deg2rad([20.0, 40.0, 55.0, 45.0])
    theta = np.array([1.0, 1.03, 1.0, 0.9])[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return FiniteContexts(x, theta, noise=_spread(x, theta), name="pump speeds")


def donor_letters() -> Environment:
    """A charity sends one of 3 letters; gifts come or not, and 10 shares of past giving add up to 1."""
    rng = np.random.default_rng(4112)
    x = rng.dirichlet(np.full(10, 0.5), size=160)
    base = rng.uniform(0.05, 0.35, size=10)
    theta = np.clip(base + rng.normal(scale=0.08, size=(3, 10)), 0.01, 0.6)
    return FiniteContexts(x, theta, rng.dirichlet(np.full(160, 2.0)), Bernoulli(), name="donor letters")


BLIND: dict[str, tuple[Callable[[], Environment], int]] = {
    "kiln firing": (kiln_firing, 3_000),
    "headline clicks": (headline_clicks, 20_000),
    "drug dosing": (drug_dosing, 8_000),
    "freight bids": (freight_bids, 6_000),
    "packet routes": (packet_routes, 10_000),
    "crop spraying": (crop_spraying, 20_000),
    "call desks": (call_desks, 5_000),
    "tutor hints": (tutor_hints, 12_000),
    "battery trades": (battery_trades, 10_000),
    "hotel extras": (hotel_extras, 8_000),
    "pump speeds": (pump_speeds, 4_000),
    "donor letters": (donor_letters, 15_000),
}
