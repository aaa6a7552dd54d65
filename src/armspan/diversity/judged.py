"""A log's fits, and what they show of the two questions, before it is put into words."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.diversity import answers
from armspan.diversity.drift import Drift, drift
from armspan.diversity.elsewhere import Elsewhere, elsewhere
from armspan.diversity.evidence import MARGIN, PART, Evidence, best_shares, both, evidence, leaders
from armspan.diversity.fits import (
    Bands,
    Fits,
    Whitened,
    fewest_rows,
    fit_arms,
    mixture,
    says_constant,
    scheffe,
    whiten,
)
from armspan.diversity.following import followed
from armspan.diversity.groups import Groups
from armspan.diversity.likely import Likely, likely
from armspan.diversity.plausible import Plausible, plausible
from armspan.diversity.sample import Sample

MOST_AHEAD, FEWEST_AHEAD = 300_000, 1_000
"""Contexts times arms by which it is foretold how many rows are missing, at most; but at least so many contexts."""
ALSO_CROOKED = "They are not linear in these features either, which looks alike where contexts change with time."


class Judged:
    """A log's fits and what they show, before it is put into words."""

    def __init__(
        self,
        X: FloatArray,
        arms: IntArray,
        rewards: FloatArray,
        n_arms: int,
        *,
        level: float,
        margin: float | None = None,
        strict: bool = False,
        noise_scale: float | None = None,
        linear: bool = False,
        by: IntArray | None = None,
    ) -> None:
        alpha = level / PART
        self.alpha, self.arms, self.rewards = alpha, arms, rewards
        self.white: Whitened = whiten(X)
        z = self.white.z
        self.sample = Sample.of(z, Groups(len(z), by))
        self.fits: Fits = fit_arms(self.white, arms, rewards, n_arms, alpha, self.sample.groups)
        spread = float(rewards.std())
        self.varies = spread > 1e-9 * float(np.abs(rewards).max())
        spread = spread if self.varies else 0.0  # what is left is rounding
        self.margin = MARGIN * spread if margin is None else margin
        self.drift: Drift | None = drift(self.sample, arms, rewards, n_arms, alpha) if self.varies else None
        scale = self.fits.noise if noise_scale is None else noise_scale
        bands = mixture(z, self.fits, alpha, scale) if strict else scheffe(z, self.fits, alpha)
        self.elsewhere: Elsewhere | None = (
            None if linear else elsewhere(self.sample, bands, self.fits, arms, rewards, alpha)
        )
        self.bands: Bands = bands if self.elsewhere is None else self.elsewhere.hidden(bands)
        self.followed: int | None = followed(self.sample, arms, rewards, self.fits, alpha)
        self.unseen: IntArray = np.flatnonzero(np.abs(X).max(axis=0) == 0)
        self.evidence: Evidence = evidence(self.sample, self.bands, self.margin, alpha)
        self.drawn: Plausible | None = None
        if not strict and self.evidence.diverse == "not known" and self.fits.known.any() and not self.blind:
            everywhere = np.ones(n_arms, dtype=bool) if self.elsewhere is None else ~self.elsewhere.untried
            self.drawn = plausible(self.fits, self.sample, arms, everywhere, alpha)
            self.evidence = evidence(self.sample, self.bands, self.margin, alpha, self.drawn)
        self.best = best_shares(self.sample, self.bands, alpha)
        if self.blind:
            everything = np.tile([0.0, 1.0], (n_arms, 1))
            self.best, self.evidence = everything, replace(self.evidence, share=everything, spread=everything)

    @property
    def blind(self) -> bool:
        """Whether nothing can be said, whatever the numbers are."""
        return not self.margin > 0 or self._crooked or self.drift is not None or self.followed is not None

    @property
    def _crooked(self) -> bool:
        """Whether some arm's rewards are not linear in the features."""
        return bool((self.fits.crooked > self.margin / 2).any())

    def why_blind(self, arms: Sequence[str]) -> str:
        """In words, or "" where it is not."""
        if not self.blind:
            return ""
        if not self.margin > 0:
            return "All rewards are the same."
        if self.drift is not None:
            return self.drift.words + f" {ALSO_CROOKED}" * self._crooked
        if self.followed is not None and not self._crooked:
            return (
                f"What arm {arms[self.followed]} earns goes with how often its group was given it: the policy seems to "
                "have followed what single groups like, and then arms look better than they are. Audit rows whose arms "
                "were chosen otherwise, such as at random."
            )
        a = int(np.argmax(self.fits.crooked))
        off = f"rewards of arm {arms[a]} are not linear in these features: they are typically off by"
        off = f"{off} {self.fits.crooked[a]:.2g}."
        if self.lacks_intercept:
            return f"{answers.NO_INTERCEPT} Without it, the {off}"
        return f"The {off} Add features, such as squares or products, and ask again."

    def model(self, X: FloatArray, arms: Sequence[str]) -> Likely:
        """What the log leaves likely."""
        told: Any = {"residual": self.fits.noise if self.fits.known.any() else None, "caveat": self.why_blind(arms)}
        return likely(X, self.white.z, self.arms, self.rewards, self.fits.gram, **told)

    @property
    def lacks_intercept(self) -> bool:
        """Whether no feature is constant, and no sum of features, such as one per category, is constant either."""
        return not says_constant(self.white.z)

    def answer(self, question: str) -> str:
        """The answer to "diverse", "gap" or "constant"."""
        if question == "constant":
            return both(self.answer("diverse"), self.answer("gap"))
        found = "not known" if self.blind else str(getattr(self.evidence, question))
        unchecked = self.elsewhere is not None and bool(self.elsewhere.open().any())
        silenced = unchecked or (question == "diverse" and self.unseen.size > 0)
        return "not known" if found == "yes" and silenced else found

    def why_unchecked(self, arms: Sequence[str]) -> str:
        """Why "yes" is not said though lines say it: the arm of which least is seen where others look best; or ""."""
        if self.elsewhere is None or not self.elsewhere.open().any():
            return ""
        a = int(np.argmin(np.where(self.elsewhere.open(), self.elsewhere.rows, len(self.arms))))
        return answers.unchecked(arms[a], int(self.elsewhere.rows[a]), grouped=self.sample.groups.numbers is not None)

    def more(self, question: str) -> answers.More:
        """What would settle an open question: more rows of this kind, of which arm, in which direction."""
        z, known = self.white.z, self.fits.known
        if not known.all():
            arm = int(np.flatnonzero(~known)[np.argmin(self.fits.rows[~known])])
            if self.fits.each_way[arm] > 0:
                return answers.More(0, arm, self.fits.thin[arm], few=True)
            flat = np.linalg.eigh(self.fits.gram[arm])[1][:, 0]
            return answers.More(0, arm, flat, fewest_rows(z.shape[1]) + 1)
        if self.elsewhere is not None and self.elsewhere.untried.any():
            arm = int(np.argmin(np.where(self.elsewhere.untried, self.elsewhere.rows, len(self.arms))))
            return answers.More(0, arm, z[0], elsewhere=int(self.elsewhere.rows[arm]))
        settled = (times for times in answers.TIMES if self._settles(question, times))
        times = next(settled, 0)
        found_now = leaders(self.bands, self.margin, sure=self.bands.one_arm, may=self.bands.all_arms)
        unclear = found_now.may & (found_now.surely < 0)[:, None]
        arm = int(np.argmax((self.bands.variance * unclear).sum(axis=0)))
        return answers.More(times, arm, np.linalg.eigh(self.fits.covariance[arm, 0])[1][:, -1])

    def _settles(self, question: str, times: float) -> bool:
        """Whether so many times as many rows would answer a question."""
        answer = getattr(self._with_more(times), question)
        return answer == "no" or (answer == "yes" and not (self.elsewhere and self.elsewhere.open(times).any()))

    @lru_cache(maxsize=len(answers.TIMES))  # noqa: B019
    def _with_more(self, times: float) -> Evidence:
        """What so many times as many rows would show, by some of the contexts where there are many."""
        n, K = self.bands.means.shape
        step = max(min(n * K // MOST_AHEAD, n // FEWEST_AHEAD), 1)
        bands, factor = self.bands.some(step), math.sqrt(times)
        drawn = self.drawn and self.drawn.narrower(factor)
        return evidence(self.sample.more(times, step), bands.narrower(factor), self.margin, self.alpha, drawn)
