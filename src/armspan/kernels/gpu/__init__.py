"""Families on a GPU: any by the generic kernel, the linear ones by fast forms of their own, all behind one door."""

from armspan.errors import NotApplicable
from armspan.kernels.gpu.forms import FAST, Form, Generic, Registers, Team
from armspan.kernels.gpu.forms import Problem as Problem


def form_of(problem: Problem) -> Form:
    """The form in which a GPU runs a family; NotApplicable where events would have to be counted, and none can."""
    if problem.family.name in FAST and not problem.unusual:
        alone, team = Registers(problem), Team(problem)
        if team.fits and not alone.is_small and not problem.watching:
            return team
        if alone.fits:
            return alone
    if problem.watching:
        raise NotApplicable('engine "cuda" cannot count the events of this problem; engine "cpu" can')
    return Generic(problem)
