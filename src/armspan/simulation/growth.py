"""The growth verdict: what regret was seen to do, and what can be concluded from it: constant, growing, or undecided.

Time is cut into octaves, counted back from the horizon T (`armspan.simulation.octaves`), because regret like log T
gains the same in each octave, regret like T^γ gains 2^γ times as much as in the octave before, and constant regret
gains nothing after some time. A conclusion needs evidence that its neighbours would not give:

- *constant*: no run loses in the last quarter of an octave, at most 1 % of the regret came in the last octave, and
  losses have ended. Either all runs together have gone without a loss for so long that losses at a steady rate of
  `SLOWEST` per run and octave would have shown (95 %), or ever fewer runs lose: those of the last octave are
  significantly fewer than two thirds of those of the octave before.
- *logarithmic*, *power*, *linear*: the logarithms of the octaves' gains lie on a straight line, shown to be nearly
  straight, over several octaves and up to the very end, with many runs in it, no single one that decides, and no
  fewer than before. Its slope is the exponent γ. Logarithmic: γ near 0, within `SLOW`, that is, slower than a power;
  log², log log and log T look alike. Power: γ from `STEEP` to `STEEPEST`; below, powers of log T look the same for a
  long time, and above, exploration that slows down does. Linear: γ within `NEAR` of 1, in runs that each lose at their
  own rate, or through one arm alone, and continue to, as stuck runs do; otherwise they may still be exploring.
- Where the simulation has counted suboptimal pulls by arm, an arm may follow a law that others' fading losses hide.
- *undecided*: everything else, and always if there are fewer than `FEWEST_RUNS` runs or 256 steps.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armspan import _html
from armspan._text import counted, percent
from armspan._typing import FloatArray, IntArray
from armspan.simulation import octaves

RULE = (
    "The growth verdict cuts time into octaves, counted back from the end. Constant: nobody loses at the very end, at "
    "most 1 % of the regret came in the last octave, and either no run has lost anything for a long time, or ever "
    "fewer runs lose. Logarithmic, power or linear: gains of the octaves follow that law over several octaves, up to "
    "the end, in many runs. Everything else is undecided. Each of these is sometimes wrong; the docs' page “How often "
    "is what armspan says wrong?” says how often."
)
"""The rule in a few sentences, for pages."""
FLAT = 0.01
"""Share of the regret that the last octave may have where a curve counts as flat."""
SLOWEST = 0.02
"""Losses per run and octave; a slower steady rate cannot be told from none."""
SLOW, STEEP, STEEPEST, NEAR = (-0.17, 0.15), 0.42, 0.8, 0.03
"""Where the exponent of logarithmic growth may lie, that of a power, and how far from 1 that of linear growth."""
OCTAVES_OF_LOG, OCTAVES_OF_POWER, MOST_OCTAVES = 5, 8, 12
"""Octaves that a straight line must hold for, at least, and those that are looked at."""
BEND_OF_LOG, BEND_OF_POWER, UPWARD = 0.7, 0.3, 0.12
"""How much γ may change along them, at most (95 %); a power may rise less, for something faster may lie beneath it."""
FIRST_STEP = 64
"""Octaves that begin earlier say little."""
FEWEST_RUNS = 20
FEWEST_LOSING = 8
"""Runs that must lose in every octave of a law."""
LARGEST_SHARE = 0.3
"""Of the gain of an octave that a single run may have."""
ALONE = 0.95
"""Share of the runs that must lose by one arm alone where all of them lose alike."""
FEWEST_AT_END, LEAST_AT_END = 3, 0.2
"""Runs that must lose in the last sixteenth of an octave; and, as a share of what the law says, gains at the end."""
SILENCE = 1e-9
"""Gains up to this share of the largest regret are rounding."""


class Interval(NamedTuple):
    """A number with its 95 % interval over the runs; nan where it is not known."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} (95 % interval {self.low:.2f} to {self.high:.2f})"


UNKNOWN = Interval(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Growth:
    """How one policy's regret grows: what was seen, and what can be concluded.

    Attributes
    ----------
    verdict : str
        "constant", "logarithmic", "power", "linear" or "undecided", up to this horizon.
    flat : bool
        Whether at most 1 % of the regret came in the last octave, for certain (95 %).
    last_octave : Interval
        Share of the mean regret at T that came after T/2.
    exponent : Interval
        γ over the octaves that the verdict rests on, or over the last five: the slope of their gains. The interval is
        over the runs: it holds what many more runs would show in the same octaves. Beyond them γ may be another.
    losing : float
        Share of the runs that lose in the last octave.
    reason : str
        The verdict in a sentence or two.
    octaves : int
        How many octaves the exponent is about; 0 where there is none.
    """

    verdict: str
    flat: bool
    last_octave: Interval
    exponent: Interval
    losing: float
    reason: str
    octaves: int = 0

    def _repr_html_(self) -> str:
        known = not math.isnan(self.losing)
        rows = [("regret that came in the last octave", percent(self.last_octave.value, 1))] if known else []
        rows += [("runs that lost in the last octave", percent(self.losing))] if known else []
        rows += (
            [] if math.isnan(self.exponent.value) else [(f"exponent γ over {self.octaves} octaves", str(self.exponent))]
        )
        return _html.shown(f"Growth: {self.verdict}", (), rows) + _html.paragraph(self.reason)


class Law(NamedTuple):
    """A straight line through the logarithms of octaves' gains.

    exponent : what it is judged by; octaves count by how well they are known. shown : their plain slope. name : or "".
    """

    exponent: Interval
    octaves: int
    name: str
    shown: Interval


def growth(checkpoints: IntArray, curves: FloatArray, suboptimal_pulls: NDArray[np.uint32] | None = None) -> Growth:
    """The verdict on curves (R, C) of pseudo-regret at checkpoints (C,).

    suboptimal_pulls : (R, B, K) by bins of time up to the same horizon, where they were counted.
    """
    T, runs = int(checkpoints[-1]), len(curves)
    gains = _gains(checkpoints, curves)
    if gains is None and suboptimal_pulls is not None:
        gains = suboptimal_pulls.sum(axis=2, dtype=np.float64)
    blind = _blind(T, runs, gains, curves)
    if blind or gains is None:
        return Growth("undecided", False, UNKNOWN, UNKNOWN, math.nan, blind)
    gains = np.where(gains > SILENCE * gains.sum(axis=1).max(initial=0.0), gains, 0.0)
    by_octave = octaves.per_octave(gains)
    share = _ratio(by_octave[:, 0], by_octave.sum(axis=1))
    losing = float((by_octave[:, 0] > 0).mean())
    flat = share.high <= FLAT
    seen = _seen(share, losing)
    ended = _ended(gains, by_octave) if flat else ""
    if ended:
        return Growth("constant", flat, share, UNKNOWN, losing, f"{seen}, and {ended}.")
    law, recent = _law(gains, T, suboptimal_pulls)
    who = ""
    if suboptimal_pulls is not None and suboptimal_pulls.shape[2] > 1:
        if law is None:
            law, who = _law_of_an_arm(suboptimal_pulls, T)
        elif _overtaken(suboptimal_pulls, law.exponent.high):
            law = None
    if law is None:
        trend = f"; over the last {recent.octaves} octaves its exponent is {recent.shown}" if recent.octaves else ""
        why = "That is too short a silence to conclude from" if losing == 0 else "That fits more than one growth"
        reason = f"{seen}{trend}. {why}: more runs or steps may tell."
        return Growth("undecided", flat, share, recent.shown, losing, reason, recent.octaves)
    reason = f"{seen}; over {law.octaves} octaves {who or 'it '}follows one law, with exponent {law.shown} there."
    return Growth(law.name, flat, share, law.shown, losing, reason, law.octaves)


def _seen(share: Interval, losing: float) -> str:
    if losing == 0:
        return "No run lost anything in the last octave"
    came = f"{percent(share.value, 0 if share.value >= 0.1 else 2)} of the regret came in the last octave"
    return f"{came}, and {percent(losing)} of the runs lost in it"


def _gains(checkpoints: IntArray, curves: FloatArray) -> FloatArray | None:
    """Gains (R, B) by bins of time; None where there are no checkpoints at the bins' ends."""
    ends = octaves.edges(int(checkpoints[-1]))[:-1]
    at = np.searchsorted(checkpoints, ends)
    if not np.array_equal(checkpoints[np.minimum(at, checkpoints.size - 1)], ends):
        return None
    return -np.diff(curves[:, at], axis=1, append=0.0)


def _blind(T: int, runs: int, gains: FloatArray | None, curves: FloatArray) -> str:
    """Why these curves cannot tell, whatever they are; empty if they can."""
    if runs < FEWEST_RUNS:
        return f"{counted(runs, 'run')} {'is' if runs == 1 else 'are'} too few to tell; use at least {FEWEST_RUNS}."
    if T < octaves.SHORTEST:
        return f"{counted(T, 'step')} {'is' if T == 1 else 'are'} too few to tell; use at least {octaves.SHORTEST}."
    if gains is None:
        return "The checkpoints lack steps that the verdict needs; leave checkpoints out, or add those steps."
    return "" if np.isfinite(curves).all() else "Not all of the regret is a finite number."


def _ended(gains: FloatArray, by_octave: FloatArray) -> str:
    """In words why losses have ended; empty where that is not shown."""
    runs, lost = len(gains), gains > 0
    if lost[:, :2].any():
        return ""
    silent, longest = _silences(np.asarray(lost.any(axis=0)))
    if longest >= 1 and silent < 3 * longest:  # they may lose together again, as in bursts of forced exploration
        return ""
    if silent * runs >= -math.log(0.05) / SLOWEST:
        return f"no run has lost anything for {silent:.3g} octaves"
    now, before = (int((by_octave[:, j] > 0).sum()) for j in (0, 1))
    if now + before and _binomial_tail(now, now + before, 0.4) < 0.01:
        return f"fewer and fewer runs lose: {now} in the last octave, {before} in the one before, none at the end"
    return ""


def _silences(lost: NDArray[np.bool_]) -> tuple[float, float]:
    """For how many octaves nobody has lost at the end, and the longest that nobody lost before, and then again (B,)."""
    back = np.array([*octaves.BACK, *range(2, lost.size)], dtype=np.float64)[: lost.size]
    busy = np.flatnonzero(lost)
    if not busy.size:
        return float(back[-1]), 0.0
    ends = np.append(back[1:], back[-1] + 1)
    gaps = back[busy[1:]] - ends[busy[:-1]]
    return float(back[busy[0]]), float(gaps.max(initial=0.0))


def _law(gains: FloatArray, T: int, pulls: NDArray[np.uint32] | None = None) -> tuple[Law | None, Law]:
    """The law that gains (R, B) follow to the end, if one is shown; and that line, or the one of the last octaves."""
    by_octave = octaves.per_octave(gains)
    total = by_octave.sum(axis=0)
    enough = ((by_octave > 0).sum(axis=0) >= FEWEST_LOSING) & (by_octave.max(axis=0) <= LARGEST_SHARE * total)
    late = int(math.log2(T / FIRST_STEP))
    usable = min(int(np.argmin(np.append(enough, False))), late, MOST_OCTAVES)
    if usable < 3:
        return None, Law(UNKNOWN, 0, "", UNKNOWN)
    last = min(usable, OCTAVES_OF_LOG)
    recent = Law(_line(by_octave[:, :last])[0], last, "", slope(by_octave[:, :last]))
    if _die_out(by_octave):
        return None, recent
    for J in range(usable, OCTAVES_OF_LOG - 1, -1):
        exponent, bend = _line(by_octave[:, :J])
        name = _name(exponent, bend, J)
        stays = name != "linear" or _stuck(by_octave, pulls)
        if name and stays and _goes_on(gains, exponent.value):
            law = Law(exponent, J, name, slope(by_octave[:, :J]))
            return law, law
    return None, recent


def _name(exponent: Interval, bend: Interval, J: int) -> str:
    """What a line is called; empty where it is too bent, too short or between two names."""
    if exponent.low > SLOW[0] and exponent.high < SLOW[1]:
        return "logarithmic" if max(-bend.low, bend.high) <= BEND_OF_LOG else ""
    if J < OCTAVES_OF_POWER or max(-bend.low, bend.high) > BEND_OF_POWER:
        return ""
    if exponent.low > STEEP and exponent.high < STEEPEST:
        return "power" if bend.high <= UPWARD else ""
    return "linear" if exponent.low > 1 - NEAR and exponent.high < 1 + NEAR else ""


def _die_out(by_octave: FloatArray) -> bool:
    """Whether fewer runs lose in the last octave than in the one before, for certain (99 %)."""
    now, before = by_octave[:, 0] > 0, by_octave[:, 1] > 0
    stopped, began = int((before & ~now).sum()), int((now & ~before).sum())
    return _binomial_tail(began, stopped + began, 0.5) < 0.01 and stopped > began


def _stuck(by_octave: FloatArray, pulls: NDArray[np.uint32] | None) -> bool:
    """Whether runs lose at rates of their own, which stay, or nearly each by one arm alone.

    Where all lose alike and by several arms, they may be exploring still.
    """
    last, before = by_octave[:, 0], by_octave[:, 1]
    if float(last.std() / last.mean()) > 0.1 and float(np.corrcoef(last, before)[0, 1]) > 0.9:
        return True
    if pulls is None or pulls.shape[2] < 2:
        return False
    late = pulls[:, : octaves.OCTAVES[1].stop].sum(axis=1)
    return float((late.max(axis=1) == late.sum(axis=1)).mean()) >= ALONE


def _law_of_an_arm(pulls: NDArray[np.uint32], T: int) -> tuple[Law | None, str]:
    """Logarithmic growth of some arm's suboptimal pulls, if those of all others grow more slowly for certain."""
    laws = [_law(pulls[:, :, a].astype(np.float64), T)[0] for a in range(pulls.shape[2])]
    known = [(law.exponent.value, a, law) for a, law in enumerate(laws) if law is not None]
    if not known:
        return None, ""
    _, leader, law = max(known)
    others = [a for a in range(len(laws)) if a != leader]
    fade = all(_fades(octaves.per_octave(pulls[:, :, a].astype(np.float64)), law.exponent.low) for a in others)
    if law.name != "logarithmic" or not fade:
        return None, ""
    return law, f"the number of suboptimal pulls of arm {leader} "


def _overtaken(pulls: NDArray[np.uint32], exponent: float) -> bool:
    """Whether some arm's suboptimal pulls grow faster than this exponent in the last octaves, for certain."""
    for a in range(pulls.shape[2]):
        by_octave = octaves.per_octave(pulls[:, :, a].astype(np.float64))
        late, early = by_octave[:, 0], by_octave[:, 1:3].sum(axis=1) / 2
        if late.any() and _ratio(late, early).low > 2.0 ** (1.5 * exponent):
            return True
    return False


def _fades(by_octave: FloatArray, exponent: float) -> bool:
    """Whether gains grow by less than this exponent in the last octave, for certain."""
    last, before = by_octave[:, 0], by_octave[:, 1]
    if not last.any():
        return True
    if not before.any():
        return False
    ratio = _ratio(last, before)
    return ratio.high < 2.0**exponent


def _goes_on(gains: FloatArray, exponent: float) -> bool:
    """Whether the law holds within the last octave too: its end gains what the law says, and not much less."""
    inner = gains[:, octaves.OCTAVES[0]]
    back = np.array(octaves.BACK[: inner.shape[1] + 1])
    height = -back if abs(exponent) < 1e-9 else (2.0 ** (-exponent * back) - 1) / exponent
    wanted = -np.diff(height) / (height[0] - height[-1])
    octave = inner.sum(axis=1)
    apart = inner - octave[:, None] * wanted  # how unevenly losses come, by all parts: the end may lack a few clumps
    clumps = float((apart.var(axis=0) / (wanted * (1 - wanted))).mean())
    for parts in (1, 2, 3):
        share = float(wanted[:parts].sum())
        ratio = _ratio(inner[:, :parts].sum(axis=1), octave * share)
        error = math.sqrt(clumps * (1 - share) / (share * len(octave))) / float(octave.mean())
        error = max((ratio.high - ratio.value) / 2, error)
        if abs(ratio.value - 1) > 3 * error + 0.02 or (parts > 1 and ratio.low < LEAST_AT_END):
            return False
    return int((inner[:, 0] > 0).sum()) >= FEWEST_AT_END


def slope(by_octave: FloatArray) -> Interval:
    """The slope of log₂ gains over octaves (R, J), all of which count alike, so that it means the same for any runs."""
    time = (by_octave.shape[1] - 1) / 2 - np.arange(by_octave.shape[1])
    return _combined(time / (time @ time), *_logarithms(by_octave))


def _logarithms(by_octave: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """log₂ of the mean gains (J,), how they vary with the runs (J, J), and how wide that makes an interval."""
    runs, mean = len(by_octave), by_octave.mean(axis=0)
    relative = by_octave / mean - 1.0
    spread = relative.T @ relative / (runs * (runs - 1))  # of log(mean), by the delta method
    return np.log2(mean), spread, _t_quantile(runs - 1) / math.log(2)


def _line(by_octave: FloatArray) -> tuple[Interval, Interval]:
    """The slope γ of log₂ gains over octaves (R, J), and how much it changes along them, each with an interval.

    Octaves count by how well they are known, which finds small bends.
    """
    y, spread, half = _logarithms(by_octave)
    J = y.size
    time = -np.arange(J, dtype=np.float64)
    weights = 1 / (np.diag(spread) + 1e-4)
    centred = time - (weights * time).sum() / weights.sum()
    steep = weights * centred / (weights * centred**2).sum()
    curved = centred**2 - ((weights * centred**2).sum() / weights.sum()) - steep @ centred**2 * centred
    bend = weights * curved / (weights * curved**2).sum() * 2 * (J - 1)
    return _combined(steep, y, spread, half), _combined(bend, y, spread, half)


def _combined(weights: FloatArray, y: FloatArray, spread: FloatArray, half: float) -> Interval:
    value, error = float(weights @ y), half * math.sqrt(max(float(weights @ spread @ weights), 0.0))
    return Interval(value, value - error, value + error)


def _ratio(part: FloatArray, whole: FloatArray) -> Interval:
    """A ratio of means over the runs, with its interval by the delta method."""
    total = float(whole.mean())
    if total <= 0:
        return Interval(0.0, 0.0, 0.0)
    value, runs = float(part.mean()) / total, len(part)
    error = _t_quantile(runs - 1) * float((part - value * whole).std(ddof=1)) / (total * math.sqrt(runs))
    return Interval(value, max(value - error, 0.0), value + error)


def _t_quantile(freedom: int) -> float:
    """Student's 97.5 % quantile, from the normal one by Cornish and Fisher's expansion; right to 0.002 from 10 on."""
    z = 1.959964
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def _binomial_tail(hits: int, n: int, p: float) -> float:
    """The probability of at most so many hits in n trials."""
    terms = (
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p)
        for k in range(hits + 1)
    )
    return math.fsum(math.exp(term) for term in terms)
