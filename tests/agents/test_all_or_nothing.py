"""A batch is learnt whole or not at all, whatever ends it: Ctrl-C, an overflow in its last arm, or bad input."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from armspan import KernelUCB, LinTS, LinUCB, _interrupts
from armspan._interrupts import Uninterrupted
from armspan.agents import Agent
from armspan.agents.family_agent import FamilyAgent
from armspan.agents.reference_agent import ReferenceAgent
from armspan.agents.state import State
from armspan.agents.window import Window
from armspan.errors import InvalidParameter
from armspan.kernels import agent_layout as layout
from tests.tolerance import assert_close

KINDS: list[dict[str, Any]] = [{}, {"dtype": "float32"}, {"window": 30}, {"half_life": 20.0}, {"memory": 8}]


@pytest.fixture(autouse=True)
def listening() -> Iterator[None]:
    """Ctrl-C is heard, also where tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
    while _interrupts._due:  # of a test that has failed
        _interrupts._due.pop().cancel()


def agent_of(**options: Any) -> Agent:
    return LinUCB(ridge=1.0, alpha=0.5, feature_bound=1.0).agent(4, 3, seed=1, **options)


def batch_of(n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.integers(4, size=n), rng.normal(size=(n, 3)), rng.normal(size=n)


def everything(agent: Agent) -> list[bytes]:
    """All that an agent knows, as bytes."""
    state = agent._state
    window = [] if state.window is None else list(state.window.entries)
    known = [state.head[: layout.HEAD], state.arms, state.store, state.memory, np.array([y for _, _, y in window])]
    return [np.ascontiguousarray(part).tobytes() for part in known]


def assert_alike(one: Agent, other: Agent) -> None:
    """Two agents know the same, up to rounding."""
    operations = 10**6 if one.settings.dtype == "float64" else 10**13
    for what in ("arms", "store", "memory"):
        assert_close(getattr(one._state, what), getattr(other._state, what), operations=operations)
    assert (one.rewards, one._state.forgotten) == (other.rewards, other._state.forgotten)


def interrupted_at(monkeypatch: pytest.MonkeyPatch, where: type, method: str, call: int) -> None:
    """Press Ctrl-C after so many calls of a method."""
    whole, calls = getattr(where, method), [0]

    def pressed(*args: Any) -> Any:
        result = whole(*args)
        calls[0] += 1
        if calls[0] == call:
            signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(where, method, pressed)


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("call", [1, 2, 4])
def test_ctrl_c_in_a_batch_leaves_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], call: int
) -> None:
    agent = agent_of(**options)
    agent.update(*batch_of(60, 1))
    before = everything(agent)
    where, method = (Window, "slide") if "window" in options else (State, "forget" if "half_life" in options else "add")
    interrupted_at(monkeypatch, where, method, call)
    with pytest.raises(KeyboardInterrupt):
        agent.update(*batch_of(60, 2))
    monkeypatch.undo()
    assert everything(agent) == before
    agent.update(*batch_of(60, 2))
    other = agent_of(**options)
    other.update(*batch_of(60, 1))
    other.update(*batch_of(60, 2))
    assert_alike(agent, other)


@pytest.mark.parametrize("options", [{"window": 5}, {"half_life": 3.0}])
def test_ctrl_c_in_a_single_update_comes_after_it(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    agent, other = agent_of(**options), agent_of(**options)
    arms, X, rewards = batch_of(12)
    for k, x, y in zip(arms, X, rewards, strict=True):
        other.update(int(k), x, float(y))
    for k, x, y in zip(arms[:-1], X[:-1], rewards[:-1], strict=True):
        agent.update(int(k), x, float(y))
    interrupted_at(monkeypatch, State, "rebuild" if "half_life" in options else "gram", 1)

    def work() -> None:
        agent.update(int(arms[-1]), X[-1], float(rewards[-1]))
        time.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        work()
    monkeypatch.undo()
    assert_alike(agent, other)


@pytest.mark.parametrize(("length", "words"), [(1e14, r"x must be at most 31\.62 long"), (9e15, "sums of squares")])
def test_a_batch_that_is_too_large_in_its_second_arm_is_refused_whole(length: float, words: str) -> None:
    agent = LinUCB(ridge=1.0, alpha=1.0, feature_bound=1.0).agent(2, 2, dtype="float32")
    agent.update([1] * 8, np.full((8, 2), [20.0, 0.0]), np.zeros(8))
    before = everything(agent)
    X = np.concatenate([np.ones((6, 2)), np.full((6, 2), [length, 0.0])])
    with pytest.raises(InvalidParameter, match=words):
        agent.update([0] * 6 + [1] * 6, X, np.ones(12))
    assert everything(agent) == before


def test_an_uninterrupted_block_raises_in_the_end_and_can_be_nested() -> None:
    reached = []

    def work() -> None:
        with Uninterrupted() as outer:
            with Uninterrupted():
                signal.raise_signal(signal.SIGINT)
                reached.append("inner")
            reached.append("outer")
            assert outer.pending
        time.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["inner", "outer"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_have_no_interrupts_to_hold_back() -> None:
    seen = []

    def work() -> None:
        with Uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def learn_one(agent: Any) -> None:
    agent.update(0, np.array([0.1, 0.2, 0.3]), 1.0)


def learn_ten(agent: Any) -> None:
    agent.update([0, 1] * 5, np.full((10, 3), 0.2), np.ones(10))


LEARNERS: dict[str, tuple[Callable[[], Any], Callable[[Any], None], type, str]] = {
    "LinTS": (lambda: LinTS().agent(4, 3), learn_one, FamilyAgent, "_learn"),
    "KernelUCB": (lambda: KernelUCB(eta=1.0).agent(4, 3), learn_one, ReferenceAgent, "_learn"),
    "window": (lambda: agent_of(window=5), learn_one, Window, "slide"),
    "batches": (lambda: LinUCB(ridge=1.0, alpha=0.5, shared=True).agent(4, 3), learn_ten, FamilyAgent, "_learn"),
}
LOOPS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    **{name: (make, call) for name, (make, call, _, _) in LEARNERS.items()},
    "scores": (agent_of, lambda agent: agent.scores_many(np.full((2000, 3), 0.2))),
    "merge": (agent_of, lambda agent: agent.merge(agent.copy().delta())),
}


def until_ctrl_c(call: Callable[[], Any], seconds: float = 20.0) -> int:
    """How often a call returned before Ctrl-C came out of the loop; it must come in this time."""
    done, until = 0, time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            call()
            done += 1
    except KeyboardInterrupt:
        return done
    raise AssertionError("Ctrl-C did not come")


@pytest.mark.parametrize("loop", LOOPS)
def test_ctrl_c_ends_a_loop_that_does_nothing_but_call(monkeypatch: pytest.MonkeyPatch, loop: str) -> None:
    make, call = LOOPS[loop]
    agent = make()
    call(agent)
    before = agent.rewards
    monkeypatch.setattr(_interrupts, "SOON", 60.0)  # by then it might be held back once more
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    done = until_ctrl_c(lambda: call(agent))
    if loop in LEARNERS:  # one more if it came between two calls, before the last one was counted here
        assert (agent.rewards - before) // before in (done, done + 1)
    call(agent)  # and it comes once
    assert not _interrupts._due


@pytest.mark.parametrize("learner", LEARNERS)
def test_ctrl_c_comes_out_of_a_call_that_has_learnt_nothing(monkeypatch: pytest.MonkeyPatch, learner: str) -> None:
    make, call, where, method = LEARNERS[learner]
    agent = make()
    call(agent)
    each = agent.rewards
    monkeypatch.setattr(_interrupts, "SOON", 60.0)  # nothing but the next call delivers it
    interrupted_at(monkeypatch, where, method, 7)
    assert until_ctrl_c(lambda: call(agent)) == 7
    assert agent.rewards == 8 * each
    call(agent)
    assert agent.rewards == 9 * each
    assert not _interrupts._due


def test_ctrl_c_does_not_come_out_of_a_call_that_has_learnt_and_then_has_work_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy, x = LinUCB(ridge=1.0, alpha=0.5), np.full(9, 0.1)
    policy.agent(2, 9).update(0, x, 1.0)  # compiled
    agent, check = policy.agent(2, 9), State.check
    worked: list[int] = []

    def checked(state: State, k: int) -> None:
        worked.append(k)
        check(state, k)

    monkeypatch.setattr(State, "check", checked)
    monkeypatch.setattr(_interrupts, "SOON", 60.0)
    with Uninterrupted():
        signal.raise_signal(signal.SIGINT)
    for _ in range(5):  # pairs until then, a full matrix after that
        agent.update(0, x, 1.0)
    assert (worked, agent.rewards) == ([0], 5)
    with pytest.raises(KeyboardInterrupt):
        agent.to_bytes()
    agent.to_bytes()


def test_a_handler_of_ones_own_is_called_once_for_each_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    agent = LinTS().agent(4, 3)
    for expected in (1, 2):
        with Uninterrupted():
            signal.raise_signal(signal.SIGINT)
        learn_one(agent)
        time.sleep(5 * _interrupts.SOON)
        assert came == [signal.SIGINT] * expected
    assert agent.rewards == 2


def test_what_a_handler_of_ones_own_raises_comes_out_of_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(number: int, _: Any) -> None:
        raise IndexError(number)

    signal.signal(signal.SIGINT, pressed)
    monkeypatch.setattr(_interrupts, "SOON", 60.0)
    agent = LinTS().agent(4, 3)
    with Uninterrupted():
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(IndexError):
        learn_one(agent)
    assert agent.rewards == 0
    learn_one(agent)
