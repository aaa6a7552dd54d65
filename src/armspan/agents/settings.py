"""What an agent is made with and keeps for life: sizes, exploration, randomness, forgetting."""

import math
from dataclasses import dataclass

from armspan import _validate
from armspan.errors import InvalidParameter
from armspan.theory import Schedule
from armspan.theory.forgetting import forgetting, remembered

TIES = ("random", "first")
DTYPES = ("float64", "float32")
LONG_CONTEXTS = ("warn", "clip", "raise")
RIDGES = {"float64": (1e-100, 1e100, 1e-10), "float32": (1e-12, 1e12, 1e-3)}
"""The smallest and the largest ridge, and the least in units of l²: V⁻¹ must hold 1/ridge and 1/(n·l²) side by side."""
SAFE_RIDGE = 1e-6
"""In units of l², from which on double precision holds both for 10⁵ pulls and more without being looked at often."""
MOST_REMEMBERED, MOST_NUMBERS = 100_000, 10**7


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a tuned agent chooses and learns.

    Parameters
    ----------
    n_features : int
        d, without the intercept.
    ridge : float
        V begins as ridge·I.
    bias, scale : float
        α_t = bias + scale·√log f(t).
    schedule : function, optional
        α_t as a function of t instead.
    learnt : bool, default False
        α_t = scale·σ̂·√log(t + 1) instead, with σ̂ from the errors of predictions, after one pull of every arm; and what
        is hardly known counts for more where rewards are large.
    seed : int, default 0
        Seed for breaking ties and for ε.
    intercept : bool, default False
        Whether a constant 1 is added to the features.
    epsilon : float, default 0
        Probability of choosing at random among the arms that may be chosen.
    ties : str, default "random"
        How ties are broken: "random", or "first" for the first of the tied arms.
    memory : int, default 256
        How many (arm, context) pairs are remembered for `explain`; with a window, all those in it.
    half_life : float, optional
        The number of rewards after which an old one counts half; rewards count for ever if left out.
    window : int, optional
        How many of the latest rewards are kept; all of them if left out.
    dtype : str, default "float64"
        Precision of V⁻¹ and V, "float64" or "float32".
    feature_bound : float, optional
        l, the length that contexts should not exceed; None if it is not known.
    long_contexts : str, default "warn"
        What to do with longer contexts: "warn" logs the first one and counts all, "clip" shortens them, "raise" refuses
        them.
    """

    n_features: int
    ridge: float
    bias: float
    scale: float
    schedule: Schedule | None = None
    learnt: bool = False
    seed: int = 0
    intercept: bool = False
    epsilon: float = 0.0
    ties: str = "random"
    memory: int = 256
    half_life: float | None = None
    window: int | None = None
    dtype: str = "float64"
    feature_bound: float | None = None
    long_contexts: str = "warn"

    def __post_init__(self) -> None:
        for name in ("ridge", "bias", "scale", "epsilon", "half_life"):  # NumPy's numbers as Python's
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _validate.real(name, getattr(self, name), at_least=0))
        for name in ("n_features", "seed", "memory", "window"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _validate.whole(name, getattr(self, name), at_least=0))
        _validate.whole("n_features", self.n_features, at_least=1)
        _validate.whole("seed", self.seed, at_least=0, at_most=2**64 - 1)
        _validate.whole("memory", self.memory, at_least=0, at_most=MOST_REMEMBERED)
        if self.memory * self.n_features > MOST_NUMBERS:
            raise InvalidParameter(f"memory must be at most {MOST_NUMBERS // self.n_features} here, got {self.memory}")
        _validate.real("ridge", self.ridge, above=0)
        _validate.one_of("ties", self.ties, TIES)
        _validate.one_of("dtype", self.dtype, DTYPES)
        _validate.one_of("long_contexts", self.long_contexts, LONG_CONTEXTS)
        if self.learnt and self.dtype != "float64":
            raise InvalidParameter(f"dtype must be 'float64' where the noise is learnt, got {self.dtype!r}")
        smallest, largest, least = RIDGES[self.dtype]
        if not smallest <= self.ridge <= largest:
            raise InvalidParameter(
                f"ridge must be from {smallest:g} to {largest:g} in {self.dtype}, got {self.ridge:g}"
            )
        if self.ridge < least * self.squared_bound:
            words = "(feature_bound² + 1)" if self.intercept is True else "feature_bound²"
            lowest = f"{least:g}·{words} = {least * self.squared_bound:.3g}"
            raise InvalidParameter(f"ridge must be at least {lowest} in {self.dtype}, got {self.ridge:g}")
        if _validate.real("epsilon", self.epsilon, at_least=0) > 1:
            raise InvalidParameter(f"epsilon must be from 0 to 1, got {self.epsilon:g}")
        if not isinstance(self.intercept, bool):
            raise InvalidParameter(f"intercept must be True or False, got {self.intercept!r:.60}")
        if self.half_life is not None:
            _validate.real("half_life", self.half_life, above=0)
        if self.window is not None:
            _validate.whole("window", self.window, at_least=1, at_most=10**9)
        if self.half_life is not None and self.window is not None:
            raise InvalidParameter("half_life and window must not both be given: an agent forgets in one way")

    @property
    def width(self) -> int:
        """Features with the intercept: the d of V."""
        return self.n_features + self.intercept

    @property
    def squared_bound(self) -> float:
        """l², with the intercept; 0 where no bound is known."""
        return 0.0 if self.feature_bound is None else self.feature_bound**2 + (self.intercept is True)

    @property
    def largest(self) -> float:
        """What features' length and rewards must stay below, so that no sum of their products overflows."""
        return 1e100 if self.dtype == "float64" else 1e15

    @property
    def reach(self) -> float:
        """How long a context with its intercept may be to be learnt: with longer ones, V⁻¹ could not hold the ridge."""
        return math.sqrt(self.ridge / RIDGES[self.dtype][2])

    def longest_context(self, often: float) -> float:
        """How long a context with its intercept may be before someone has to look at it.

        Parameters
        ----------
        often : float
            Pulls after which V⁻¹ is looked at again now.
        """
        if self.feature_bound is None:
            return min(self.largest, self.reach if often else math.sqrt(self.ridge / SAFE_RIDGE))
        return min(self.largest, math.hypot(self.feature_bound, self.intercept) * (1 + 1e-9))

    def often(self, squared_length: float) -> int:
        """Pulls after which V⁻¹ is looked at again; 0: when kernels say so, because rounding is small.

        Parameters
        ----------
        squared_length : float
            Of the longest context so far, with its intercept.
        """
        fragile = self.dtype == "float32" or self.ridge < SAFE_RIDGE * squared_length
        return max(256, self.width**2 // 64) if fragile else 0

    @property
    def forgets(self) -> bool:
        """Whether old rewards lose their weight."""
        return self.half_life is not None or self.window is not None

    @property
    def longest(self) -> float:
        """The largest t in α_t: an agent that forgets knows no more than what it still remembers."""
        if self.window is not None:
            return float(self.window)
        return float("inf") if self.half_life is None else remembered(self.half_life)

    @property
    def decay(self) -> tuple[int, float]:
        """Forgetting is done in steps: rewards between two, and the factor."""
        return (0, 1.0) if self.half_life is None else forgetting(self.half_life)
