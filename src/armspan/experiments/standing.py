"""The arena's leaderboard: regret relative to the best of each problem, with intervals, ranks and verdicts."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from armspan import _html, _validate
from armspan._text import counted
from armspan._typing import FloatArray
from armspan.environments import Environment
from armspan.simulation import Result

if TYPE_CHECKING:
    from armspan.plots import Axes

REDRAWN = 2000
"""How often the runs are drawn again, with replacement, for an interval."""
LEAST = 1e-9
"""Regret below this counts as this much, so that ratios stay finite."""


@dataclass(frozen=True)
class Problem:
    """A problem of the arena.

    Parameters
    ----------
    key : str
        Its name.
    make : function
        Makes its environment.
    horizon : int
        Steps of a run in `armspan reproduce arena`.
    words : str
        What it asks of a policy, in a sentence.
    """

    key: str
    make: Callable[[], Environment]
    horizon: int
    words: str

    @property
    def title(self) -> str:
        """Key and words, as a headline."""
        return f"{self.key}: {self.words.removesuffix('.')}"


class Ratio(NamedTuple):
    """Mean regret in units of another policy's.

    Attributes
    ----------
    value : float
        The ratio.
    low, high : float
        Its 95 % interval, from resampled runs; nan for a single run.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_short(self.value)}" + ("" if np.isnan(self.low) else f" ({_short(self.low)} to {_short(self.high)})")


class Place(NamedTuple):
    """One row of the leaderboard.

    Attributes
    ----------
    policy : str
        Its name.
    relative : Ratio
        Final mean regret in units of the best policy's: the geometric mean over the problems.
    worst, worst_in : float, str
        The largest of these ratios, and in which problem.
    rank : float
        The mean of its ranks.
    best_in : int
        The number of problems in which it is the best, or cannot be told from the best.
    problems : int
        The number of problems in which it took part.
    growth : dict
        How often each growth verdict was reached.
    microseconds : float or None
        Per step; None if that was not measured.
    """

    policy: str
    relative: Ratio
    worst: float
    worst_in: str
    rank: float
    best_in: int
    problems: int
    growth: Mapping[str, int]
    microseconds: float | None


def redrawn_means(final: FloatArray, key: str) -> FloatArray:
    """Means (B, P) of final regret (P, R) over resampled runs, the same runs for all policies.

    key : that of the problem; each problem has its own draws.
    """
    runs = final.shape[1]
    counts = np.random.default_rng(list(key.encode())).multinomial(runs, np.full(runs, 1 / runs), size=REDRAWN)
    return np.asarray(counts @ final.T / runs)


def interval(values: FloatArray, runs: int) -> tuple[float, float]:
    """The 95 % interval of what was found in resampled runs; nan for a single run."""
    if runs < 2:
        return np.nan, np.nan
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


@dataclass(frozen=True, eq=False)
class Bout:
    """One problem of the arena, and what came out.

    Parameters
    ----------
    problem : Problem
        The problem.
    env : Environment
        Its environment, as `problem.make` made it.
    result : Result
        What `armspan.simulate` returned for the policies that compete.
    """

    problem: Problem
    env: Environment
    result: Result

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The policies, the best first."""
        final = self.result.mean()[:, -1]
        return tuple(self.result.policies[p] for p in np.argsort(final, kind="stable"))

    @property
    def best(self) -> str:
        """The policy with the least mean regret at the end."""
        return self.order[0]

    def rank(self, policy: str) -> int:
        """1 for the best; policies with the same regret have the same rank.

        Parameters
        ----------
        policy : str
            Its name.
        """
        return 1 + sum(ratio.value < self.relative[policy].value for ratio in self.relative.values())

    @cached_property
    def relative(self) -> dict[str, Ratio]:
        """Final mean regret of each policy, in units of the best one's."""
        runs = self.result.runs.size
        final = self.result.mean()[:, -1]
        least = max(float(final.min()), LEAST)
        return {
            name: Ratio(float(final[p]) / least, *interval(self.ratios[:, p], runs))
            for p, name in enumerate(self.result.policies)
        }

    @cached_property
    def ratios(self) -> FloatArray:
        """The same (B, P) in resampled runs; the best is the policy that is best in the original runs."""
        means = redrawn_means(self.result.pseudo_regret[:, :, -1], self.problem.key)
        best = self.result.policies.index(self.best)
        return np.asarray(means / np.maximum(means[:, [best]], LEAST))

    def told_apart(self, policy: str) -> bool:
        """Whether a policy is shown to be worse than the best (95 %).

        Parameters
        ----------
        policy : str
            Its name.
        """
        return self.relative[policy].low > 1

    @cached_property
    def growth(self) -> dict[str, str]:
        """The growth verdict on each policy."""
        return {name: self.result.growth(name).verdict for name in self.result.policies}


@dataclass(frozen=True, eq=False)
class Arena:
    """The leaderboard of several problems.

    Parameters
    ----------
    bouts : tuple of Bout
        The problems, with what came out.
    microseconds : dict, optional
        Per step of each policy, where that was measured.
    """

    bouts: tuple[Bout, ...]
    microseconds: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def standing(self) -> tuple[Place, ...]:
        """The best first, among those that took part in all problems; then the others."""
        names = dict.fromkeys(name for bout in self.bouts for name in bout.result.policies)
        return tuple(sorted(map(self._place, names), key=lambda place: (-place.problems, place.relative.value)))

    def _place(self, name: str) -> Place:
        own = [bout for bout in self.bouts if name in bout.result.policies]
        values = {bout.problem.key: bout.relative[name].value for bout in own}
        worst = max(values, key=values.__getitem__)
        logs = [np.log(np.maximum(bout.ratios[:, bout.result.policies.index(name)], LEAST)) for bout in own]
        runs = min(bout.result.runs.size for bout in own)
        return Place(
            policy=name,
            relative=Ratio(
                float(np.exp(np.mean(np.log(list(values.values()))))), *interval(np.exp(np.mean(logs, axis=0)), runs)
            ),
            worst=values[worst],
            worst_in=worst,
            rank=float(np.mean([bout.rank(name) for bout in own])),
            best_in=sum(not bout.told_apart(name) for bout in own),
            problems=len(own),
            growth=Counter(bout.growth[name] for bout in own),
            microseconds=self.microseconds.get(name),
        )

    def table(self) -> tuple[list[str], list[str], FloatArray]:
        """Final mean regret of every policy in every problem, in units of the best one's there.

        Returns
        -------
        policies, problems : list of str
            Their names, the best policy first.
        ratios : (policies, problems) array
            The regret; nan where a policy did not take part.
        """
        names = [place.policy for place in self.standing]
        values = [
            [bout.relative[name].value if name in bout.relative else np.nan for bout in self.bouts] for name in names
        ]
        return names, [bout.problem.key for bout in self.bouts], np.array(values)

    def _repr_html_(self) -> str:
        shown = self.standing[: _html.MOST_ROWS]
        rows = [
            (self._entry(place), str(place.relative), f"{_short(place.worst)} ({place.worst_in})", f"{place.rank:.1f}")
            for place in shown
        ]
        head = ("policy", "regret / best, geometric mean (95 %)", "worst", "mean rank")
        title = f"Arena: {counted(len(self.bouts), 'problem')}"
        return _html.shown(title, head, rows, len(self.standing) - len(shown))

    def _entry(self, place: Place) -> str:
        """A policy's name, and in how many problems it took part where it was not in all."""
        few = f" ({place.problems} of {len(self.bouts)} problems)" if place.problems < len(self.bouts) else ""
        return place.policy + few

    def plot(self, what: str = "table", *, ax: "Axes | None" = None) -> "Axes":
        """Draw the standings.

        Parameters
        ----------
        what : {"table", "standing"}, default "table"
            Final mean regret of every policy in every problem, in units of the best one's there, as coloured squares;
            or its geometric mean over the problems, one row per policy, with its 95 % interval from resampled runs.
        ax : matplotlib.axes.Axes, optional
            Where to draw. A new figure if left out.

        Returns
        -------
        matplotlib.axes.Axes
            The axes with the plot.
        """
        _validate.one_of("what", what, ("table", "standing"))
        from armspan.plots import bars, heat
        from armspan.plots.canvas import canvas

        names, keys, values = self.table()
        size = heat.size(*values.shape) if what == "table" else (7.2, bars.height(len(names)))
        with canvas(ax, size) as axes:
            if what == "table":
                heat.ratios(axes, names, keys, values, "final mean regret / that of the best in the problem")
            else:
                ratios = np.array([place.relative for place in self.standing])
                ends = np.where(np.isnan(ratios[:, 1:]), ratios[:, :1], ratios[:, 1:])
                bars.intervals(axes, list(map(self._entry, self.standing)), ends, ratios[:, 0])
                bars.log_scale(axes)
                axes.set(xlabel="regret / best, geometric mean over the problems (log scale); bars: 95 % interval")
        return axes


def _short(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
