"""How kernels are compiled: by numba, when they are first used, and cached under a name that changes with their source.

numba looks at one file's date to decide whether a cached kernel is still good, so an edited callee in another file
would leave a stale caller. Here the cache folder is named after a hash of all kernels, and that cannot happen.
"""

import gc
import hashlib
import logging
import os
import pickle
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numba
from numba.core import caching, event, ir, serialize, sigutils, targetconfig, types
from numba.core import config as _config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock as _compiler_lock
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.core.types.functions import BaseFunction

config: Any = _config  # untyped
global_compiler_lock: Any = _compiler_lock
FUNCTION: Any = BaseFunction
runtime: Any = rtsys
log = logging.getLogger("armspan")

F = TypeVar("F", bound=Callable[..., Any])

MOST_AXES = 64
SLOW = 1.0
"""Seconds from which on the log says that a kernel was compiled."""
SUMS: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}}
"""Sums may be reordered and fused, so that they use the vector units."""

NEVER_COPIED: list[Any] = [kind for kind in (ir.Loc, ir.Scope) if "__deepcopy__" not in vars(kind)]
"""Parts of a function in numba's own form that need no copy; none where numba should have a way of its own."""


def _cache_folder() -> str | None:
    """The first writable place for compiled kernels, or None."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
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


class _Place(caching.UserProvidedCacheLocator):
    """Our folder, for numba; nothing is tried there before there is something to write."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file, self._lineno, self._cache_path = file, function.__code__.co_firstlineno, str(_FOLDER)

    @classmethod
    def from_function(cls, function: Any, file: str) -> "_Place":
        return cls(function, file)


class _Form(caching.CompileResultCacheImpl):
    """How numba writes and reads compiled code, in our place."""

    _locator_classes = [_Place]  # noqa: RUF012


class _Files:
    """A kernel's files, one a signature, named after all that it depends on: no index for two processes to spoil."""

    def __init__(self, folder: str, name: str, stamp: Any) -> None:
        self.folder, self.name, self.stamp = Path(folder), name, stamp

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(repr((numba.__version__, self.stamp, key)).encode()).hexdigest()[:24]
        return self.folder / f"{self.name}.{digest}.nbc"

    def load(self, key: Any) -> Any:
        """What was saved, or None."""
        try:
            return pickle.loads(self._path(key).read_bytes())
        except FileNotFoundError:
            return None

    def save(self, key: Any, data: Any) -> None:
        """Write a file, whole or not at all."""
        path = self._path(key)
        part = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}")
        try:
            part.write_bytes(serialize.dumps(data))
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


class _Cache(caching.FunctionCache):
    """A kernel's cache. What cannot be read or written there is compiled, and kept in memory."""

    _impl_class = _Form

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        place: Any = self._impl.locator
        self._cache_file: Any = _Files(self._cache_path, self._impl.filename_base, place.get_source_stamp())

    def load_overload(self, signature: Any, context: Any) -> Any:
        """A kernel from its file, as one that can be called, even where a part that calls it is being compiled.

        Only what runs it is made ready. numba would also import all that it needs to compile, and SciPy where there is
        one, which takes as long as the rest of a first decision.
        """
        meanwhile = _library(JITCodeLibrary)
        try:
            runtime.initialize(context)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(signature, context)
        except Exception as error:  # whatever a damaged file may lead to
            log.warning("a compiled kernel in %s cannot be read and is compiled again: %r", _FOLDER, error)
            return None
        finally:
            _library(meanwhile)

    def save_overload(self, signature: Any, result: Any) -> None:
        try:
            super().save_overload(signature, result)
        except OSError as error:
            _warn_once(f"compiled kernels cannot be kept in {_FOLDER} and stay in memory alone: {error.strerror}")


_said: set[str] = set()


def _warn_once(sentence: str) -> None:
    if sentence not in _said:
        _said.add(sentence)
        log.warning(sentence)


class Compiled(NamedTuple):
    """A kernel that was compiled, together with those that it calls, and how long that took."""

    name: str
    seconds: float


class _Raw(JITCodeLibrary):
    """The code of a part, which nobody calls: it is optimised, and made into a machine's, where it is taken in."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    @property
    def codegen(self) -> Any:
        return _Nowhere


class _Nowhere:
    """In the place of the machine that a part is not on."""

    @staticmethod
    def set_env(name: str, env: Any) -> None:
        """Nothing has this name there."""


class _Answers:
    """What numba's functions and operators make of numbers and arrays, asked once instead of at every use.

    numba asks dozens of templates each time, a quarter of all the time that it takes to compile. Answers hold for one
    compilation, and for functions with the same options: an answer may be a function that was compiled with those.
    """

    def __init__(self) -> None:
        self._ask = FUNCTION.get_call_type
        self._by_options: dict[Any, dict[Any, Any]] = {}
        self._known: list[dict[Any, Any] | None] = []

    def begin(self) -> None:
        """A function begins to be compiled."""
        if not self._known:
            FUNCTION.get_call_type = lambda function, *asked: self._answer(function, *asked)
        self._known.append(None)

    def end(self) -> None:
        """It has been compiled, or has failed."""
        self._known.pop()
        if not self._known:
            FUNCTION.get_call_type = self._ask
            self._by_options.clear()

    def _answer(self, function: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(map(_is_plain, args)):
            return self._ask(function, context, args, kws)
        known = self._known[-1]
        if known is None:
            options = repr(targetconfig.ConfigStack.top_or_none())
            known = self._known[-1] = self._by_options.setdefault(options, {})
        key = function, context, args
        if key not in known:
            known[key] = self._ask(function, context, args, kws)
        return known[key]


def _is_plain(kind: Any) -> bool:
    """Whether it is a number or an array, or several; other things may be functions that are still compiled."""
    several: Any = kind if isinstance(kind, types.BaseTuple) else ()
    return all(map(_is_plain, several)) if several else isinstance(kind, types.Number | types.Boolean | types.Array)


class _Clock(event.Listener):
    """Measures how long kernels take to compile, and logs it where it is long. Only one thread compiles at a time.

    Meanwhile garbage is not collected: the collector would take a fifth of the time, and find nothing. And where numba
    copies a function to put it into another, it does not copy the list of all its variables for each of them, which
    would take another fifth; it makes new variables anyway. Parts stay `_Raw`, and `_Answers` are kept.
    """

    def __init__(self) -> None:
        self.began: list[float] = []
        self.answers = _Answers()
        self.libraries: list[Any] = []
        self.collecting = self.ours = False
        self.records: list[list[Compiled]] = []

    def on_start(self, happening: Any) -> None:
        if not self.began:
            self.collecting = gc.isenabled()
            gc.disable()
            self.ours = _is_ours(happening)
            if self.ours:
                for kind in NEVER_COPIED:
                    kind.__deepcopy__ = lambda self, memo: self
        if self.ours:
            self.answers.begin()
        self.began.append(time.perf_counter())
        self.libraries.append(_library(_Raw if _is_part(happening) else JITCodeLibrary))

    def on_end(self, happening: Any) -> None:
        if not self.libraries:  # Ctrl-C came while it began
            gc.enable()
            return
        seconds, function = time.perf_counter() - self.began.pop(), happening.data["dispatcher"].py_func
        _library(self.libraries.pop())
        if self.ours:
            self.answers.end()
        if self.began:
            return
        if self.collecting:
            gc.enable()
        if not self.ours:
            return
        for kind in NEVER_COPIED:
            del kind.__deepcopy__
        done = Compiled(f"{function.__module__.rpartition('.')[2]}.{function.__name__}", seconds)
        for record in self.records:
            record.append(done)
        if seconds >= SLOW:
            where = f"cached in {_FOLDER}" if _FOLDER else "not cached, for no folder can be written"
            log.info("compiled %s in %.1f s, %s; `armspan warm-up` does that ahead of time", *done, where)


def _library(kind: Any) -> Any:
    """Let numba put the code that comes next into a library of this kind; returns the kind that it was before."""
    codegen = cpu_target.target_context.codegen()
    before, codegen._library_class = codegen._library_class, kind
    return before


def _is_part(happening: Any) -> bool:
    return _is_ours(happening) and bool(happening.data["dispatcher"].targetoptions.get("no_cpython_wrapper"))


def _is_ours(happening: Any) -> bool:
    return bool(happening.data["dispatcher"].py_func.__module__.startswith("armspan."))


_clock = _Clock()
event.register("numba:compile", _clock)


@contextmanager
def recorded() -> Iterator[list[Compiled]]:
    """The kernels that are compiled meanwhile; those that the cache has are not."""
    record: list[Compiled] = []
    _clock.records.append(record)
    try:
        yield record
    finally:
        _clock.records = [other for other in _clock.records if other is not record]


def _compile(function: F, *, nogil: bool = True, **options: Any) -> F:
    """Nobody calls a kernel from C, so that it needs no wrapper for that, which would take time to compile."""
    options["no_cfunc_wrapper"] = True
    compiled = numba.njit(function, nogil=nogil, error_model="numpy", **options)
    is_part = options.get("no_cpython_wrapper", False)
    if _FOLDER is not None and not config.DISABLE_JIT and not is_part:
        compiled._cache = _Cache(function)
    return cast(F, compiled)


def kernel(function: F) -> F:
    """Compile a function of scalars and arrays; sums may be reordered and fused, so that they use the vector units."""
    return _compile(function, **SUMS)


def atomic_kernel(*signatures: str) -> Callable[[F], Any]:
    """A `kernel` that keeps the GIL: to the other threads of the process a call is one indivisible step.

    With signatures it is compiled for those alone, each when it is first met; see `Listed`.
    """

    def decorate(function: F) -> Any:
        compiled = _compile(function, nogil=False, **SUMS)
        return Listed(compiled, signatures) if signatures else compiled

    return decorate


class Listed:
    """An `atomic_kernel` for listed signatures, each compiled when it is first met, and for nothing else.

    codes : the compiled code of each signature, counted from 1, to be called where nanoseconds count. It does not look
    at what it is given: every array must have the listed number of axes and type of elements, and nothing that could
    change them may come between finding that out and the call. Where an array need not be contiguous, the kernel has
    to find out by its strides. All other places up to 64, the most axes that an array may have, are a TypeError, and so
    is code that is not compiled yet; then `late` may help.
    """

    def __init__(self, compiled: Any, signatures: tuple[str, ...]) -> None:
        self.compiled, self.__doc__ = compiled, compiled.__doc__
        self._listed = [] if config.DISABLE_JIT else [sigutils.normalize_signature(one) for one in signatures]
        self.codes: list[Any] = [_refuse] * (MOST_AXES + 1)
        if not self._listed:
            self.codes[1 : 1 + len(signatures)] = [compiled] * len(signatures)
        if self._listed:
            compiled._can_compile = False
            compiled._compile_for_args = _refuse

    def __call__(self, *args: Any) -> Any:
        """Call it, compiled first if need be; a TypeError with what is not listed."""
        try:
            return self.compiled(*args)
        except TypeError:
            if not self.compile_for(*args):
                raise
            return self.compiled(*args)

    def late(self, otherwise: Any, *args: Any) -> Any:
        """Call it after one of `codes` has refused, compiled first if need be; `otherwise` with what is not listed."""
        return self.compiled(*args) if self.compile_for(*args) else otherwise

    def compile_for(self, *args: Any) -> bool:
        """Compile it for arrays like these, if that is listed and not yet done; whether it is listed."""
        for number, (kinds, result) in enumerate(self._listed, start=1):
            arrays = [(kind, value) for kind, value in zip(kinds, args, strict=True) if isinstance(kind, types.Array)]
            if all(numba.typeof(value) == kind for kind, value in arrays):
                self._compile(number, result(*kinds))
                return True
        return False

    def _compile(self, number: int, signature: Any) -> None:
        with global_compiler_lock:
            if signature.args not in self.compiled.overloads:
                self.compiled._can_compile = True
                try:
                    self.compiled.compile(signature)
                finally:
                    self.compiled._can_compile = False
            self.codes[number] = self.compiled.overloads[signature.args].entry_point


def _refuse(*args: Any) -> Any:
    """In the place of code that is not compiled, and what numba does instead of compiling whatever it meets."""
    raise TypeError("not compiled for these arguments")


def exact_kernel(function: F) -> F:
    """Compile in strict IEEE arithmetic: nothing is reordered."""
    return _compile(function)


def inlined(function: F) -> F:
    """A part of kernels, compiled into each caller: a constant argument there unrolls the loops that it bounds.

    It is read and typed anew at every call, which takes time: what is called in many places is better a `part`. Where
    Python calls it, it is a kernel like others.
    """
    return _compile(function, inline="always")


def part(function: F, *, allocates: bool = False) -> F:
    """A part of kernels that is compiled once and then put into its callers, as fast as if it were inlined.

    What is `inlined` can be made one, for kernels where no constant need reach it before it is compiled. allocates :
    whether it makes arrays, calls what does, or returns one. Only then is counted who uses an array, which takes longer
    than the arithmetic of a small arm.
    """
    return rare(function, allocates=allocates, forceinline=True)


def exact_part(function: F) -> F:
    """The same in strict arithmetic, for an `exact_kernel`."""
    return _part_of(function, forceinline=True)


def rare(function: F, *, allocates: bool = False, **options: Any) -> F:
    """A `part` that stays a function of its own, for what is large, or seldom run."""
    return _part_of(function, allocates=allocates, **options, **SUMS)


def _part_of(function: F, *, allocates: bool = False, **options: Any) -> F:
    plain = cast(F, getattr(function, "py_func", function))
    return _compile(plain, nogil=False, no_cpython_wrapper=True, _nrt=allocates, **options)
