"""What agents ask of the policies above them, which make agents and not the other way round."""

from dataclasses import fields
from importlib import import_module
from typing import Any


def loader() -> Any:
    """Reads what `to_bytes` wrote; it knows all policies, so it is found by its name."""
    return import_module("armspan.policies.load").agent_from_bytes


def described(policy: Any) -> str:
    """A policy by what was given to it."""
    values = ((field, getattr(policy, field.name)) for field in fields(policy))
    given = ", ".join(f"{field.name}={value!r:.20}" for field, value in values if not _same(value, field.default))
    return f"{type(policy).__name__}({given})"


def _same(value: Any, default: Any) -> bool:
    """Whether it is the default; a number that was read from a file is another object."""
    plain = isinstance(value, float | int | str) and type(value) is type(default)
    return value is default or (plain and value == default)
