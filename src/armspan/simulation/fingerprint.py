"""A fingerprint of what was simulated, so that runs of different problems are never mixed up."""

import hashlib
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from armspan.environments import Environment
from armspan.environments.custom import CustomEnvironment
from armspan.simulation.content import code_of


def fingerprint(env: Environment, policies: Iterable[Any]) -> str:
    """Hexadecimal digits that change with any number in the environment or the policies, and with a user's own code.

    Of a user's own code, everything that is loaded counts; see `content`. Of an object whose content cannot be
    compared, such as a lock, the class counts, and an attribute `fingerprint` of its owner if that is a text. A worker
    that received such code by value may get other digits, so they are computed where `simulate` is called.
    """
    digest = hashlib.sha256()
    for part in (env, *policies):
        for piece in _pieces(part):
            digest.update(piece + b"\0")
    return digest.hexdigest()[:16]


def _stated(value: Any) -> str | None:
    """What a user's object says of its own content."""
    stated = getattr(value.source if isinstance(value, CustomEnvironment) else value, "fingerprint", None)
    return stated if isinstance(stated, str) else None


def _is_ours(value: Any) -> bool:
    """Whether its name and its fields tell all: a number, a text, a list of parts, or what armspan has made."""
    if isinstance(value, list | tuple | np.ndarray | str | int | float | None):
        return True
    module = getattr(value, "__module__", None) or ""
    return module.partition(".")[0] == "armspan" and "<locals>" not in getattr(value, "__qualname__", "")


def _written(value: Any) -> bytes:
    """What a user's function, class or object does and holds."""
    try:
        return code_of(value, partly=True).encode()
    except Exception:  # whatever a user's class may raise: it can be simulated all the same
        return b""


def _pieces(value: Any) -> Iterable[bytes]:
    """The value as bytes, part by part."""
    stated = _stated(value)
    if stated is not None:
        yield stated.encode()
    if isinstance(value, CustomEnvironment):
        yield _written(value.source)
    elif not _is_ours(value):
        yield _written(value)
    if isinstance(value, Environment):
        yield type(value).__name__.encode()
        for name, part in sorted(vars(value).items()):
            if not name.startswith("_"):
                yield name.encode()
                yield from _pieces(part)
    elif is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__.encode()
        for field in fields(value):
            yield field.name.encode()
            yield from _pieces(getattr(value, field.name))
    elif isinstance(value, list | tuple) and not all(isinstance(one, int | float) for one in value):
        yield f"{len(value)} parts".encode()
        for one in value:
            yield from _pieces(one)
    elif isinstance(value, np.ndarray | list | tuple):
        array = np.asarray(value)
        yield f"{array.dtype.str}{array.shape}".encode()
        yield array.tobytes()
    elif isinstance(value, str | int | float | bool | None):
        yield repr(value).encode()
    else:
        yield f"{type(value).__name__} {getattr(value, '__name__', '')}".encode()
