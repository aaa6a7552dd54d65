"""The one list of policies, one line each: spec files, saved agents, `armspan` itself, docs and tests read it."""

from armspan.policies.base import Policy as Policy
from armspan.policies.context_ucb import ContextUCB as ContextUCB
from armspan.policies.greedy import Greedy as Greedy
from armspan.policies.lin_ts import LinTS as LinTS
from armspan.policies.linucb import LinUCB as LinUCB
from armspan.policies.linucb_d import LinUCBd as LinUCBd

POLICIES: dict[str, type[Policy]] = {
    name: kind
    for name, kind in tuple(globals().items())
    if isinstance(kind, type) and issubclass(kind, Policy) and kind is not Policy
}
