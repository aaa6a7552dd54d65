"""What an agent answers: scores, decisions, whether it explores, and how well it knows its arms."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from armspan._text import counted, table
from armspan._typing import FloatArray


@dataclass(frozen=True, eq=False)
class Scores:
    """Every arm for one context (K,), or for n contexts (n, K). Printed, it is a table.

    Attributes
    ----------
    arms : tuple
        Names of the arms.
    mean : (K,) or (n, K) array
        r̂ = θ̂ᵀx, the estimate without exploration.
    width : (K,) or (n, K) array
        σ̂ = √(xᵀV⁻¹x), how uncertain it is.
    index : (K,) or (n, K) array
        r̂ + α_t σ̂. The arm with the largest is chosen.
    """

    arms: tuple[Hashable, ...]
    mean: FloatArray
    width: FloatArray
    index: FloatArray

    def __str__(self) -> str:
        if self.mean.ndim != 1:
            return f"<Scores of {counted(len(self.arms), 'arm')} in {counted(len(self.mean), 'context')}>"
        columns = zip(self.arms, self.mean, self.width, self.index, strict=True)
        rows = [(str(arm), *(f"{value:.4g}" for value in values)) for arm, *values in columns]
        return "\n".join(table(("arm", "mean", "width", "index"), rows))


@dataclass(frozen=True)
class Decision:
    """The arm that was chosen and with what probability: what a log needs to be evaluated later.

    Attributes
    ----------
    arm : hashable
        The arm.
    propensity : float
        The probability with which it was chosen.
    """

    arm: Any
    propensity: float


@dataclass(frozen=True, eq=False)
class Decisions:
    """The arms that were chosen for n contexts, and with what probability.

    Attributes
    ----------
    arms : list
        The arm of each context.
    propensities : (n,) array
        The probability with which each was chosen.
    """

    arms: list[Any]
    propensities: FloatArray


@dataclass(frozen=True)
class Exploration:
    """Whether a decision explores, and why. It is true in an `if` when it does.

    Attributes
    ----------
    exploring : bool
        Whether the arm with the largest index is not the one with the largest mean, or another arm's interval reaches
        the interval of the latter.
    chosen : hashable
        The arm with the largest index.
    greedy : hashable
        The arm with the largest mean.
    overlapping : tuple
        The arms whose interval mean ± α_t·width reaches that of the greedy arm.
    """

    exploring: bool
    chosen: Hashable
    greedy: Hashable
    overlapping: tuple[Hashable, ...]

    def __bool__(self) -> bool:
        return self.exploring


@dataclass(frozen=True, eq=False)
class ArmKnowledge:
    """How well an arm is known from what it was pulled for.

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
        The direction in which least was seen.
    words : str
        What that direction means.
    """

    arm: Hashable
    pulls: float
    eigenvalue: float
    growth: float
    weakest_direction: FloatArray
    words: str
