"""KernelUCB (Valko et al. 2013): LinUCB for rewards that are linear in the features of a kernel."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from armspan import _validate
from armspan.errors import InvalidParameter, NotApplicable
from armspan.policies.base import Policy
from armspan.policies.references.kernel_ucb import KernelReference, similarity
from armspan.theory import Alpha, Schedule, as_schedule, freeze

KERNELS = ("linear", "polynomial", "rbf", "matern-3/2", "matern-5/2")


@dataclass(frozen=True, kw_only=True)
class KernelUCB(Policy):
    """KernelUCB: kernel regression for each arm, and its confidence interval; rewards need not be linear in x.

    It is LinUCB in the features of a kernel, and with the linear kernel it is LinUCB itself. Its form in stages has
    √(d̃T), where d̃ counts the directions that matter; this one has no proof.

        index = kᵀ(K + ridge·I)⁻¹y + η/√ridge · √(k(x, x) - kᵀ(K + ridge·I)⁻¹k),   k the kernel of x with what was seen

    kernel : "linear" xᵀz, "polynomial" (gamma·xᵀz + coef0)^degree, "rbf" exp(-gamma·|x - z|²), "matern-3/2" or
        "matern-5/2" with length_scale.
    ridge : penalty of the regression; theory: any above 0; practice: 1.
    eta : η, as a constant, an array over t, or a function of t; theory: √(2 log(2TK/δ)) of the form in stages, if left
        out; practice: a plain number such as 1.
    gamma : of the kernel; left out, 1/d.
    degree : of the polynomial kernel.
    coef0 : of the polynomial kernel.
    length_scale : of the Matérn kernels; practice: about how far apart contexts with like rewards are.
    shared : whether arms differ by their features alone.
    budget : different points that a regression keeps; theory: all; practice: some hundreds. Beyond, the first ones are
        a Nyström dictionary (a uniform sample where contexts are independent), and others are projected.
    delta : δ in theory's η.
    horizon : T in theory's η; left out, a simulation's own.

    Use it for smooth rewards of few features.

    Valko, Korda, Munos, Flaounas and Cristianini (2013): Finite-time analysis of kernelised contextual bandits.
    """

    title: ClassVar[str] = "KernelUCB"
    promise: ClassVar[str] = "none proved"
    assumes: ClassVar[str] = ""
    kernel: str = "rbf"
    ridge: float = 1.0
    eta: Alpha | None = None
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0
    length_scale: float = 1.0
    shared: bool = False
    budget: int = 500
    delta: float = 0.05
    horizon: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.one_of("kernel", self.kernel, KERNELS)
        for name in ("ridge", "length_scale") if self.gamma is None else ("ridge", "length_scale", "gamma"):
            _validate.real(name, getattr(self, name), above=0)
        _validate.real("coef0", self.coef0)
        _validate.whole("degree", self.degree, at_least=1)
        _validate.whole("budget", self.budget, at_least=1)
        if self.horizon is not None:
            _validate.whole("horizon", self.horizon, at_least=1)
        if not 0 < _validate.real("delta", self.delta, above=0) < 1:
            raise InvalidParameter(f"delta must be > 0 and < 1, got {self.delta:g}")
        if not isinstance(self.shared, bool):
            raise InvalidParameter(f"shared must be True or False, got {self.shared!r:.60}")
        object.__setattr__(self, "eta", freeze(self.eta, name="eta"))

    def schedule(self, env: Any) -> Schedule:
        """η as a function of t."""
        if self.eta is not None:
            return as_schedule(self.eta, name="eta")
        if self.horizon is None:
            raise NotApplicable(f"{self.name} needs horizon, or eta: give it to the policy")
        return as_schedule(math.sqrt(2 * math.log(2 * self.horizon * env.n_arms / self.delta)))

    def reference(self, env: Any) -> KernelReference:
        gamma = 1 / env.n_features if self.gamma is None else self.gamma
        shape: Any = {"gamma": gamma, "degree": self.degree, "coef0": self.coef0, "length_scale": self.length_scale}
        sizes: Any = {"n_arms": env.n_arms, "n_features": env.n_features, "budget": self.budget}
        k, eta = similarity(self.kernel, **shape), self.schedule(env)
        return KernelReference(**sizes, k=k, ridge=self.ridge, eta=eta, shared=self.shared)
