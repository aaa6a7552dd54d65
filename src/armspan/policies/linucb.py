"""LinUCB (Li et al. 2010, disjoint): a ridge regression for each arm, and its confidence interval."""

from dataclasses import dataclass
from typing import ClassVar

from armspan import _validate
from armspan.errors import InvalidParameter
from armspan.policies.base import Bounds
from armspan.policies.linear import LARGEST, SMALLEST
from armspan.policies.optimistic import OptimisticPolicy


@dataclass(frozen=True, kw_only=True)
class LinUCB(OptimisticPolicy):
    """LinUCB: pull the arm with the largest θ̂ᵀx + α_t √(xᵀV⁻¹x).

    A ridge regression says what each arm is worth, and how well that is known. What is little known gets the benefit of
    the doubt.

        V = ridge·I + Σxxᵀ,   θ̂ = V⁻¹Σyx,   α_t = l·s + R√((2 + d) log f(t)),   f(t) = 1 + t log²t

    With α_t and the ridge left out it chooses exactly as LinUCB-d does (Appendix B of the paper).

    Parameters
    ----------
    ridge : float, optional
        Penalty of the regression. Theory: l², if left out. Practice: 1, as in Li et al.

    Notes
    -----
    Use it as the first choice in an application, with alpha="practical".

    References
    ----------
    Li, Chu, Langford and Schapire (2010): A contextual-bandit approach to personalized news article recommendation.
    """

    title: ClassVar[str] = "LinUCB"
    promise: ClassVar[str] = "constant; √T in general"
    assumes: ClassVar[str] = "what LinUCBd assumes, with alpha and ridge left out"
    ridge: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ridge is not None:
            ridge = _validate.real("ridge", self.ridge, above=0)
            if not SMALLEST**2 <= ridge <= LARGEST**2:
                raise InvalidParameter(f"ridge must be from {SMALLEST**2:g} to {LARGEST**2:g}, got {ridge:g}")

    def penalty(self, env: Bounds) -> float:
        return super().penalty(env) if self.ridge is None else self.ridge
