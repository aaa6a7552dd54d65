"""Policies: frozen descriptions of how to choose an arm, one file an algorithm."""

from armspan.policies.base import Learner, Policy, Reference
from armspan.policies.context_ucb import ContextUCB
from armspan.policies.greedy import Greedy
from armspan.policies.linucb import LinUCB
from armspan.policies.linucb_d import LinUCBd

__all__ = ["ContextUCB", "Greedy", "Learner", "LinUCB", "LinUCBd", "Policy", "Reference"]
