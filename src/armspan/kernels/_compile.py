"""How kernels are compiled: by numba, mostly without the GIL, cached under a name that changes with their source.

numba looks at one file's date to decide whether a cached kernel is still good, so an edited callee in another file
would leave a stale caller. Here the cache folder is named after a hash of all kernels, and that cannot happen.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config as _config

config: Any = _config  # untyped, and ours to set for a moment

F = TypeVar("F", bound=Callable[..., Any])


def _cache_folder() -> str | None:
    """The first writable place for compiled kernels, or None."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    user = os.getuid() if hasattr(os, "getuid") else 0
    for base in (config.CACHE_DIR, home, f"{tempfile.gettempdir()}/armspan-{user}"):
        if base:
            folder = Path(base) / "armspan" / f"kernels-{digest}"
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError:
                continue
            if os.access(folder, os.W_OK) and folder.stat().st_uid == user:  # compiled code of others is not for us
                return str(folder)
    return None


_FOLDER = _cache_folder()


def _compile(function: F, signatures: list[str] | None = None, *, nogil: bool = True, **options: Any) -> F:
    theirs = config.CACHE_DIR
    config.CACHE_DIR = _FOLDER or ""  # read by numba while it decorates; put back, for it is the user's
    try:
        options |= {"nogil": nogil, "error_model": "numpy", "cache": _FOLDER is not None}
        return cast(F, numba.njit(signatures or None, **options)(function))
    finally:
        config.CACHE_DIR = theirs


def kernel(function: F) -> F:
    """Compile a function of scalars and arrays; sums may be reordered and fused, so that they use the vector units."""
    return _compile(function, fastmath={"reassoc", "contract", "nsz"})


def atomic_kernel(*signatures: str) -> Callable[[F], F]:
    """A `kernel` that keeps the GIL: to the other threads of the process a call is one indivisible step.

    With signatures it is compiled for those alone, and a call with anything else is a TypeError.
    """

    def decorate(function: F) -> F:
        return _compile(function, list(signatures), nogil=False, fastmath={"reassoc", "contract", "nsz"})

    return decorate


def exact_kernel(function: F) -> F:
    """Compile in strict IEEE arithmetic: nothing is reordered."""
    return _compile(function)


def inlined(function: F) -> F:
    """A part of kernels, compiled into each caller: a constant argument there unrolls the loops that it bounds."""
    return cast(F, numba.njit(function, nogil=True, error_model="numpy", inline="always"))
