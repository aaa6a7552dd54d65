"""The paper's Assumptions 1.1 to 1.5, checked for an environment, each with a sentence."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from armspan import _html
from armspan._typing import FloatArray


@dataclass(frozen=True)
class Assumption:
    """One of the paper's assumptions, and whether it holds.

    Attributes
    ----------
    number : str
        Its number in the paper, "1.1" to "1.5".
    title : str
        What it is called.
    holds : bool or None
        Whether it holds; None if that is not known.
    reason : str
        Why, in a sentence.
    """

    number: str
    title: str
    holds: bool | None
    reason: str

    @property
    def answer(self) -> str:
        """Whether it holds, in words."""
        return "not known" if self.holds is None else "holds" if self.holds else "fails"

    def __str__(self) -> str:
        answer = "FAILS" if self.holds is False else self.answer
        return f"{self.number} {self.title}: {answer}. {self.reason}"


class Checkable(Protocol):
    """What an environment must say about itself so that the assumptions can be checked."""

    feature_bound: float
    parameter_bound: float
    gap: float
    noise: Any

    @property
    def noise_scale(self) -> float:
        """R, for which the noise is R-subgaussian."""
        ...

    def arrivals(self) -> Assumption:
        """Assumption 1.4 here."""
        ...

    def diversity_per_arm(self) -> tuple[FloatArray, FloatArray, int | None]:
        """Per arm how often it is best, λ_min there, and from how many draws."""
        ...

    def certain_spans(self) -> tuple[bool | None, ...]:
        """Per arm whether its features there span, where that is certain."""
        ...


class Assumptions(tuple[Assumption, ...]):
    """The five assumptions in order, as a tuple that prints one per line."""

    @property
    def hold(self) -> bool:
        """Whether all of them hold, for certain."""
        return all(assumption.holds is True for assumption in self)

    def __str__(self) -> str:
        return "\n".join(str(assumption) for assumption in self)

    def _repr_html_(self) -> str:
        rows = [(f"{one.number} {one.title}", one.answer, one.reason) for one in self]
        return _html.shown("The paper's assumptions", ("assumption", "answer", "why"), rows)

    @classmethod
    def of(cls, env: Checkable) -> "Assumptions":
        """Check the assumptions of an environment.

        Parameters
        ----------
        env : Environment
            The environment.
        """
        return cls([_bounded(env), _gap(env), _noise(env), env.arrivals(), _diverse(env)])


def independent(n_contexts: int) -> Assumption:
    """Assumption 1.4, if this many contexts arrive independently."""
    several = f"{n_contexts} contexts arrive independently."
    reason = several if n_contexts > 1 else "The same context arrives every time."
    return Assumption("1.4", "Stochastic arrivals", True, reason)


def _bounded(env: Checkable) -> Assumption:
    reason = f"Features are at most l = {env.feature_bound:.4g} long, parameters s = {env.parameter_bound:.4g}."
    return Assumption("1.1", "Bounded parameters", True, reason)


def _gap(env: Checkable) -> Assumption:
    reason = (
        f"In every context an arm that is not best falls behind by at least Δ = {env.gap:.4g}."
        if env.gap > 0
        else "There is no gap: an arm can fall behind the best by as little as you like, or none ever does."
    )
    return Assumption("1.2", "Minimum reward gap", env.gap > 0, reason)


def _noise(env: Checkable) -> Assumption:
    R = env.noise_scale
    kind = type(env.noise).__name__
    reason = f"{kind} noise with scale {R:.4g} is {R:.4g}-subgaussian" + (
        "." if R <= 1 else f"; the paper asks for 1, and noise_scale R = {R:.4g} in α_t makes up for it."
    )
    return Assumption("1.3", "Subgaussian noise", True, reason)


def _diverse(env: Checkable) -> Assumption:
    p, smallest, samples = env.diversity_per_arm()
    known = zip(env.certain_spans(), smallest > 0, strict=True)
    spans = [True if answer is None and seen else answer for answer, seen in known]  # what was seen to span does
    holds = False if False in spans else None if None in spans else True
    wrong = [a for a, answer in enumerate(spans) if answer is False]
    rare = [a for a, answer in enumerate(spans) if smallest[a] == 0 and answer is holds]
    if never := [a for a in wrong if p[a] == 0]:
        cost = "making sure that an arm is worse costs regret of at least log T"
        reason = f"{_arms(never).capitalize()} never best alone; {cost}."
    elif wrong:
        reason = f"The contexts in which {_arms(wrong)} best do not span the feature space."
    elif rare:
        everyone = "Every arm can be best, in contexts that span the feature space. But in" if holds else "In"
        what = "to measure that" if holds else "to tell whether they span"
        reason = f"{everyone} {samples:,} draws {_arms(rare, 'was', 'were')} best too rarely {what}"
        if unseen := [a for a in rare if p[a] == 0]:
            reason += (
                f"; {_arms(unseen, 'was', 'were')} not at all, so the probability is below {3 / (samples or 1):.2g}"
            )
        reason += "."
    else:
        a = int(np.argmin(smallest))
        how = "" if samples is None else f" (seen in {samples:,} draws)"
        reason = (
            f"Every arm is best in contexts that span the feature space; the weakest is arm {a} with "
            f"λ_min = {smallest[a]:.3g}, and the rarest is best with probability {p.min():.3g}{how}."
        )
    return Assumption("1.5", "Diverse contexts", holds, reason)


def _arms(which: list[int], one: str = "is", more: str = "are") -> str:
    names = ", ".join(str(a) for a in which)
    return f"arm {names} {one}" if len(which) == 1 else f"arms {names} {more}"
