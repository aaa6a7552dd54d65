"""What an agent answers: scores, decisions, whether it explores, and how well it knows its arms."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from armspan import _html
from armspan._text import counted, table
from armspan._typing import FloatArray

LIKELY = 1e-3
"""The probability above which an arm that is drawn counts as one that may be chosen."""
_HEAD = ("arm", "mean", "width", "index")


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of every arm for one context (K,), or for n contexts (n, K). It prints as a table.

    Attributes
    ----------
    arms : tuple
        Names of the arms.
    mean : (K,) or (n, K) array
        r̂ = θ̂ᵀx, the estimate without exploration.
    width : (K,) or (n, K) array
        σ̂ = √(xᵀV⁻¹x), how uncertain it is.
    index : (K,) or (n, K) array
        r̂ + α_t σ̂. The arm with the largest index is chosen.
    """

    arms: tuple[Hashable, ...]
    mean: FloatArray
    width: FloatArray
    index: FloatArray

    def __str__(self) -> str:
        if self.mean.ndim != 1:
            return f"<Scores of {counted(len(self.arms), 'arm')} in {counted(len(self.mean), 'context')}>"
        return "\n".join(table(_HEAD, self._cells()))

    def _repr_html_(self) -> str:
        if self.mean.ndim != 1:
            return _html.paragraph(str(self).strip("<>"))
        rows = self._cells()
        shown = rows[: _html.MOST_ROWS]
        return _html.shown("Scores of each arm in one context", _HEAD, shown, len(rows) - len(shown))

    def _cells(self) -> list[tuple[str, ...]]:
        columns = zip(self.arms, self.mean, self.width, self.index, strict=True)
        return [(str(arm), *(f"{value:.4g}" for value in values)) for arm, *values in columns]


@dataclass(frozen=True)
class Decision:
    """The chosen arm and its probability: what a log must record if it is to be evaluated later.

    Attributes
    ----------
    arm : hashable
        The arm.
    propensity : float
        The probability with which it was chosen.
    mark : int or tuple, optional
        What the policy must be told when the reward comes after later decisions: whether the pull was forced, which
        stage decided, or how probable the arms were. None for policies that learn every reward in the same way.
    """

    arm: Any
    propensity: float
    mark: Any = None


@dataclass(frozen=True, eq=False)
class Decisions:
    """The arms that were chosen for n contexts, with their probabilities.

    Attributes
    ----------
    arms : list
        The arm of each context.
    propensities : (n,) array
        The probability with which each was chosen.
    marks : list, optional
        The mark of each, see `Decision`; None for policies that have none.
    """

    arms: list[Any]
    propensities: FloatArray
    marks: list[Any] | None = None


@dataclass(frozen=True)
class Exploration:
    """Whether a decision explores, and why. In an `if`, it is true when the decision explores.

    Attributes
    ----------
    exploring : bool
        Whether an arm other than the one with the largest mean is chosen, or may be: because of what `overlapping`
        says, or because ε is above 0.
    chosen : hashable
        The arm with the largest index; where arms are drawn, the most probable one.
    greedy : hashable
        The arm with the largest mean.
    overlapping : tuple
        The other arms whose interval, from the mean up to the index and as far below, reaches that of the greedy arm,
        or that are drawn with a probability above 1/1,000.
    probability : float
        The probability that an arm with a smaller mean than the greedy one is chosen: 0 or 1 where nothing is drawn.
    """

    exploring: bool
    chosen: Hashable
    greedy: Hashable
    overlapping: tuple[Hashable, ...]
    probability: float

    def __bool__(self) -> bool:
        return self.exploring


@dataclass(frozen=True, eq=False)
class ArmKnowledge:
    """How well an arm is known from the contexts in which it was pulled.

    Attributes
    ----------
    arm : hashable
        The arm.
    pulls : float
        How often it was pulled; where old rewards are forgotten, how many still count.
    eigenvalue : float
        λ_min(V): the larger it is, the smaller the width in the weakest direction.
    growth : float
        How much each pull has added to the eigenvalue; it stays above 0 where contexts are diverse.
    weakest_direction : (d,) array
        The direction that has been seen least.
    words : str
        What that direction means.
    """

    arm: Hashable
    pulls: float
    eigenvalue: float
    growth: float
    weakest_direction: FloatArray
    words: str
