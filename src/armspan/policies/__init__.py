"""Policies: frozen descriptions of how to choose an arm, one file per algorithm."""

from armspan.policies.base import Learner, Policy, Reference
from armspan.policies.context_ucb import ContextUCB
from armspan.policies.greedy import Greedy
from armspan.policies.lin_ts import LinTS
from armspan.policies.linucb import LinUCB
from armspan.policies.linucb_d import LinUCBd

__all__ = ["POLICIES", "ContextUCB", "Greedy", "Learner", "LinTS", "LinUCB", "LinUCBd", "Policy", "Reference"]

POLICIES: dict[str, type[Policy]] = {one.__name__: one for one in (LinUCBd, LinUCB, Greedy, ContextUCB, LinTS)}
"""All of them by name: what spec files, saved agents, docs and tests know."""
