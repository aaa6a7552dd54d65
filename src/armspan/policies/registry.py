"""The one list of policies, one line each: spec files, saved agents, `armspan` itself, docs and tests read it."""

from armspan.policies.base import Policy as Policy
from armspan.policies.best_fixed_arm import BestFixedArm as BestFixedArm
from armspan.policies.confidence_ball import ConfidenceBall as ConfidenceBall
from armspan.policies.context_ucb import ContextUCB as ContextUCB
from armspan.policies.epoch_greedy import EpochGreedy as EpochGreedy
from armspan.policies.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
from armspan.policies.exp4 import EXP4 as EXP4
from armspan.policies.exp4p import EXP4P as EXP4P
from armspan.policies.explore_then_commit import ExploreThenCommit as ExploreThenCommit
from armspan.policies.falcon import FALCON as FALCON
from armspan.policies.greedy import Greedy as Greedy
from armspan.policies.greedy_first import GreedyFirst as GreedyFirst
from armspan.policies.hybrid_linucb import HybridLinUCB as HybridLinUCB
from armspan.policies.iltcb import ILTCB as ILTCB
from armspan.policies.kernel_ucb import KernelUCB as KernelUCB
from armspan.policies.lasso_bandit import LassoBandit as LassoBandit
from armspan.policies.lin_med import LinMED as LinMED
from armspan.policies.lin_ts import LinTS as LinTS
from armspan.policies.linrel import LinRel as LinRel
from armspan.policies.linucb import LinUCB as LinUCB
from armspan.policies.linucb_d import LinUCBd as LinUCBd
from armspan.policies.oful import OFUL as OFUL
from armspan.policies.ols_bandit import OLSBandit as OLSBandit
from armspan.policies.oracle import Oracle as Oracle
from armspan.policies.pege import PEGE as PEGE
from armspan.policies.random_choice import RandomChoice as RandomChoice
from armspan.policies.randomized_ucb import RandomizedUCB as RandomizedUCB
from armspan.policies.softmax import Softmax as Softmax
from armspan.policies.square_cb import SquareCB as SquareCB
from armspan.policies.sup_linrel import SupLinRel as SupLinRel
from armspan.policies.sup_linucb import SupLinUCB as SupLinUCB
from armspan.policies.truncated_linucb import TruncatedLinUCB as TruncatedLinUCB
from armspan.policies.ucb1 import UCB1 as UCB1

POLICIES: dict[str, type[Policy]] = {
    name: kind
    for name, kind in tuple(globals().items())
    if isinstance(kind, type) and issubclass(kind, Policy) and kind is not Policy
}
