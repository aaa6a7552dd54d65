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

    ridge : penalty of the regression; left out, l², with which it chooses exactly as LinUCB-d does (Appendix B).
    """

    title: ClassVar[str] = "LinUCB"
    ridge: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ridge is not None:
            ridge = _validate.real("ridge", self.ridge, above=0)
            if not SMALLEST**2 <= ridge <= LARGEST**2:
                raise InvalidParameter(f"ridge must be from {SMALLEST**2:g} to {LARGEST**2:g}, got {ridge:g}")

    def penalty(self, env: Bounds) -> float:
        return super().penalty(env) if self.ridge is None else self.ridge
