"""Every exception that armspan raises on purpose; each is one clear sentence and also the matching builtin."""

__all__ = [
    "ArmspanError",
    "BadFile",
    "DamagedCell",
    "Interrupted",
    "InvalidParameter",
    "MissingExtra",
    "NotApplicable",
    "WorkerDied",
]


class ArmspanError(Exception):
    """The root: `except ArmspanError` catches everything that armspan refuses."""


class InvalidParameter(ArmspanError, ValueError):
    """A parameter is outside its domain; the sentence names the parameter, the domain and the value."""


class NotApplicable(ArmspanError, TypeError):
    """A policy, an environment or an engine cannot be used together, or lacks what the other needs."""


class MissingExtra(ArmspanError, ImportError):
    """A feature needs an optional dependency that is not installed."""


class BadFile(ArmspanError, ValueError):
    """A file is not what it should be, or cannot be read or written."""


class WorkerDied(ArmspanError, RuntimeError):
    """Workers of a backend died, or were lost, more often than work can be given to others."""


class DamagedCell(UserWarning):
    """A file in a sweep's folder is damaged or not a sweep's; its cell is computed again."""


class Interrupted(KeyboardInterrupt):
    """A simulation was stopped by Ctrl-C.

    It is not an ArmspanError: like any Ctrl-C it must pass through `except Exception`.

    Parameters
    ----------
    message : str
        What was stopped.
    partial : Result, optional
        The result of the runs that were finished, or None.
    """

    def __init__(self, message: str, partial: object = None) -> None:
        super().__init__(message)
        self.partial = partial
