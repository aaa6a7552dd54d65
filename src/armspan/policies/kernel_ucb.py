"""KernelUCB (Valko et al. 2013): LinUCB for rewards that are linear in the features of a kernel."""

import math
from collections.abc import Collection, Mapping
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

    Parameters
    ----------
    kernel : str, default "rbf"
        The kernel: "linear" xᵀz, "polynomial" (gamma·xᵀz + coef0)^degree, "rbf" exp(-gamma·|x - z|²), "matern-3/2" or
        "matern-5/2" with length_scale. Theory: any. Practice: "rbf", for smooth rewards.
    ridge : float, default 1
        Penalty of the regression. Theory: any above 0. Practice: 1.
    eta : float, array or function, optional
        η, as a constant, an array over t, or a function of t. Theory: √(2 log(2TK/δ)) of the form in stages, if left
        out. Practice: a plain number such as 1.
    gamma : float, optional
        The factor gamma of the polynomial and the RBF kernel. Theory: any above 0. Practice: 1/d, if left out, as in
        scikit-learn.
    degree : int, default 3
        Degree of the polynomial kernel. Theory: any from 1. Practice: 3, as in scikit-learn.
    coef0 : float, default 1
        Constant of the polynomial kernel. Theory: any from 0. Practice: 1, as in scikit-learn.
    length_scale : float, default 1
        Length scale of the Matérn kernels. Theory: any above 0. Practice: about how far apart contexts with similar
        rewards are.
    shared : bool, default False
        Whether all arms share one regression, and differ only in their features. Theory: True. Practice: share it where
        arms are many, or come and go.
    budget : int, default 500
        How many different points a regression keeps. Theory: all. Practice: some hundreds. Beyond that, the first ones
        are a Nyström dictionary (a uniform sample if contexts are independent), and others are projected onto it. With
        40 of 600 points of a smooth function from -1 to 1, estimates were off by less than 0.02.
    delta : float, default 0.05
        δ in theory's η, the probability with which its bound may fail. Theory: any in (0, 1). Practice: 0.05.
    horizon : int, optional
        T, the number of steps, in theory's η. A simulation fills it in. Theory: how many there will be. Practice: a
        guess, since only its logarithm counts; with eta given, none is needed.

    Notes
    -----
    Use it for smooth rewards of few features.

    References
    ----------
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

    @property
    def heeds(self) -> Mapping[str, Collection[str]]:
        return {**super().heeds, "schedule": ["reference"]}

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
