"""Files that are written whole or not at all, and folders that can be written."""

import contextlib
import hashlib
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from armspan.errors import BadFile

MOST_LINKS = 40
MOST_LOOKED_AT = 10_000
"""Entries of a folder that are looked at for what dead processes left: a crowded folder must not make saving slow."""


def as_path(path: Any) -> Path:
    """A path that the system can be asked for; anything else is refused in a sentence."""
    try:
        result = Path(path)
        if b"\0" not in os.fsencode(result):
            return result
    except (TypeError, ValueError):  # of another kind, or with letters that no file name can have
        pass
    raise BadFile(f"path must be the path of a file, got {path!r:.60}")


@contextmanager
def whole_file(path: str | os.PathLike[str], *, sync: bool = True) -> Iterator[BinaryIO]:
    """Write to a temporary file beside path; what was at path stays until all is written and on the disk.

    An older file's permissions are kept, links are followed, and what is no plain file (a pipe, a device) is written to
    as it is. What processes that were killed while they wrote to path have left beside it is removed.

    sync : wait for the disk; without, a power cut may leave a damaged file, and nothing else can. Neither is the folder
        looked through, which many small files could not afford: see `remove_leftovers`.
    """
    given = as_path(path)
    try:
        target = _followed(given)
        old = _status(target)
        if target.parent.is_relative_to("/proc") or (old is not None and not stat.S_ISREG(old.st_mode)):
            with target.open("wb") as file:
                yield file
            return
        if sync:
            remove_leftovers(target.parent, target.name)
        temporary = target.with_name(_temporary_name(target.name))
        try:
            with _created(temporary, old) as file:
                yield file
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if sync:
            _sync_folder(target.parent)
    except OSError as error:
        raise BadFile(f"cannot write {given}: {error.strerror or error}") from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    with whole_file(path) as file:
        file.write(text.encode())


def make_folder(path: Path) -> None:
    """Make the folder, and see that it can be written; OSError says why not. Others may do the same meanwhile."""
    path.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=path):  # it has no name, or one that nobody else has
        pass


def remove_leftovers(folder: Path, name: str | None = None) -> None:
    """Remove temporary files that dead processes of this machine left in the folder: of one file, or of all."""
    if os.name != "posix":  # elsewhere there is no harmless way to ask whether a process lives
        return
    pattern = re.compile(rf"\.armspan-{'[0-9a-f]{16}' if name is None else _digest(name)}-{_machine()}-(\d+)-.*\.part")
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, MOST_LOOKED_AT):
            match = pattern.fullmatch(entry.name)
            if match and not _lives(int(match[1])):
                Path(entry.path).unlink(missing_ok=True)


def _followed(path: Path) -> Path:
    """Where a link leads, and the path itself if it is none; a process's open files in /proc are an end too."""
    for _ in range(MOST_LINKS):
        path = Path(os.path.realpath(path.parent), path.name)  # resolve() would raise where links go in circles
        if path.parent.is_relative_to("/proc") or not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return path


def _status(path: Path) -> os.stat_result | None:
    """What is at path, None for nothing."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _created(temporary: Path, old: os.stat_result | None) -> BinaryIO:
    """A new file with the owner and permissions of the old one, or with those that any new file gets."""
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o777
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    file = os.fdopen(handle, "wb")
    try:
        if old is not None:
            new = os.fstat(handle)
            if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
                with contextlib.suppress(OSError):  # only root may give files to others
                    os.chown(temporary, old.st_uid, old.st_gid)
            temporary.chmod(mode)
    except BaseException:
        file.close()
        raise
    return file


def _temporary_name(name: str) -> str:
    """A name that nobody else has, tells whose it is, and is short whatever the file's own name is."""
    return f".armspan-{_digest(name)}-{_machine()}-{os.getpid()}-{secrets.token_hex(8)}.part"


def _digest(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:16]


@cache
def _machine() -> str:
    """Processes are numbered anew on every machine and in every container: where this one's number counts."""
    known = [os.uname().nodename if hasattr(os, "uname") else ""]
    with contextlib.suppress(OSError):
        known.append(Path("/etc/machine-id").read_text())
    with contextlib.suppress(OSError):
        known.append(str(Path("/proc/self/ns/pid").readlink()))
    return _digest("\n".join(known))


def _lives(pid: int) -> bool:
    """Whether there is such a process; where that is not known, it lives."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def _sync_folder(folder: Path) -> None:
    """The new name is on the disk too, where the system can promise that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows has no such thing
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
