"""The growth verdict: does a regret curve stay constant, or grow like log t, √t or t? By a stated rule, or undecided.

The rule looks at the last two doublings of time. Let A be the mean regret gained from T/4 to T/2 and B that from T/2
to T. Regret that grows like t^γ has B/A = 2^γ, and like log t has B/A = 1. So

- *constant*: B is at most 1 % of the regret at T;
- otherwise γ = log₂(B/A) decides: *logarithmic* within ±¼ of 0, *square-root* within ±¼ of ½, *linear* from ¾ on;
- *undecided* where the 95 % interval, from 2,000 bootstrap resamples of the runs, leaves the verdict's own range,
  where γ < -¼ (the curve flattens faster than a logarithm, but is not yet flat), or with fewer than 5 runs.
"""

from dataclasses import dataclass

import numpy as np

from armspan._typing import FloatArray, IntArray

FLAT = 0.01
"""Growth over the last doubling, as a share of the regret, up to which a curve counts as constant."""
FEWEST_RUNS = 5
RESAMPLES = 2_000


@dataclass(frozen=True)
class Growth:
    """A verdict on one policy's curves.

    verdict : "constant", "logarithmic", "square-root", "linear" or "undecided".
    last_doubling : share of the mean regret at T that came after T/2, and its 95 % interval.
    exponent : γ = log₂(B/A), and its 95 % interval; nan where nothing was gained.
    reason : the verdict in a sentence.
    """

    verdict: str
    last_doubling: float
    last_doubling_interval: tuple[float, float]
    exponent: float
    exponent_interval: tuple[float, float]
    reason: str


def growth(checkpoints: IntArray, curves: FloatArray) -> Growth:
    """The verdict on curves (R, C) of pseudo-regret at checkpoints (C,)."""
    T = checkpoints[-1]
    quarter, half, end = (_at(checkpoints, curves, t) for t in (T / 4, T / 2, T))
    gains = np.stack([half - quarter, end - half, end])  # (3, R)
    A, B, total = gains.mean(axis=1)
    share, gamma = _share(B, total), _exponent(A, B)
    runs = curves.shape[0]
    nan = float("nan")
    if runs < FEWEST_RUNS:
        reason = f"{runs} runs are too few to tell; give at least {FEWEST_RUNS}."
        return Growth("undecided", share, (nan, nan), gamma, (nan, nan), reason)
    rng = np.random.default_rng(0)
    resampled = gains[:, rng.integers(runs, size=(RESAMPLES, runs))].mean(axis=2)  # (3, RESAMPLES)
    shares, gammas = _share(resampled[1], resampled[2]), _exponent(resampled[0], resampled[1])
    share_interval, gamma_interval = _interval(shares), _interval(gammas)
    verdict, reason = _decide(share, share_interval, gamma, gamma_interval)
    return Growth(verdict, float(share), share_interval, float(gamma), gamma_interval, reason)


def _decide(
    share: float, share_interval: tuple[float, float], gamma: float, gamma_interval: tuple[float, float]
) -> tuple[str, str]:
    last = f"{share:.1%} of the regret came in the last doubling of time"
    if share_interval[1] <= FLAT:
        return "constant", f"{last} (at most {share_interval[1]:.1%}, flat up to {FLAT:.0%})."
    low, high = gamma_interval
    exponent = f"regret grows like t^{gamma:.2f} at the end (95 % interval {low:.2f} to {high:.2f})"
    if share_interval[0] <= FLAT:
        return "undecided", f"{last}, between {share_interval[0]:.1%} and {share_interval[1]:.1%}: flat or not."
    for name, least, most in (("logarithmic", -0.25, 0.25), ("square-root", 0.25, 0.75), ("linear", 0.75, np.inf)):
        if low > least and high < most:
            return name, f"{last}, and {exponent}."
    if high < -0.25:
        return "undecided", f"{last}: the curve flattens faster than a logarithm but is not flat yet."
    return "undecided", f"{last}, and {exponent}: more runs or a longer horizon would tell."


def _at(checkpoints: IntArray, curves: FloatArray, t: float) -> FloatArray:
    """Each curve at step t, between checkpoints by a straight line over log t; 0 at step 0."""
    right = int(np.searchsorted(checkpoints, t))
    if checkpoints[right] == t or right == 0:
        return curves[:, right]
    low, high = np.log(checkpoints[right - 1]), np.log(checkpoints[right])
    weight = (np.log(t) - low) / (high - low)
    return np.asarray((1 - weight) * curves[:, right - 1] + weight * curves[:, right])


def _share(B: FloatArray, total: FloatArray) -> FloatArray:
    return np.divide(B, total, out=np.zeros_like(B), where=total > 0)


def _exponent(A: FloatArray, B: FloatArray) -> FloatArray:
    """log₂(B/A); -∞ where nothing is gained any more, and +∞ where something is gained for the first time."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log2(np.maximum(B, 0.0)) - np.log2(np.maximum(A, 0.0))


def _interval(values: FloatArray) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if known.size == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(known, [0.025, 0.975], method="nearest")
    return float(low), float(high)
