"""load_agent: an agent from its file, with the policy that it was made by."""

import os

from armspan.agents import Agent, Settings
from armspan.agents import files as agent_files
from armspan.errors import ArmspanError, BadFile, InvalidParameter
from armspan.policies.linear import Application, LinearPolicy
from armspan.policies.registry import POLICIES


def load_agent(path: str | os.PathLike[str]) -> Agent:
    """The agent that `agent.save` wrote; it goes on exactly as if it had never been saved.

    A file that is truncated, damaged, of another version or not an agent's is refused in a sentence, and no code in it
    is ever run.
    """
    return _agent(agent_files.read(path), str(path))


def agent_from_bytes(content: bytes) -> Agent:
    """The agent that `agent.to_bytes` was called on."""
    if not isinstance(content, bytes | bytearray | memoryview):
        raise InvalidParameter(f"content must be bytes, got {content!r:.60}")
    return _agent(agent_files.decoded(bytes(content), "content"), "content")


def _agent(stored: agent_files.Stored, name: str) -> Agent:
    try:
        kind = POLICIES[stored.policy["kind"]]
        if not issubclass(kind, LinearPolicy):
            raise KeyError
        policy = kind(**stored.policy["params"])
        settings = Settings(**stored.settings)
        if stored.arrays["arms"].shape != (len(stored.arms), 3 + settings.width):  # before room is made for them
            raise KeyError
        alpha = getattr(policy, "alpha", None)
        if isinstance(alpha, tuple):
            schedule = policy.schedule(Application(settings.width))
            settings = Settings(**stored.settings, schedule=schedule)
        agent = Agent(settings, stored.arms, policy=policy, feature_names=stored.feature_names)
        agent_files.restore(agent, stored)
    except (ArmspanError, LookupError, TypeError, ValueError, MemoryError, OverflowError):
        raise BadFile(f"{name} is damaged: its parts do not fit together") from None
    return agent
