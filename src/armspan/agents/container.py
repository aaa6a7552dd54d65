r"""The file of an agent: a JSON header, raw arrays and a checksum; nothing in it is ever executed.

16 bytes    "armspan agent 1\n"
8 bytes    length of the header, little-endian
header      JSON, UTF-8: policy, settings, names, and for each array its name, type and shape
arrays      one after the other, C order, little-endian
32 bytes    SHA-256 of all before
"""

import dataclasses
import hashlib
import json
import math
import os
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from armspan._files import as_path, whole_file
from armspan.errors import BadFile, NotApplicable

MAGIC = b"armspan agent 1\n"
ANY_VERSION = b"armspan agent "
DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, OverflowError)
"""What may be raised where the parts of a file do not fit together."""


class Content(NamedTuple):
    """What a file holds: its header, its arrays by name, and its checksum in hexadecimal digits."""

    header: dict[str, Any]
    arrays: dict[str, Any]
    checksum: str


def save(content: bytes, path: str | os.PathLike[str]) -> None:
    """Write an agent; an older file stays until all is written."""
    with whole_file(path) as file:
        file.write(content)


def read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file, of one that is not an agent's only the first ones."""
    try:
        with as_path(path).open("rb") as file:
            start = file.read(len(MAGIC))
            return start + file.read() if start == MAGIC else start
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror or error}") from None


def pack(header: dict[str, Any], arrays: dict[str, Any]) -> bytes:
    """The content of a file."""
    header = header | {"arrays": [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]}
    text = json.dumps(header, allow_nan=False, default=float).encode()
    parts = (MAGIC, len(text).to_bytes(8, "little"), text, *(_bytes(array) for array in arrays.values()))
    content = b"".join(parts)
    return content + hashlib.sha256(content).digest()


def unpack(given: bytes, name: str) -> Content:
    """What `pack` has made; anything else is refused in a sentence with this name."""
    content, start = memoryview(given), bytes(given[: len(MAGIC)])
    if start != MAGIC:
        if start.startswith(ANY_VERSION):
            raise BadFile(f"{name} was written by another version of armspan, in a format that this one does not know")
        raise BadFile(f"{name} is not an armspan agent")
    if len(content) < len(MAGIC) + 40 or hashlib.sha256(content[:-32]).digest() != bytes(content[-32:]):
        raise BadFile(f"{name} is damaged: its checksum is wrong")
    try:
        return _parsed(content)
    except DAMAGE:
        raise damaged(name) from None


def damaged(name: str) -> BadFile:
    """The error for a file whose parts do not fit together."""
    return BadFile(f"{name} is damaged: its parts do not fit together")


def policy_header(policy: Any) -> dict[str, Any]:
    """A policy as its kind and parameters."""
    wrong = why_not_saved(policy)
    if wrong is not None:
        raise NotApplicable(wrong)
    return {"kind": type(policy).__name__, "params": dataclasses.asdict(policy)}


def why_not_saved(policy: Any) -> str | None:
    """Why agents of a policy cannot be saved, in a sentence; None where they can."""
    kind = type(policy)
    if not kind.__module__.startswith("armspan."):
        return f"only agents of armspan's own policies can be saved, got {kind.__name__}"
    for field in dataclasses.fields(policy):
        value = getattr(policy, field.name)
        functions = "is a function" if callable(value) else None
        if isinstance(value, tuple) and any(callable(part) for part in value):
            functions = "has functions in it"
        if functions is not None:
            return f"an agent whose {field.name} {functions} cannot be saved: a file holds numbers, no code"
    return None


def encoded_name(name: Any) -> Any:
    """A name in JSON: numbers, texts, True, False and None as they are, tuples as lists."""
    if isinstance(name, np.integer | np.floating | np.bool | np.str_):
        name = name.item()
    if isinstance(name, tuple):
        return [encoded_name(part) for part in name]
    if name is None or isinstance(name, str | bool | int) or (isinstance(name, float) and math.isfinite(name)):
        return name
    raise NotApplicable(f"names in a file must be texts, numbers or tuples of them, got {name!r:.60}")


def decoded_name(name: Any) -> Hashable:
    """The name that `encoded_name` was given."""
    demand(name is None or isinstance(name, str | bool | int | float | list))
    return tuple(decoded_name(part) for part in name) if isinstance(name, list) else name


def encoded_names(names: Any) -> list[Any] | None:
    """Several names, or none at all."""
    return None if names is None else [encoded_name(name) for name in names]


def decoded_names(names: Any) -> list[Hashable] | None:
    """The names that `encoded_names` was given."""
    return None if names is None else [decoded_name(name) for name in names]


def demand(condition: bool) -> None:
    """Raise what `DAMAGE` is caught as."""
    if not condition:
        raise ValueError


def _parsed(content: memoryview) -> Content:
    start = len(MAGIC) + 8
    length = int.from_bytes(content[len(MAGIC) : start], "little")
    demand(start + length <= len(content) - 32)
    header = json.loads(bytes(content[start : start + length]))
    place, arrays = start + length, {}
    for name, dtype, shape in header["arrays"]:
        demand(dtype in ("<f8", "<f4", "<i8") and all(isinstance(size, int) and size >= 0 for size in shape))
        size = math.prod(shape) * np.dtype(dtype).itemsize
        demand(place + size <= len(content) - 32)
        arrays[name] = np.frombuffer(content[place : place + size], dtype=dtype).reshape(shape)
        place += size
    demand(place == len(content) - 32)
    header["policy"] = {"kind": str(header["policy"]["kind"]), "params": dict(header["policy"]["params"])}
    header["settings"] = dict(header["settings"])
    header["arms"], header["feature_names"] = (
        decoded_names(list(header["arms"])),
        decoded_names(header["feature_names"]),
    )
    return Content(header, arrays, bytes(content[-32:]).hex())


def _bytes(array: Any) -> bytes:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
