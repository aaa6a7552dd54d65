"""Policies: frozen descriptions of how to choose an arm, one file per algorithm; `registry` lists them."""

from armspan.policies.base import Learner as Learner
from armspan.policies.base import Reference as Reference
from armspan.policies.registry import *  # noqa: F403
