"""How diverse contexts are: the audit, λ₀ and bases, covariate diversity, meta-contexts, what the theorems promise."""

from armspan.diversity.basis import Basis, best_basis, lambda_0
from armspan.diversity.covariate import HalfSpace, least_diverse_half_space
from armspan.diversity.data import ContextData, audit
from armspan.diversity.log_report import LoggedDiversity
from armspan.diversity.logged import audit_log
from armspan.diversity.measure import meta_of, problem_numbers
from armspan.diversity.moments import leads, losses, reward_gap, smallest_eigenvalues, weighted_moment
from armspan.diversity.promise import regret_bound
from armspan.diversity.recurrence import BasisContexts, basis_contexts
from armspan.diversity.report import ArmDiversity, DiversityReport, Verdict

__all__ = [
    "ArmDiversity",
    "Basis",
    "BasisContexts",
    "ContextData",
    "DiversityReport",
    "HalfSpace",
    "LoggedDiversity",
    "Verdict",
    "audit",
    "audit_log",
    "basis_contexts",
    "best_basis",
    "lambda_0",
    "leads",
    "least_diverse_half_space",
    "losses",
    "meta_of",
    "problem_numbers",
    "regret_bound",
    "reward_gap",
    "smallest_eigenvalues",
    "weighted_moment",
]
