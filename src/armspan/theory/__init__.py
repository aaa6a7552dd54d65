"""The paper's quantities as functions: exploration schedules now, the theorems and their proof later."""

from armspan.theory.schedules import Alpha, Schedule, as_schedule, f, freeze, paper_alpha

__all__ = ["Alpha", "Schedule", "as_schedule", "f", "freeze", "paper_alpha"]
