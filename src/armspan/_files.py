"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from armspan.errors import BadFile


@contextmanager
def whole_file(path: str | os.PathLike[str], *, sync: bool = True) -> Iterator[BinaryIO]:
    """Write to a temporary file beside path; what was at path stays until all is written and on the disk.

    sync : wait for the disk; without, a power cut may leave a damaged file, and nothing else can.
    """
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                if sync:
                    os.fsync(file.fileno())
                os.fchmod(file.fileno(), 0o666 & ~_umask())
            Path(temporary).replace(target)
            if sync:
                _sync_folder(target.parent)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadFile(f"cannot write {target}: {error.strerror}") from None


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


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
