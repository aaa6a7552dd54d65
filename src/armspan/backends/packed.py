"""Work as bytes: packed once where it is described, opened where it is done."""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from armspan._version import __version__
from armspan.backends.processor import processor
from armspan.errors import MissingExtra, NotApplicable


@dataclass(frozen=True)
class Packed:
    """A function and its parts, each as bytes; classes and functions of the user's script are inside, by value."""

    fn: bytes
    parts: tuple[bytes, ...]


def pack(fn: Callable[[Any], Any], parts: Sequence[Any]) -> Packed:
    """Make bytes of them, or say what cannot travel."""
    try:
        import cloudpickle
    except ImportError:
        raise MissingExtra("a backend needs cloudpickle: pip install 'armspan[cluster]'") from None
    try:
        return Packed(cloudpickle.dumps(fn), tuple(cloudpickle.dumps(part) for part in parts))
    except Exception as error:  # whatever a user's __reduce__ may raise
        raise NotApplicable(f"a policy or an environment cannot be sent to other processes: {error}") from None


class Answer(NamedTuple):
    """The result of one part, and what kind of processor computed it."""

    result: Any
    processor: str


def work(index: int, version: str, fn: bytes, part: bytes) -> tuple[int, Answer]:
    """On a worker: open the function and one part, and call it."""
    if version != __version__:
        raise NotApplicable(f"a worker has armspan {__version__}, got work from armspan {version}; install the same")
    try:
        call, argument = pickle.loads(fn), pickle.loads(part)
    except (ImportError, AttributeError) as error:
        raise NotApplicable(
            f"a worker cannot open its work: {error}; what you wrote must be installed there, or be in the script"
        ) from None
    return index, Answer(call(argument), processor())
