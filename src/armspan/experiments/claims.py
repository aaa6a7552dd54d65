"""What the paper says about a figure, as statements that a result confirms or does not."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from armspan.simulation import Result
from armspan.simulation.growth import FLAT
from armspan.simulation.student import quantile


@dataclass(frozen=True)
class Finding:
    """A statement, and whether the simulation confirmed it.

    Attributes
    ----------
    statement : str
        What is claimed.
    confirmed : bool or None
        Whether it was confirmed; None if the simulation cannot tell.
    outcome : str
        What came out.
    """

    statement: str
    confirmed: bool | None
    outcome: str

    @property
    def word(self) -> str:
        """The finding in a word or two."""
        return {True: "confirmed", False: "not confirmed", None: "undecided"}[self.confirmed]


Claim = Callable[[Mapping[str, Result]], Finding]
"""Looks at all results so far, by their keys."""


def stays_constant(key: str, policy: str, statement: str) -> Claim:
    """The policy's regret is constant in T."""

    def check(results: Mapping[str, Result]) -> Finding:
        growth = results[key].growth(policy)
        confirmed = None if growth.verdict == "undecided" else growth.verdict == "constant"
        return Finding(statement, confirmed, _outcome(results[key], policy))

    return check


def has_stopped(key: str, policy: str, statement: str) -> Claim:
    """The policy's regret no longer grows at this horizon, whatever it does later."""

    def check(results: Mapping[str, Result]) -> Finding:
        growth = results[key].growth(policy)
        confirmed = True if growth.verdict == "constant" else False if growth.last_octave.low > FLAT else None
        return Finding(statement, confirmed, _outcome(results[key], policy))

    return check


def keeps_growing(key: str, policy: str, statement: str) -> Claim:
    """The policy's regret is not constant in T; the outcome says how it grows."""

    def check(results: Mapping[str, Result]) -> Finding:
        growth = results[key].growth(policy)
        grows = growth.verdict in ("logarithmic", "power", "linear")
        confirmed = True if grows else False if growth.verdict == "constant" else None
        return Finding(statement, confirmed, _outcome(results[key], policy))

    return check


def same_curves(key: str, one: str, other: str, statement: str) -> Claim:
    """Two policies make the same choices in every run."""

    def check(results: Mapping[str, Result]) -> Finding:
        result = results[key]
        same = np.array_equal(result.curves(one), result.curves(other))
        runs = result.runs.size
        how = "identical in all" if same else "different in some of"
        outcome = (
            f"the curves of {one} and {other} are {how} {runs} runs. Both use a faster "
            "form of Algorithm 1; with --engine python it runs as the paper prints it, and chooses the same."
        )
        return Finding(statement, same, outcome)

    return check


def lower_regret(key: str, than: str, policy: str, statement: str) -> Claim:
    """The policy's final regret is lower in one problem than in another, by more than the noise of the runs."""

    def check(results: Mapping[str, Result]) -> Finding:
        if than not in results:
            return Finding(statement, None, f"figure {than} was not run with it: armspan reproduce {than} {key}.")
        means, errors = [], []
        for name in (key, than):
            final = results[name].curves(policy)[:, -1]
            means.append(float(final.mean()))
            errors.append(float(final.std(ddof=1)) / np.sqrt(final.size) if final.size > 1 else np.inf)
        freedom = min(results[name].curves(policy).shape[0] for name in (key, than)) - 1
        clear = freedom > 0 and abs(means[1] - means[0]) > quantile(freedom) * math.hypot(*errors)
        outcome = f"{policy} ends at {means[0]:,.1f} here and at {means[1]:,.1f} in figure {than}."
        return Finding(statement, means[0] < means[1] if clear else None, outcome)

    return check


def _outcome(result: Result, policy: str) -> str:
    """Where the policy ends, and how it grows."""
    growth, end = result.growth(policy), result.curves(policy)[:, -1].mean()
    return f"{policy} ends at {end:,.1f}, {growth.verdict}: {growth.reason}"
