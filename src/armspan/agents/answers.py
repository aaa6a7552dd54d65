"""What an agent answers: scores, decisions, whether it explores, and how well it knows its arms."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from armspan._typing import FloatArray


@dataclass(frozen=True, eq=False)
class Scores:
    """Every arm for one context (K,), or for n of them (n, K).

    mean : r̂ = θ̂ᵀx, the estimate without exploration. width : σ̂ = √(xᵀV⁻¹x). index : r̂ + α_t σ̂, the largest wins.
    """

    arms: tuple[Hashable, ...]
    mean: FloatArray
    width: FloatArray
    index: FloatArray

    def __str__(self) -> str:
        if self.mean.ndim != 1:
            return f"<Scores of {len(self.arms)} arms in {len(self.mean)} contexts>"
        width = max(3, *(len(str(arm)) for arm in self.arms))
        lines = [f"{'arm':>{width}}  {'mean':>10}  {'width':>10}  {'index':>10}"]
        for k, arm in enumerate(self.arms):
            numbers = f"{self.mean[k]:>10.4g}  {self.width[k]:>10.4g}  {self.index[k]:>10.4g}"
            lines.append(f"{arm!s:>{width}}  {numbers}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Decision:
    """The arm that was chosen, and with what probability it was: what a log needs to be reweighted later."""

    arm: Any
    propensity: float


@dataclass(frozen=True, eq=False)
class Decisions:
    """The arms that were chosen for many contexts, and the probability (n,) that each had."""

    arms: list[Any]
    propensities: FloatArray


@dataclass(frozen=True)
class Exploration:
    """Whether a decision explores, and why.

    exploring : the arm with the largest index is not the one with the largest mean, or another arm's interval reaches
    that of the latter. chosen, greedy : the two. overlapping : the arms whose interval mean ± α_t·width reaches that of
    the greedy arm.
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

    pulls : how often. eigenvalue : λ_min(V), which widths in the weakest direction go with. growth : how much of it
    each pull has added; it stays above 0 where contexts are diverse. weakest_direction : (d,). words : what that means.
    """

    arm: Hashable
    pulls: float
    eigenvalue: float
    growth: float
    weakest_direction: FloatArray
    words: str
