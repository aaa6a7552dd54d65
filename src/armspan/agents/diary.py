"""What an agent's decisions looked like over time: how often it explored, and how well it knew its arms."""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from armspan import _html, _validate
from armspan._text import counted, percent
from armspan._typing import FloatArray, IntArray
from armspan.agents.agent import Agent
from armspan.agents.answers import Exploration
from armspan.agents.policy_agent import PolicyAgent
from armspan.diversity.intervals import wilson
from armspan.errors import NotApplicable

if TYPE_CHECKING:
    from armspan.plots import Axes

POINTS = 25
"""Points that a curve of shares has, if there are notes enough."""
ROWS = 5
"""Parts of time that a notebook shows."""
FEWEST = 20
"""Notes that a point stands for, at least."""


class Diary:
    """A record of what an agent would do, kept beside it: the agent itself knows nothing about it, and is no slower.

    Call `note` as often as you like, say at every twentieth decision. A note takes about as long as the agent's
    `scores` and `eigenvalues`, and needs memory for a few numbers per arm. It is not saved with the agent: if you load
    the agent from a file, tell the diary to `follow` the loaded one.

    Parameters
    ----------
    agent : Agent
        An agent of any policy. How well each arm is known is noted if the agent can tell: agents of LinUCBd, LinUCB and
        Greedy can.
    """

    def __init__(self, agent: Any) -> None:
        self.follow(agent)
        self._decisions: list[int] = []
        self._noted: list[Exploration] = []
        self._known: list[dict[Hashable, float]] = []

    def follow(self, agent: Any) -> None:
        """Follow this agent from now on: the same one, loaded from a file, or its successor.

        Parameters
        ----------
        agent : Agent
            The agent.
        """
        if not isinstance(agent, Agent | PolicyAgent):
            raise NotApplicable(f"a diary needs an agent of armspan, got {agent!r:.80}")
        self.agent: Agent | PolicyAgent = agent

    def note(self, x: Any, *, only: Sequence[Hashable] | None = None) -> Exploration:
        """Record whether a decision for x would explore now, and how well each arm is known. Nothing is decided.

        Parameters
        ----------
        x : array_like
            A context, as for `agent.choose`.
        only : sequence, optional
            Names of the eligible arms. All of them if left out.

        Returns
        -------
        Exploration
            What `agent.exploration` says.
        """
        noted = self.agent.exploration(x, only=only)
        known = {}
        if isinstance(self.agent, Agent):
            known = self.agent.eigenvalues()
        self._decisions.append(self.agent.decisions)
        self._noted.append(noted)
        self._known.append(known)
        return noted

    def __len__(self) -> int:
        return len(self._noted)

    def __bool__(self) -> bool:
        """True even while it is empty, so that `if diary:` asks whether one is kept."""
        return True

    def __repr__(self) -> str:
        made = f", the last after {counted(self._decisions[-1], 'decision')}" if self._noted else ""
        return f"<Diary: {counted(len(self), 'note')}{made}>"

    def _repr_html_(self) -> str:
        told, rows = self._told(), []
        for part in _parts(len(self), ROWS) if self._noted else ():
            first, *_, last = self.decisions[part][[0, -1]]
            shares = (percent(float(values[part].mean())) for values in told.values())
            rows.append((f"{first:,} to {last:,}", f"{part.stop - part.start:,}", *shares))
        return _html.shown(repr(self).strip("<>"), ("decisions", "notes", *told), rows)

    def _told(self) -> dict[str, FloatArray]:
        """What each note says of exploration (n,), by what it is called."""
        may = "intervals overlap" if isinstance(self.agent, Agent) else "another arm may be chosen"
        return {"not the best estimate": self.explored, may: self.open}

    @property
    def decisions(self) -> IntArray:
        """How many decisions (n,) the agent had made at each note."""
        return np.array(self._decisions, dtype=np.int64)

    @property
    def explored(self) -> FloatArray:
        """In each note (n,), how probable an arm without the best estimate was; 0 or 1 unless arms are drawn."""
        return np.array([noted.probability for noted in self._noted])

    @property
    def open(self) -> FloatArray:
        """1 for each note (n,) in which another arm's interval reached that of the best estimate, 0 for the others.

        Where arms are drawn, it is 1 if another arm had a probability above 1/1,000.
        """
        return np.array([bool(noted.overlapping) for noted in self._noted], dtype=np.float64)

    @property
    def eigenvalues(self) -> dict[Hashable, FloatArray]:
        """λ_min(V) of each arm at every note (n,); nan while the arm was not there."""
        arms = dict.fromkeys(arm for known in self._known for arm in known)
        return {arm: np.array([known.get(arm, np.nan) for known in self._known]) for arm in arms}

    def plot(self, what: str = "exploration", *, ax: "Axes | None" = None) -> "Axes":
        """Draw the diary against the number of decisions.

        Parameters
        ----------
        what : {"exploration", "diversity"}, default "exploration"
            How many of the noted decisions explored, in up to 25 parts of equal length, with Wilson's 95 % interval of
            each share, which assumes that the decisions in a part are independent. "Not the best estimate": the chosen
            arm was not the one with the largest mean, which is what exploration costs; for policies that draw their
            decisions, the probability of that. "Intervals overlap": another arm's interval reached that of the best
            estimate; exploration is over for good once no interval does. For "diversity", how well each arm is known in
            its weakest direction, λ_min(V): where contexts are diverse, it grows in proportion to the decisions.
        ax : matplotlib.axes.Axes, optional
            Where to draw. A new figure if left out.

        Returns
        -------
        matplotlib.axes.Axes
            The axes with the plot.
        """
        _validate.one_of("what", what, ("exploration", "diversity"))
        if not self._noted:
            raise NotApplicable("there is nothing to draw: call note(x) at some decisions first")
        if what == "diversity" and not self.eigenvalues:
            raise NotApplicable(f"there is nothing to draw: how well arms are known is not told by {self.agent!r:.80}")
        from armspan.plots import curves
        from armspan.plots.canvas import canvas, legend
        from armspan.plots.labels import plain

        with canvas(ax) as axes:
            axes.set_xlabel("decisions")
            axes.xaxis.set_major_formatter("{x:,.0f}")
            if what == "diversity":
                values = self.eigenvalues
                middle = np.array(list(values.values()))
                names = [f"arm {name}" for name in values]
                curves.draw(axes, curves.Curves(names, self.decisions, middle, middle * np.nan, middle * np.nan))
                axes.set(ylim=(0, None), ylabel="λ_min(V)", title="how well each arm is known in its weakest direction")
                legend(axes)
            else:
                parts = _parts(len(self))
                told = self._told()
                shares = [[_share(values[part]) for part in parts] for values in told.values()]
                middle, low, high = np.moveaxis(100 * np.array(shares), 2, 0)
                at = np.array([self.decisions[part].mean() for part in parts])
                curves.draw(axes, curves.Curves(list(told), at, middle, low, high), marker=".")
                axes.set(ylim=(0, 105), ylabel="share of the decisions (%)")
                axes.set_title(plain(f"how many decisions explore, {len(self) // len(parts):,} notes per point"))
                legend(axes, "shaded: 95 % interval")
        return axes


def _parts(n: int, most: int = POINTS) -> list[slice]:
    """Notes 0 to n - 1 in parts of nearly the same length."""
    edges = np.linspace(0, n, max(1, min(most, n // FEWEST)) + 1).astype(int)
    return [slice(int(first), int(last)) for first, last in pairwise(edges)]


def _share(values: FloatArray) -> tuple[float, float, float]:
    return float(values.mean()), *wilson(float(values.sum()), values.size)
