"""The paper's quantities as functions: exploration schedules, the theorems and the lemmas behind them."""

from armspan.theory.classical import dominated_arm_shape, linucb_bound, suplinucb_shape
from armspan.theory.lemmas import (
    elliptical_potential,
    group_optimal_pulls,
    group_suboptimal_pulls,
    group_width_squared_bound,
    optimal_pulls,
    perturbed_eigenvalue,
    span_weight,
    suboptimal_pulls,
    width_squared_bound,
)
from armspan.theory.schedules import Alpha, Schedule, as_schedule, f, freeze, paper_alpha
from armspan.theory.theorems import Bound, ProblemNumbers, delta, t_1, t_2, t_3, t_4, theorem_1, theorem_2

__all__ = [
    "Alpha",
    "Bound",
    "ProblemNumbers",
    "Schedule",
    "as_schedule",
    "delta",
    "dominated_arm_shape",
    "elliptical_potential",
    "f",
    "freeze",
    "group_optimal_pulls",
    "group_suboptimal_pulls",
    "group_width_squared_bound",
    "linucb_bound",
    "optimal_pulls",
    "paper_alpha",
    "perturbed_eigenvalue",
    "span_weight",
    "suboptimal_pulls",
    "suplinucb_shape",
    "t_1",
    "t_2",
    "t_3",
    "t_4",
    "theorem_1",
    "theorem_2",
    "width_squared_bound",
]
