"""Twenty problems drawn blind, to test recommendations."""

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
    Rademacher,
    RewardTable,
    labelled,
)

Array = NDArray[np.float64]


def _same(x: Array, arms: int) -> Array:
    """Features (K, n, d) where every arm is shown with the same x (n, d)."""
    return np.repeat(x[None], arms, axis=0)


def _leading_one(x: Array) -> Array:
    """Features (n, d + 1): a constant 1, then x (n, d)."""
    return np.hstack([np.ones((len(x), 1)), x])


def _zipf(n: int, power: float) -> Array:
    """Probabilities (n,) that fall with the rank to this power."""
    weights = np.arange(1.0, n + 1) ** -power
    return np.asarray(weights / weights.sum())


def _spread(features: Array, theta: Array) -> float:
    """How far the largest mean reward is from the smallest."""
    return float(np.ptp(np.einsum("knd,kd->kn", features, theta)))


def _as_chances(x: Array, theta: Array, low: float, high: float) -> Array:
    """Parameters (K, d) moved and scaled so that mean rewards on x (n, d), which leads with 1, fill low to high."""
    means = x @ theta.T
    scaled = theta * (high - low) / np.ptp(means)
    scaled[:, 0] += low - (x @ scaled.T).min()
    return np.asarray(scaled)


def headline_pair() -> Environment:
    """A news site shows one of two headlines by what it knows of the reader, and about half of the readers click."""
    rng = np.random.default_rng(30_101)
    x = _leading_one(rng.standard_normal((300, 5)))
    theta = _as_chances(x, rng.standard_normal((2, 6)), 0.25, 0.85)
    return FiniteContexts(_same(x, 2), theta, noise=Bernoulli(), name="headline pair")


def rare_banner() -> Environment:
    """A website picks one of twelve banners for visitors of whom a few kinds come often, and hardly anyone clicks."""
    rng = np.random.default_rng(30_202)
    x = _leading_one(rng.uniform(-1.0, 1.0, (500, 7)))
    theta = _as_chances(x, rng.standard_normal((12, 8)), 0.002, 0.04)
    return FiniteContexts(_same(x, 12), theta, _zipf(500, 1.1), Bernoulli(), name="rare banner")


def article_feed() -> Environment:
    """A reader is sent one of sixty articles, and how long it is read depends on how topics and tastes agree."""
    rng = np.random.default_rng(30_303)
    readers, articles = _leading_one(rng.standard_normal((500, 2))), rng.standard_normal((60, 4))
    features = np.einsum("ni,kj->knij", readers, articles).reshape(60, 500, 12)
    features /= np.linalg.norm(features, axis=2).max()
    theta = np.tile(rng.standard_normal(12), (60, 1))
    return FiniteContexts(features, theta, noise=_spread(features, theta), name="article feed")


def hotel_search() -> Environment:
    """A travel site puts one of forty hotels on top, and travellers weigh price, place and stars almost alike."""
    rng = np.random.default_rng(30_404)
    theta = rng.standard_normal(16) + 0.15 * rng.standard_normal((40, 16))
    return BoxContexts(theta, -0.5, 0.5, noise=1.0, name="hotel search")


def medicine_dose() -> Environment:
    """A clinic gives one of seven doses, and a patient does well only close to a dose that depends on the patient."""
    rng = np.random.default_rng(30_505)
    x = _leading_one(rng.standard_normal((800, 9)))
    ideal = 1 / (1 + np.exp(-x @ rng.normal(0.0, 0.5, 10)))
    doses = np.linspace(0.05, 0.95, 7)
    rewards = np.exp(-(((doses[:, None] - ideal) / 0.3) ** 2))
    return RewardTable(_same(x, 7), rewards, noise=0.2, name="medicine dose")


def oven_recipe() -> Environment:
    """A bakery bakes by one of eight recipes after measuring the flour, and weighs the loaves almost exactly."""
    rng = np.random.default_rng(30_606)
    x = _leading_one(rng.uniform(-1.0, 1.0, (40, 3)))
    features, theta = _same(x, 8), rng.standard_normal((8, 4))
    return FiniteContexts(features, theta, noise=0.02 * _spread(features, theta), name="oven recipe")


def trading_venue() -> Environment:
    """An order goes to one of five exchanges, whose small advantages drown in the movements of the price."""
    rng = np.random.default_rng(30_707)
    x = rng.standard_normal((1_000, 5))
    features, theta = _same(x, 5), rng.standard_normal((5, 5))
    return FiniteContexts(features, theta, noise=5 * _spread(features, theta), name="trading venue")


def call_routing() -> Environment:
    """A call goes to one of ten teams, and calls about the same fault come one after the other for a while."""
    rng = np.random.default_rng(30_808)
    faults = 30
    x = rng.dirichlet(np.full(6, 0.6), faults)
    features, theta = _same(x, 10), rng.random((10, 6))
    others = 0.9 * rng.dirichlet(np.full(faults, 0.3), faults) + 0.1 / faults
    transition = 0.92 * np.eye(faults) + 0.08 * others
    return MarkovContexts(features, theta, transition, 0.5 * _spread(features, theta), name="call routing")


def wardrobe_season() -> Environment:
    """A shop shows one of fifteen outfits while taste turns slowly with the four seasons."""
    rng = np.random.default_rng(30_909)
    theta = 0.5 * rng.standard_normal((15, 6)) + 0.5 * rng.standard_normal((4, 15, 6))
    return DriftingContexts(theta, 6_000, noise=0.5, name="wardrobe season")


def payment_checks() -> Environment:
    """A bank tests a payment by one of five rules, and thieves change all their habits at once now and then."""
    rng = np.random.default_rng(31_010)
    theta = 0.9 * rng.dirichlet(np.full(8, 0.5), (3, 5))
    return DriftingContexts(theta, 7_000, abrupt=True, noise=Bernoulli(), name="payment checks")


def insurance_letter() -> Environment:
    """An insurer sends one of six letters, answers take hundreds of letters to arrive, and three in ten get lost."""
    rng = np.random.default_rng(31_111)
    x = _leading_one(rng.standard_normal((600, 6)))
    chances = 1 / (1 + np.exp(2.0 - x @ rng.normal(0.0, 0.6, (6, 7)).T))
    table = RewardTable(_same(x, 6), chances.T, noise=Bernoulli())
    return DelayedRewards(table, steps=50, mean=400.0, lost=0.3, name="insurance letter")


def spam_gate() -> Environment:
    """A mail server treats a message in one of four ways, and senders shape messages so that it learns little."""
    rng = np.random.default_rng(31_212)
    theta = rng.standard_normal((4, 5))
    theta /= np.linalg.norm(theta, axis=1, keepdims=True)
    return PerturbedContexts(theta, 0.15, noise=0.3, name="spam gate")


def greenhouse() -> Environment:
    """A greenhouse picks one of five waterings from sensors that count in degrees, per mille, lux and litres."""
    rng = np.random.default_rng(31_313)
    units = np.array([1.0, 0.02, 30.0, 500.0, 5.0, 0.2])
    theta = rng.standard_normal((5, 6)) / units
    return BoxContexts(theta, 0.2 * units, units, noise=0.4, name="greenhouse")


def tutoring() -> Environment:
    """A tutor sets one of twenty exercises from thirty test scores that mostly reflect four abilities."""
    rng = np.random.default_rng(31_414)
    x = rng.standard_normal((700, 4)) @ rng.standard_normal((4, 30)) + 0.2 * rng.standard_normal((700, 30))
    x /= np.linalg.norm(x, axis=1).max()
    features, theta = _same(x, 20), rng.standard_normal((20, 30))
    return FiniteContexts(features, theta, noise=0.3 * _spread(features, theta), name="tutoring")


def gene_panel() -> Environment:
    """A hospital picks one of three therapies from forty genes, of which three matter to each therapy."""
    rng = np.random.default_rng(31_515)
    x = rng.choice([-1.0, 0.0, 1.0], (1_500, 40), p=[0.25, 0.5, 0.25])
    theta = np.zeros((3, 40))
    for arm in range(3):
        theta[arm, rng.choice(40, 3, replace=False)] = rng.choice([-1.0, 1.0], 3) * rng.uniform(0.5, 1.5, 3)
    return FiniteContexts(_same(x, 3), theta, noise=1.5, name="gene panel")


def advert_drafts() -> Environment:
    """An agency tries thirty drafts of an advert, of which four are good and the others are always worse."""
    rng = np.random.default_rng(31_616)
    x = _leading_one(rng.uniform(-1.0, 1.0, (200, 4)))
    good = rng.standard_normal((4, 5)) * np.array([0.2, 1.0, 1.0, 1.0, 1.0])
    bad = rng.dirichlet(np.ones(4), 26) @ good
    bad[:, 0] -= rng.uniform(0.1, 1.0, 26)
    theta = rng.permutation(np.vstack([good, bad]))
    return FiniteContexts(_same(x, 30), theta, _zipf(200, 0.8), 1.0, name="advert drafts")


def twin_suppliers() -> Environment:
    """A factory orders from one of six suppliers that hardly differ, whatever the size of the order."""
    rng = np.random.default_rng(31_717)
    x = _leading_one(rng.uniform(-1.0, 1.0, (25, 1)))
    theta = np.array([1.0, -0.5]) + 0.012 * rng.standard_normal((6, 2))
    return FiniteContexts(_same(x, 6), theta, noise=0.15, name="twin suppliers")


def parcel_sorting() -> Environment:
    """A sorter learns to which of ten chutes a parcel goes from twenty measures, told only whether it was right."""
    rng = np.random.default_rng(31_818)
    chutes = rng.integers(10, size=2_000)
    measures = 1.2 * rng.standard_normal((10, 20))[chutes] + rng.standard_normal((2_000, 20))
    return labelled(measures, chutes, name="parcel sorting")


def help_desk() -> Environment:
    """A help desk sends tickets to four departments of very unequal load, and one ticket in ten is filed wrongly."""
    rng = np.random.default_rng(31_919)
    departments = rng.choice(4, 1_200, p=[0.62, 0.25, 0.1, 0.03])
    words = rng.standard_normal((4, 6))[departments] + rng.standard_normal((1_200, 6))
    filed = np.where(rng.random(1_200) < 0.1, rng.integers(4, size=1_200), departments)
    return labelled(words, filed, name="help desk")


def loyalty_offer() -> Environment:
    """A supermarket picks one of nine offers for each of twenty-four customer groups, which have nothing in common."""
    rng = np.random.default_rng(32_020)
    theta = rng.random((9, 24))
    return FiniteContexts(_same(np.eye(24), 9), theta, _zipf(24, 1.0), Rademacher(1.0), name="loyalty offer")


THIRD: dict[str, tuple[Callable[[], Environment], int]] = {
    "headline pair": (headline_pair, 10_000),
    "rare banner": (rare_banner, 50_000),
    "article feed": (article_feed, 20_000),
    "hotel search": (hotel_search, 10_000),
    "medicine dose": (medicine_dose, 3_000),
    "oven recipe": (oven_recipe, 2_000),
    "trading venue": (trading_venue, 50_000),
    "call routing": (call_routing, 20_000),
    "wardrobe season": (wardrobe_season, 30_000),
    "payment checks": (payment_checks, 25_000),
    "insurance letter": (insurance_letter, 15_000),
    "spam gate": (spam_gate, 4_000),
    "greenhouse": (greenhouse, 12_000),
    "tutoring": (tutoring, 20_000),
    "gene panel": (gene_panel, 8_000),
    "advert drafts": (advert_drafts, 25_000),
    "twin suppliers": (twin_suppliers, 50_000),
    "parcel sorting": (parcel_sorting, 20_000),
    "help desk": (help_desk, 6_000),
    "loyalty offer": (loyalty_offer, 30_000),
}
"""Name to the function that makes the environment, and the horizon."""
