"""load_agent: an agent from its file, with the policy that made it."""

import os
from typing import Any

from armspan.agents import Agent, PolicyAgent, Settings, container, files
from armspan.errors import ArmspanError, InvalidParameter
from armspan.kernels import agent_layout as layout
from armspan.policies.base import Application, Policy
from armspan.policies.registry import POLICIES


def load_agent(path: str | os.PathLike[str]) -> Any:
    """Read an agent that `agent.save` wrote; it carries on exactly as if it had never been saved.

    A file that is truncated, damaged, of another version or not an agent's is refused in a sentence, and no code in it
    is ever run.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Agent or PolicyAgent
        The agent that was saved.
    """
    return _agent(container.read(path), str(path))


def agent_from_bytes(content: bytes) -> Any:
    """The agent that `agent.to_bytes` was called on."""
    if not isinstance(content, bytes | bytearray | memoryview):
        raise InvalidParameter(f"content must be bytes, got {content!r:.60}")
    return _agent(bytes(content), "content")


def _agent(given: bytes, name: str) -> Agent | PolicyAgent:
    content = container.unpack(given, name)
    try:
        return _general(content) if "family" in content.header else _tuned(files.checked(content, name))
    except (ArmspanError, MemoryError, *container.DAMAGE):
        raise container.damaged(name) from None


def _tuned(stored: files.Stored) -> Agent:
    policy: Any = POLICIES[stored.policy["kind"]](**stored.policy["params"])
    container.demand(policy.tuned)
    settings = Settings(**stored.settings)
    container.demand(
        stored.arrays["arms"].shape == (len(stored.arms), layout.THETA + settings.width)
    )  # before room is made
    if isinstance(getattr(policy, "alpha", None), tuple):
        schedule = policy.schedule(Application(settings.width))
        settings = Settings(**stored.settings, schedule=schedule)
    agent = Agent(settings, stored.arms, policy=policy, feature_names=stored.feature_names)
    files.restore(agent._state, stored)
    return agent


def _general(content: container.Content) -> PolicyAgent:
    header = content.header
    policy = POLICIES[header["policy"]["kind"]](**header["policy"]["params"])
    container.demand(policy.compiled == header["family"])
    options = {key: header["settings"][key] for key in ("n_features", "intercept", "seed", "long_contexts")}
    names: Any = {"arms": header["arms"], "feature_names": header["feature_names"]}
    agent: PolicyAgent = Policy.agent(
        policy, **names, **options
    )  # the general one, though a tuned one may exist by now
    agent.restore(content)
    return agent
