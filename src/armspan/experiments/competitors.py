"""Who competes in the arena: every policy as theory has it, and as practice does where its page names other values."""

from typing import Any

import numpy as np

from armspan._typing import FloatArray, IntArray
from armspan.environments import Environment, RewardTable
from armspan.errors import NotApplicable
from armspan.policies import (
    EXP4,
    EXP4P,
    FALCON,
    ILTCB,
    OFUL,
    PEGE,
    POLICIES,
    UCB1,
    BestFixedArm,
    ConfidenceBall,
    ContextUCB,
    EpochGreedy,
    EpsilonGreedy,
    ExploreThenCommit,
    Greedy,
    GreedyFirst,
    HybridLinUCB,
    KernelUCB,
    LassoBandit,
    LinMED,
    LinRel,
    LinTS,
    LinUCB,
    LinUCBd,
    OLSBandit,
    Oracle,
    Policy,
    RandomChoice,
    RandomizedUCB,
    Softmax,
    SquareCB,
    SupLinRel,
    SupLinUCB,
    TruncatedLinUCB,
)


def entries(env: Environment, horizon: int) -> list[Policy]:
    """The policies that compete in this environment; not the oracle, which loses nothing."""
    return [policy for policy in _everyone(env, horizon) if _why_not(policy, env, horizon) is None]


def absentees(env: Environment, horizon: int) -> dict[str, str]:
    """Who does not compete in this environment, and why, by the policy's name."""
    reasons = {policy.name: _why_not(policy, env, horizon) for policy in _everyone(env, horizon)}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def _everyone(env: Environment, horizon: int) -> list[Policy]:
    """Policies with the parameters that are of interest; those that are not named here have their usual ones."""
    R, size = env.noise_scale or 0.1, env.feature_bound * env.parameter_bound
    rewards: Any = {"low": -size, "high": size}
    everyone: list[Policy] = [
        LinUCBd(),
        LinUCB(alpha=R, label="LinUCB, α = R"),
        LinUCB(alpha=R, shared=True, label="LinUCB, α = R, shared"),
        LinUCB(alpha="practical"),
        LinUCB(alpha="practical", half_life=500.0),
        LinUCB(alpha="practical", shared=True, label="LinUCB, practical, shared"),
        LinUCB(alpha="estimated"),
        HybridLinUCB(),
        HybridLinUCB(alpha=R, label="LinUCB hybrid, α = R"),
        OFUL(),
        OFUL(delta=1 / horizon, label="OFUL, δ = 1/T"),
        TruncatedLinUCB(),
        ConfidenceBall(),
        SupLinUCB(width="proof", label="SupLinUCB, as proved"),
        SupLinUCB(noise_scale=R, label="SupLinUCB"),
        Greedy(),
        Greedy(pulls=env.n_features, label="greedy, d pulls first"),
        GreedyFirst(),
        LinTS(),
        LinTS(scale=R, label="LinTS, v = R"),
        LinTS(scale=R, shared=True, label="LinTS, v = R, shared"),
        LinMED(),
        LinMED(c1=0.25, c2=0.5, label="LinMED, as proved"),
        EpsilonGreedy(),
        EpsilonGreedy(until_sure=True, label="ε-greedy until sure"),
        Softmax(),
        SquareCB(**rewards),
        SquareCB(**rewards, scale=10.0, label="SquareCB, c = 10"),
        SquareCB(**rewards, gamma=_of_vowpal_wabbit, label="SquareCB, γ = 10√n"),
        FALCON(**rewards),
        FALCON(**rewards, scale=10.0, label="FALCON, c = 10"),
        ExploreThenCommit(),
        ExploreThenCommit(pulls=_long_enough(env.n_arms, horizon), label="explore then commit, as proved"),
        PEGE(),
        OLSBandit(),
        EpochGreedy(),
        EXP4(reward_range=(-size, size)),
        EXP4P(reward_range=(-size, size)),
        ILTCB(reward_range=(-size, size)),
        RandomizedUCB(reward_range=(-size, size)),
        ContextUCB(),
        UCB1(),
        UCB1(noise_scale=max(R, size), label="UCB1, wide"),
        BestFixedArm(),
        RandomChoice(),
        LassoBandit(),
        LinRel(),
        SupLinRel(),
        KernelUCB(),
    ]
    if isinstance(env, RewardTable) and np.isin(env.reward_table, (0.0, 1.0)).all():
        everyone += [OLSBandit(h=1.0, label="OLS bandit, h = 1"), GreedyFirst(h=1.0, label="greedy first, h = 1")]
    named = {Oracle, *(type(policy) for policy in everyone)}
    return everyone + [kind() for kind in POLICIES.values() if kind not in named]


def _of_vowpal_wabbit(t: IntArray) -> FloatArray:
    return np.asarray(10 * np.sqrt(t - 1))


def _long_enough(n_arms: int, horizon: int) -> int:
    """The pulls of every arm that theory asks for, (T/K)^⅔."""
    return max(1, round((horizon / n_arms) ** (2 / 3)))


def _why_not(policy: Policy, env: Environment, horizon: int) -> str | None:
    """Why a policy does not compete, in a sentence; None if it does."""
    if policy.compiled is None and not env.late:
        return "only Python runs it, which takes too long; it competes in one problem, that whose rewards come late"
    slow = policy.too_slow(env)
    if slow is not None:
        return slow
    try:
        policy.within(horizon).check(env, horizon)
    except NotApplicable as reason:
        return str(reason)
    return None
