"""Whose rewards an agent holds, so that relatives who meet again count nothing twice.

Every agent has an id of its own, and the rewards that it has learnt itself are numbered. What it holds is then a count
per id: {"a1…": 5000, "b7…": 3000}. Decisions are counted likewise, on their own. A copy, a loaded file or a forked
process begins with all that was held and with a new id, and keeps what it began with, its base: what it has learnt
since can be told apart, and merged once.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import numpy as np

from armspan._typing import FloatArray
from armspan.agents.state import State, Statistics
from armspan.errors import InvalidParameter
from armspan.kernels import agent_layout as layout
from armspan.kernels import agent_memory as memory

Held = Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What was held at some moment, or what came between two: sums per arm, remembered contexts, counters.

    held : how many rewards of each agent. names : of all arms. arms : sums of those that were pulled.
    contexts : (arm, x) with pulls and sum of rewards. decisions : how many each agent has made.
    """

    held: Held
    names: tuple[Hashable, ...]
    arms: Mapping[Hashable, Statistics]
    contexts: Mapping[tuple[Hashable, bytes], FloatArray]
    decisions: Held
    rewards: float

    def without(self, arm: Hashable | None) -> "Knowledge":
        """The same but for an arm."""
        arms = dict(self.arms)
        arms.pop(arm, None)  # not by !=, which some names answer with an array
        return replace(self, arms=arms)

    def less(self, base: "Knowledge | None") -> "Knowledge":
        """What has come since the base."""
        if base is None:
            return self
        arms = {name: _less(seen, base.arms.get(name)) for name, seen in self.arms.items()}
        contexts = {place: row - base.contexts.get(place, 0.0) for place, row in self.contexts.items()}
        contexts = {place: row for place, row in contexts.items() if row[0] > 0}
        rewards = max(self.rewards - base.rewards, 0.0)
        arms = {name: seen for name, seen in arms.items() if seen.pulls or np.any(seen.gram)}
        contexts = {place: row for place, row in contexts.items() if place[0] in arms}
        return Knowledge(self.held, self.names, arms, contexts, self.decisions, rewards)


@dataclass(frozen=True, eq=False)
class Lineage:
    """An agent's id, what it holds of others, and what it began with.

    others : how many rewards of each other agent it holds. base : what it began with, None if nothing.
    reported : what it held at its last `delta`, None if there was none.
    foreign : how many of the rewards it counts it has not learnt itself. events : what it has changed besides learning.
    elsewhere : how many of the decisions it counts each other agent has made. removed : arms that it has removed.
    """

    own: str = field(default_factory=lambda: uuid4().hex)
    others: Held = field(default_factory=dict)
    base: Knowledge | None = None
    reported: Knowledge | None = None
    foreign: float = 0.0
    events: int = 0
    elsewhere: Held = field(default_factory=dict)
    removed: frozenset[Hashable] = frozenset()

    def decisions(self, state: State) -> dict[str, int]:
        """How many decisions of each agent are counted in this state."""
        own = int(state.head[layout.DECISIONS]) - sum(self.elsewhere.values())
        return {**self.elsewhere, self.own: own}

    def held(self, state: State) -> dict[str, int]:
        """How many rewards of each agent are in this state."""
        return {**self.others, self.own: self.count(state)}

    def since(self, until: Held, held: Held) -> Knowledge | None:
        """What this agent held at a moment after which all it has learnt until now is new to one who holds that."""
        bases = (base for base in (self.reported, self.base) if base is not None)
        return next((base for base in bases if fits(base.held, until, held)), None)

    def count(self, state: State) -> int:
        """How many rewards it has learnt itself, and other changes."""
        return int(state.head[layout.REWARDS] - self.foreign) + self.events

    def branched(self, state: State) -> "Lineage":
        """Of an agent that begins with all that this one holds."""
        return replace(begun(state, self.held(state), self.decisions(state)), removed=self.removed)

    def changed(self, forgotten: Hashable | None = None) -> "Lineage":
        """After an arm was added with a prior, or removed: then what the base had of it is not subtracted any more."""
        base, reported = (None if one is None else one.without(forgotten) for one in (self.base, self.reported))
        removed = self.removed if forgotten is None else self.removed | {forgotten}
        return replace(self, base=base, reported=reported, events=self.events + 1, removed=removed)


@dataclass(frozen=True, eq=False)
class Delta:
    """What an agent has learnt between two moments, for another agent's `merge`. `Agent.delta` makes one.

    Attributes
    ----------
    since : dict
        How many rewards of each agent it held before.
    now : Knowledge
        What it held afterwards.
    news : Knowledge
        What came in between.
    shape : dict
        What agents must have in common to be merged.
    """

    since: Held
    now: Knowledge
    news: Knowledge
    shape: Mapping[str, Any]


def begun(state: State, held: Held, decisions: Held) -> Lineage:
    """The lineage of an agent that begins with this state; agents that forget are never merged, and need no base."""
    base = None if state.settings.forgets else knowledge(state, held, decisions)
    foreign = float(state.head[layout.REWARDS])
    return Lineage(others=dict(held), base=base, foreign=foreign, elsewhere=dict(decisions))


def knowledge(state: State, held: Held, decisions: Held) -> Knowledge:
    """Everything that a state holds."""
    pulled = state.arms[:, layout.PULLS] > layout.ASKED
    arms = {name: state.statistics(k) for k, name in enumerate(state.names) if pulled[k]}
    contexts = {}
    for row in state.entries():
        place = state.names[int(row[layout.ARM])], row[layout.FEATURES :].tobytes()
        contexts[place] = row[[layout.SEEN, layout.SUM]].copy()
    return Knowledge(dict(held), state.names, arms, contexts, dict(decisions), float(state.head[layout.REWARDS]))


def within(one: Held, other: Held) -> bool:
    """Whether whoever holds the other holds all of the one."""
    return all(other.get(name, 0) >= count for name, count in one.items())


def fits(since: Held, until: Held, held: Held) -> bool:
    """Whether what came between since and until is new to one who holds this, and what was before is not."""
    news = [name for name, count in until.items() if count > since.get(name, 0)]
    return within(since, held) and all(held.get(name, 0) == since.get(name, 0) for name in news)


def union(one: Held, other: Held) -> dict[str, int]:
    """What both hold together."""
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in {**one, **other}}


def refused(mine: Held, theirs: Held) -> InvalidParameter:
    """Why two agents cannot be merged."""
    shared = sum(min(mine.get(name, 0), count) for name, count in theirs.items())
    return InvalidParameter(
        f"other must not hold rewards that this agent holds too, unless they can be told apart, got {shared:,}: "
        "let workers send agent.delta() each time, and merge that"
    )


def missing(since: Held, held: Held) -> InvalidParameter:
    """Why a delta cannot be merged."""
    lacking = sum(max(count - held.get(name, 0), 0) for name, count in since.items())
    if lacking:
        return InvalidParameter(
            f"other must continue what this agent holds, but {lacking:,} rewards before it are missing"
        )
    return InvalidParameter("other must be new to this agent, but it holds a part of it already")


def _less(seen: Statistics, base: Statistics | None) -> Statistics:
    if base is None:
        return seen
    squares = seen.squares - base.squares
    return Statistics(
        seen.gram - base.gram,
        seen.moment - base.moment,
        max(seen.pulls - base.pulls, 0.0),
        squares if math.isnan(squares) else max(squares, 0.0),
    )


def add(state: State, news: Knowledge) -> None:
    """Learn what is new; the arms must be there. Changes state."""
    for name, seen in news.arms.items():
        if seen.pulls or np.any(seen.gram):
            state.add(state.place[name], seen)
    state.head[layout.REWARDS] += news.rewards
    if len(state.memory):
        for (name, x), (pulls, total) in news.contexts.items():
            row = np.frombuffer(x).reshape(1, -1).copy()
            memory.remember(state.head, state.memory, state.place[name], row, 0, float(pulls), float(total))


def reported(state: State, shape: Mapping[str, Any]) -> Delta:
    """What has come into a state since it was last reported, or since it began."""
    base = state.lineage.reported or state.lineage.base
    now = knowledge(state, state.lineage.held(state), state.lineage.decisions(state))
    return Delta({} if base is None else base.held, now, now.less(base), shape)


def told(state: State, delta: Delta) -> State:
    """A state with the news of a delta, or the same if it holds them."""
    held, until = state.lineage.held(state), delta.now.held
    if within(until, held):
        new = _with_arms(state, delta.now)
    elif fits(delta.since, until, held):
        new = _with_news(state, state, delta.news, union(held, until))
    else:
        raise missing(delta.since, held)
    return _counting(new, state, delta.now.decisions)


def joined(mine: State, theirs: State) -> State:
    """A state with all that two hold, what they share once; or the first one if it holds all of it."""
    decisions = theirs.lineage.decisions(theirs)
    whole = knowledge(theirs, theirs.lineage.held(theirs), decisions)
    return _counting(_joined(mine, theirs, whole), mine, decisions)


def _joined(mine: State, theirs: State, whole: Knowledge) -> State:
    own, other = mine.lineage.held(mine), whole.held
    held = union(own, other)
    if not any(own.get(name) and count for name, count in other.items()):
        return _with_news(mine, mine, whole, held)
    if within(other, own):
        return _with_arms(mine, whole)
    if (base := theirs.lineage.since(other, own)) is not None:
        return _with_news(mine, mine, whole.less(base), held)
    if within(own, other):
        return _with_news(mine, _blank(mine), whole, held)
    if (base := mine.lineage.since(own, other)) is not None:
        begun_anew = _with_news(mine, _blank(mine), whole, held)
        return _with_news(mine, begun_anew, knowledge(mine, own, {}).less(base), held)
    raise refused(own, other)


def _with_news(mine: State, begin: State, news: Knowledge, held: Held) -> State:
    """The state `begin` with news, as the next state of the agent whose state is mine."""
    lineage, away = mine.lineage, _away(mine, news.held)
    new = begin.with_more([name for name in news.names if name in news.arms or name not in away])
    add(new, news)
    others = {name: count for name, count in held.items() if name != lineage.own}
    foreign = float(new.head[layout.REWARDS]) + lineage.events - lineage.count(mine)
    new.lineage = replace(lineage, others=others, foreign=foreign)
    return new


def _with_arms(state: State, theirs: Knowledge) -> State:
    """The state with all arms of another agent too; itself if nothing is new."""
    away = _away(state, theirs.held)
    new = [name for name in theirs.names if name not in state.place and name not in away]
    return state.with_more(new) if new else state


def _away(mine: State, theirs: Held) -> frozenset[Hashable]:
    """Arms that an agent has removed, and that a relative does not bring back unless it has learnt of them since."""
    known = mine.lineage.held(mine)
    return mine.lineage.removed if any(name in known for name in theirs) else frozenset()


def _counting(new: State, mine: State, decisions: Held) -> State:
    """The next state of the agent whose state is mine, with these decisions counted too."""
    known = mine.lineage.decisions(mine)
    both = union(known, decisions)
    if new is mine and both == known:
        return mine
    new = new.copy() if new is mine else new
    new.head[layout.DECISIONS] = sum(both.values())
    others = {name: count for name, count in both.items() if name != mine.lineage.own}
    new.lineage = replace(new.lineage, elsewhere=others)
    return new


def _blank(state: State) -> State:
    """A state with the same arms that has learnt nothing."""
    fresh = State(state.settings, state.names)
    fresh.head[: layout.HEAD] = state.head[: layout.HEAD]
    fresh.head[[layout.DECISIONS, layout.REWARDS, layout.REMEMBERED]] = 0.0
    return fresh
