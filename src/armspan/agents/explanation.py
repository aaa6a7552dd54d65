"""Which past contexts an estimate rests on: the paper's primal view, x = Σ β x_c over what was seen (Proposition 1)."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from armspan import _html
from armspan._text import counted, table
from armspan._typing import FloatArray
from armspan.agents.state import State
from armspan.kernels import agent_layout as layout
from armspan.kernels import agent_scores

_HEAD = ("context", "pulls", "mean reward", "weight β", "in mean", "in width²")


@dataclass(frozen=True, eq=False)
class Evidence:
    """One past context of an arm, and its part in an estimate.

    Attributes
    ----------
    x : (d,) array
        The context.
    pulls : float
        How often the arm was pulled in it.
    mean_reward : float
        The mean reward of those pulls.
    beta : float
        The weight β in the estimate.
    mean_part : float
        β times the mean reward: its part of r̂.
    variance_part : float
        β²/pulls: its part of σ̂².
    """

    x: FloatArray
    pulls: float
    mean_reward: float
    beta: float
    mean_part: float
    variance_part: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """Where r̂ and σ̂ of one arm in one context come from. The parts add up. It prints as a table.

    Attributes
    ----------
    arm : hashable
        The arm.
    mean : float
        r̂, as in `Agent.scores`.
    width : float
        σ̂, as in `Agent.scores`.
    evidence : tuple of Evidence
        The remembered contexts; those that weigh most in σ̂ come first.
    prior_variance : float
        The part of σ̂² that comes from the dummy contexts (the ridge). Their rewards are 0, so they have no part in r̂.
    other_mean, other_variance : float
        The part that comes from what is not remembered one by one: contexts that were dropped when memory was full, and
        a warm start.
    """

    arm: Hashable
    mean: float
    width: float
    evidence: tuple[Evidence, ...]
    prior_variance: float
    other_mean: float
    other_variance: float

    @property
    def prior_share(self) -> float:
        """The prior's share of σ̂². Near 1, the estimate is hardly more than a guess."""
        return self.prior_variance / self.width**2 if self.width else 0.0

    def __str__(self) -> str:
        return "\n".join([self._title, *table(_HEAD, self._cells())])

    def _repr_html_(self) -> str:
        return _html.shown(f"{self._title[0].upper()}{self._title[1:]}", _HEAD, self._cells())

    @property
    def _title(self) -> str:
        return f"arm {self.arm}: mean {self.mean:.4g}, width {self.width:.4g}"

    def _cells(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for row in self.evidence[:10]:
            features = "(" + ", ".join(f"{value:.3g}" for value in row.x[:5]) + (", …)" if row.x.size > 5 else ")")
            numbers = (f"{value:.4g}" for value in (row.pulls, row.mean_reward, row.beta, row.mean_part))
            rows.append((features, *numbers, self._share(row.variance_part)))
        if len(self.evidence) > 10:
            rest = self.evidence[10:]
            pulls, mean = sum(row.pulls for row in rest), sum(row.mean_part for row in rest)
            variance = self._share(sum(row.variance_part for row in rest))
            name = counted(len(rest), "more context")
            rows.append((name, f"{pulls:.4g}", "", "", f"{mean:.4g}", variance))
        other = f"{self.other_mean:.4g}", self._share(self.other_variance)
        rows.append(("contexts not remembered", "", "", "", *other))
        rows.append(("the prior (dummy contexts)", "", "", "", "0", self._share(self.prior_variance)))
        return rows

    def _share(self, variance: float) -> str:
        return f"{variance / self.width**2:.1%}" if self.width else "0.0%"


def explained(state: State, k: int, x: FloatArray, rows: FloatArray) -> Explanation:
    """The explanation for arm k and its x (d,), with the intercept, by rows (m, 4 + d) of memory."""
    mean, width = np.empty(len(state.names)), np.empty(len(state.names))
    agent_scores.look(state.head, state.arms, state.store, x.reshape(1, -1), np.int64(0), mean, width)
    u, ridge = state.inverse(k) @ x, state.settings.ridge
    X, pulls, sums = rows[:, layout.FEATURES :], rows[:, layout.SEEN], rows[:, layout.SUM]
    beta = pulls * (X @ u)
    mean_part, variance_part = (X @ u) * sums, beta**2 / pulls
    prior = ridge * float(u @ u)
    order = np.argsort(-variance_part, kind="stable")
    evidence = tuple(
        Evidence(
            x=X[i].copy(),
            pulls=float(pulls[i]),
            mean_reward=float(sums[i] / pulls[i]),
            beta=float(beta[i]),
            mean_part=float(mean_part[i]) + 0.0,  # -0.0 is 0.0
            variance_part=float(variance_part[i]),
        )
        for i in order
    )
    return Explanation(
        arm=state.names[k],
        mean=float(mean[k]),
        width=float(width[k]),
        evidence=evidence,
        prior_variance=prior,
        other_mean=_rounded(float(mean[k] - mean_part.sum()), float(np.abs(mean_part).sum())),
        other_variance=_rounded(float(width[k] ** 2 - variance_part.sum() - prior), float(width[k] ** 2)),
    )


def _rounded(value: float, scale: float) -> float:
    """0 where a difference is rounding alone."""
    return value if abs(value) > 1e-9 * scale else 0.0
