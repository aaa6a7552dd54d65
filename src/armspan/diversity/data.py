"""audit(): are contexts diverse? Either those of an environment, or contexts that were seen, with known parameters."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armspan import _validate
from armspan._frames import is_frame
from armspan._typing import FloatArray
from armspan.diversity import answers
from armspan.diversity.evidence import LEVEL, MARGIN, PART, evidence
from armspan.diversity.fits import check_sizes, exact, whiten
from armspan.diversity.measure import Audited, audit_problem
from armspan.diversity.moments import reward_gap
from armspan.diversity.report import DiversityReport, Verdict
from armspan.diversity.sample import Sample
from armspan.errors import InvalidParameter, NotApplicable

_FOR_LOGS = "logged decisions are audited by armspan.diversity.audit_log, or by the command armspan audit"


class ContextData:
    """Contexts that were seen, as a problem to audit: all rows are equally likely.

    Parameters
    ----------
    contexts : (n, d) or (n, K, d) array
        Features that the arms share, or one row per arm.
    theta_hat : (K, d) array
        Parameters of the arms.
    name : str
        Its name in reports.
    """

    noise_scale = 1.0
    nowhere = "best in none of these contexts"

    def __init__(self, contexts: Any, theta_hat: Any, *, name: str = "data") -> None:
        self.name = name
        self.theta_hat = _validate.array("theta_hat", theta_hat, shape=("arms", "features"))
        self.n_arms, self.n_features = self.theta_hat.shape
        if self.n_arms < 2:
            raise InvalidParameter(f"theta_hat must have at least 2 arms on its first axis, got {self.n_arms}")
        shared = np.ndim(contexts) == 2
        wanted = ("n", self.n_features) if shared else ("n", self.n_arms, self.n_features)
        given = _validate.array("contexts", contexts, shape=wanted)
        self.n_contexts, self.contexts = len(given), given
        whole = (self.n_contexts, self.n_arms, self.n_features)
        self._x = np.broadcast_to(given[:, None, :], whole) if shared else given
        self._means = given @ self.theta_hat.T if shared else np.einsum("nkd,kd->nk", given, self.theta_hat)
        with np.errstate(over="ignore"):
            self.feature_bound = float(np.linalg.norm(given, axis=-1).max())
        if self.feature_bound == 0:
            raise InvalidParameter("contexts must not all be 0")
        if not np.isfinite([self.feature_bound**2, np.abs(self._means).max()]).all():
            raise InvalidParameter("contexts must be small enough that their squares are finite numbers")
        self.parameter_bound = float(np.linalg.norm(self.theta_hat, axis=1).max())
        self.gap = reward_gap(self._means)

    @property
    def usual_margin(self) -> float:
        """5 % of the standard deviation of the mean rewards."""
        return MARGIN * float(self._means.std())

    def verdicts(self, report: DiversityReport, margin: float, level: float) -> tuple[Verdict, ...]:
        """What the sample says about all contexts: constant regret, diverse, gap, greedy.

        Parameters
        ----------
        report : DiversityReport
            The measurements.
        margin : float
            By how much an arm must lead.
        level : float
            How often an answer may be wrong.
        """
        shared = self._x.strides[1] == 0
        white = [whiten(self._x[:, a]) for a in range(1 if shared else self.n_arms)]
        blind = "" if margin > 0 else "All mean rewards are the same."
        if min(part.z.shape[1] for part in white) < max(part.z.shape[1] for part in white):
            blind = "Some arms' features vary in fewer directions than others'."
        z = white[0].z if shared or blind else np.stack([part.z for part in white], axis=1)
        bands, alpha = exact(self._means), level / PART
        sample = Sample.of(z)
        found = evidence(sample, bands, margin, alpha)

        def more(question: str) -> answers.More:
            enough = (
                times
                for times in answers.TIMES
                if getattr(evidence(sample.more(times), bands, margin, alpha), question) != "not known"
            )
            return answers.More(next(enough, 0), 0, np.zeros(z.shape[-1]))

        arms = [row.name for row in report.arms]
        problem = answers.Problem(arms, report.feature_names, margin, None, white[0].weights)
        zero = np.flatnonzero(np.abs(self._x).max(axis=(0, 1)) == 0)
        unseen = answers.never_seen([report.feature_names[j] for j in zero])
        greedy = [answers.greedy(problem._replace(weights=part.weights), Sample.of(part.z), alpha) for part in white]
        refuted = next((verdict for verdict in greedy if verdict.answer == "no"), greedy[0])
        return *answers.verdicts(problem, found, answers.Doubts(blind=blind, unseen=unseen), more), refuted

    def context_table(self, samples: int) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
        """All contexts with features, mean rewards and probabilities, and False: they are a sample.

        Parameters
        ----------
        samples : int
            Not used: all rows are returned.
        """
        return self._x, self._means, np.full(self.n_contexts, 1 / self.n_contexts), True


def audit(
    env: Audited | None = None,
    *,
    contexts: Any = None,
    theta_hat: Any = None,
    arm_names: Sequence[Any] | None = None,
    feature_names: Sequence[Any] | None = None,
    rank_tolerance: float = 1e-9,
    margin: float | None = None,
    level: float = LEVEL,
) -> DiversityReport:
    """Measure the diversity of an environment's contexts, or of contexts that were seen.

    Give either an environment, or contexts with the arms' parameters, which are taken to be known;
    `armspan.diversity.audit_log` fits them to a log.

    Parameters
    ----------
    env : Environment, optional
        The environment.
    contexts : (n, d) or (n, K, d) array, optional
        A sample of contexts: features that the arms share, or one row per arm.
    theta_hat : (K, d) array, optional
        Parameters of the arms, with `contexts`.
    arm_names, feature_names : list, optional
        Their names in the report; numbers from 0 if left out.
    rank_tolerance : float, default 1e-9
        Singular values below this times the largest count as 0 in ranks, after every feature is brought to one scale.
    margin : float, optional
        By how much an arm must lead, with `contexts`; 5 % of the mean rewards' standard deviation if left out.
    level : float, default 0.05
        How often an answer may be wrong, with `contexts`.

    Returns
    -------
    DiversityReport
        Numbers and verdicts; print it to read it.
    """
    if (env is None) == (contexts is None) or (contexts is None) != (theta_hat is None):
        log = f"; {_FOR_LOGS}" if env is None and theta_hat is None else ""
        raise InvalidParameter(f"audit must be given an environment, or both contexts and theta_hat{log}")
    problem: Audited = ContextData(contexts, theta_hat) if env is None else env
    if not isinstance(problem, Audited) or not np.isfinite(problem.gap):
        log = f"; {_FOR_LOGS}" if _is_data(problem) else ""
        raise NotApplicable(f"audit needs an environment that knows its truth, got {type(problem).__name__}{log}")
    outside = getattr(problem, "outside_theory", None)
    if outside is not None:
        raise NotApplicable(f"audit needs an environment that the theory covers, but {outside}")
    check_names("arm_names", arm_names, problem.n_arms)
    check_names("feature_names", feature_names, problem.n_features)
    if isinstance(problem, ContextData):
        check_sizes(problem.contexts, feature_names or range(problem.n_features))
    if not _validate.real("rank_tolerance", rank_tolerance, at_least=0) < 1:
        raise InvalidParameter(f"rank_tolerance must be >= 0 and < 1, got {rank_tolerance:g}")
    if env is not None and (margin is not None or level != LEVEL):
        raise InvalidParameter("margin and level are for contexts and theta_hat: of an environment the truth is known")
    report = audit_problem(problem, rank_tolerance=rank_tolerance, arm_names=arm_names, feature_names=feature_names)
    if not isinstance(problem, ContextData):
        return report
    if not 0 < _validate.real("level", level, above=0) < 0.5:
        raise InvalidParameter(f"level must be > 0 and < 0.5, got {level:g}")
    wanted = problem.usual_margin if margin is None else _validate.real("margin", margin, above=0)
    said = problem.verdicts(report, wanted, level)
    return replace(report, verdicts=(*said, answers.estimated_span(report.shared_spread)))


def _is_data(given: Any) -> bool:
    """Whether it looks like logged decisions: a table, an array, rows, or the path of a file."""
    return isinstance(given, str | os.PathLike | Sequence | Mapping) or is_frame(given) or hasattr(given, "__array__")


def check_names(name: str, given: Sequence[Any] | None, wanted: int) -> None:
    """Refuse names that are not one for each."""
    if isinstance(given, str):
        raise InvalidParameter(f"{name} must be a list of {wanted} names, got {given!r:.60}")
    if given is not None and (not hasattr(given, "__len__") or len(given) != wanted):
        count = len(given) if hasattr(given, "__len__") else type(given).__name__
        raise InvalidParameter(f"{name} must have {wanted} entries, got {count}")
