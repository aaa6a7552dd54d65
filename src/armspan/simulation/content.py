"""What a user's functions, classes and objects do and hold, as digits.

The loaded code counts, not the file that it came from, which may have been edited since. So comments do not count, but
code without a file does (a notebook's). For Python's own and for installed packages, the name and the version count.
"""

import builtins
import copyreg
import dis
import functools
import hashlib
import sys
import sysconfig
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from armspan.environments import Environment
from armspan.policies import Policy

_PLAIN = (str, bytes, int, float, complex, type(None), type(Ellipsis), type(NotImplemented), np.generic, np.dtype)
_COMPILED = (
    np.ufunc,
    types.BuiltinFunctionType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
)
_UNTOLD = {"__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__firstlineno__"}
_UNTOLD |= {"__static_attributes__", "__abstractmethods__", "_abc_impl", "__annotate_func__", "__annotations_cache__"}
_UNTOLD |= {
    "__dataclass_fields__",
    "__dataclass_params__",
    "__match_args__",
    "__slotnames__",
}  # what follows from the rest
_HEAP = 1 << 9
"""The flag of classes that are made while Python runs."""


class NoContentError(Exception):
    """A thing that cannot be told from another of its kind, such as a lock; its text is what it is called."""


def code_of(*values: Any, partly: bool = False) -> str:
    """Digits that change with what these do and hold; raises NoContentError if that cannot be known.

    An attribute `fingerprint`, a text, stands for what cannot be known, and counts beside what can.

    partly : take what can be known, and only the class of the rest.
    """
    walk = _Walk(vouched=partly)
    for value in values:
        walk.add(value)
    return walk.digest.hexdigest()


class _Walk:
    """Everything that can be reached from some objects, in an order that is always the same."""

    def __init__(self, seen: Mapping[int, tuple[int, Any]] | None = None, *, vouched: bool = False) -> None:
        self.digest = hashlib.sha256()
        self._seen = dict(seen or {})  # number and object, which is kept, so that no other can have its id
        self._vouched = vouched

    def add(self, value: Any) -> None:
        """Take the value and all that it is made of."""
        if isinstance(value, _PLAIN):
            self._say(type(value).__name__, repr(value))
        elif type(value) is tuple:  # as constants, equal ones may be one object or several
            self._all("tuple", value)
        elif type(value) in (set, frozenset):  # in an order that hashing does not decide
            self._say(type(value).__name__, *sorted(self._apart(entry) for entry in value))
        elif isinstance(value, types.CodeType):
            self._code(value)
        elif isinstance(value, np.ndarray) and value.dtype != object:
            self._say("array", value.dtype.str, value.shape)
            self.digest.update(value.tobytes())
        elif id(value) in self._seen:
            self._say("number", self._seen[id(value)][0])
        else:
            self._seen[id(value)] = len(self._seen), value
            before, stated = self._vouched, getattr(value, "fingerprint", None)
            if isinstance(stated, str):
                self._say("fingerprint", stated)
                self._vouched = True
            self._take(value)
            self._vouched = before

    def _say(self, *words: object) -> None:
        self.digest.update("\0".join(map(str, words)).encode("utf-8", "surrogatepass") + b"\1")

    def _all(self, kind: str, values: Iterable[Any]) -> None:
        entries = list(values)
        self._say(kind, len(entries))
        for entry in entries:
            self.add(entry)

    def _named(self, kind: str, values: Mapping[str, Any]) -> None:
        self._all(kind, (part for name in sorted(values) for part in (name, values[name])))

    def _apart(self, value: Any) -> str:
        walk = _Walk(self._seen, vouched=self._vouched)
        walk.add(value)
        return walk.digest.hexdigest()

    def _take(self, value: Any) -> None:
        kind = type(value)
        if kind in (dict, types.MappingProxyType):
            self._all("dict", (part for item in value.items() for part in item))
        elif kind is list:
            self._all("list", value)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, types.ModuleType):
            self._name(value.__name__, "")
        elif isinstance(value, property):
            self._all("property", (value.fget, value.fset, value.fdel))
        elif isinstance(value, staticmethod | classmethod | types.MethodType):
            self._all(kind.__name__, (value.__func__, getattr(value, "__self__", None)))
        elif isinstance(value, functools.partial):
            self._all("partial", (value.func, value.args, value.keywords))
        elif isinstance(value, functools.cached_property):
            self._all("cached_property", (value.func,))
        elif isinstance(value, _COMPILED):
            self._name(getattr(value, "__module__", None) or "", getattr(value, "__qualname__", value.__name__))
            owner = getattr(value, "__self__", None)
            self.add(None if isinstance(owner, types.ModuleType) else owner)
        elif (inner := _wrapped(value)) is not None:
            self._all(f"{kind.__name__} of", (inner,))
        else:
            self._object(value)

    def _code(self, code: types.CodeType) -> None:
        self._say("code", code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        self._say(*code.co_names, "", *code.co_varnames, "", *code.co_freevars, "", *code.co_cellvars)
        self.digest.update(code.co_code + code.co_exceptiontable)
        self._all("constants", code.co_consts)

    def _function(self, function: types.FunctionType) -> None:
        closure = [_content(cell) for cell in function.__closure__ or ()]
        if function.__module__ not in (None, "builtins") and not _is_theirs(function.__module__):
            self._name(function.__module__, function.__qualname__)
            self._all("inside", closure if "<locals>" in function.__qualname__ else ())
            return
        self._code(function.__code__)
        self._all("function", (function.__defaults__, function.__kwdefaults__, closure))
        self._named("attributes", vars(function))
        for name in sorted(_globals(function.__code__) & function.__globals__.keys()):
            value = function.__globals__[name]
            self._all("global", (name, value))
            if isinstance(value, types.ModuleType) and _is_theirs(value.__name__):  # what is used of it
                used = _attributes(function.__code__) & vars(value).keys()
                self._named("of it", {part: vars(value)[part] for part in used})

    def _class(self, kind: type) -> None:
        if not _is_theirs_class(kind):
            self._name(str(kind.__module__), kind.__qualname__)
            return
        self._all(f"class {kind.__qualname__}", (*kind.__bases__, type(kind)))
        self._named("members", {name: part for name, part in vars(kind).items() if name not in _UNTOLD})

    def _object(self, value: Any) -> None:
        """Any other thing: its class, and what it holds."""
        kind = type(value)
        self.add(kind)
        theirs = _is_theirs_class(kind)
        if isinstance(value, Environment | Policy) and not theirs:  # what is private there follows from the rest
            self._named("holds", {name: part for name, part in vars(value).items() if not name.startswith("_")})
            self.add(getattr(value, "source", None))  # of a user's environment
            return
        if theirs and hasattr(value, "__dict__"):
            self._named("holds", vars(value))
        reduced: Any
        try:
            reduced = copyreg.dispatch_table[kind](value) if kind in copyreg.dispatch_table else value.__reduce_ex__(4)
        except Exception:  # whatever a class may raise
            if not (self._vouched or (theirs and hasattr(value, "__dict__"))):
                raise NoContentError(kind.__name__) from None
            return
        if isinstance(reduced, str):
            self._name(kind.__module__, reduced)
        else:
            self._all("made by", (list(part) if hasattr(part, "__next__") else part for part in reduced))

    def _name(self, module: str, name: str) -> None:
        package = sys.modules.get(module.partition(".")[0])
        self._say("name", module, name, getattr(package, "__version__", ""))


def _inner_code(code: types.CodeType) -> Iterable[types.CodeType]:
    """It, and the code of functions inside it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _inner_code(part)


def _globals(code: types.CodeType) -> set[str]:
    """Names that it looks up in its module."""
    steps = (step for part in _inner_code(code) for step in dis.get_instructions(part))
    return {str(step.argval) for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def _attributes(code: types.CodeType) -> set[str]:
    """Names that it may look up in an object."""
    return {name for part in _inner_code(code) for name in part.co_names}


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _wrapped(value: Any) -> types.FunctionType | None:
    """The function inside what lru_cache or numba have made of it."""
    if _is_theirs_class(type(value)):
        return None
    inner = getattr(value, "py_func", getattr(value, "__wrapped__", None))
    return inner if isinstance(inner, types.FunctionType) else None


def _is_theirs_class(kind: type) -> bool:
    """Whether a class is the user's, also one that was made without a module."""
    if kind.__module__ == "builtins":
        return bool(kind.__flags__ & _HEAP) and vars(builtins).get(kind.__name__) is not kind
    return isinstance(kind.__module__, str) and _is_theirs(kind.__module__)


@functools.cache
def _is_theirs(module: str) -> bool:
    """Whether a module is the user's: not Python's, not armspan's and not an installed package's."""
    package = module.partition(".")[0]
    if package == "__main__":
        return True
    if package == "armspan" or package in sys.stdlib_module_names or package.startswith("_cython_"):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return True
    path = Path(file).resolve()
    standard = Path(sysconfig.get_path("stdlib")).resolve()
    if standard in path.parents or {"site-packages", "dist-packages"} & set(path.parts):
        return False
    around = path.parents[: module.count(".") + 2]  # up to the folder of its package: pip may install anywhere
    return not any(next(folder.glob("*.dist-info"), None) for folder in around)
