"""What a command leaves: text on the terminal, files in a folder, and one sentence on what is missing."""

import shutil
import sys
from importlib import import_module
from pathlib import Path

from armspan._files import as_path, make_folder
from armspan._text import broken
from armspan.errors import BadFile, MissingExtra


def show(text: str) -> None:
    """Print a text. On a terminal, long lines are broken between words to fit; a file or a pipe gets them whole."""
    print(fitted(text, shutil.get_terminal_size().columns) if sys.stdout.isatty() else text)


def fitted(text: str, width: int) -> str:
    """The text in lines of at most this many columns, unless a single word is longer."""
    lines: list[str] = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        lines += [line] if len(line) <= width else broken(line, width, indent=indent, anywhere=False)
    return "\n".join(lines)


def warn(sentence: str) -> None:
    """One line on stderr."""
    print(f"armspan: {sentence}", file=sys.stderr)


def output_folder(path: Path | None) -> Path | None:
    """Make the folder and see that it can be written, before any work is done."""
    if path is None:
        return None
    try:
        make_folder(as_path(path))
    except OSError as error:
        raise BadFile(f"--out must be a folder that can be written, got {path}: {error.strerror}") from None
    return path


def need(*packages: str) -> None:
    """Refuse where packages of the extra `lab` are missing that a command cannot do without."""
    missing = [name for name in packages if not is_there(name)]
    if missing:
        raise MissingExtra(f"this command needs {' and '.join(missing)}: pip install 'armspan[lab]'")


def is_there(package: str) -> bool:
    """Whether a package can be imported."""
    try:
        import_module(package)
    except ImportError:
        return False
    return True


def can_draw(folder: Path | None) -> bool:
    """Whether figures can be drawn into a folder; says so if they are wanted and cannot."""
    if folder is None:
        return False
    able = is_there("matplotlib")
    if not able:
        warn("figures and pages are left out, because matplotlib is not installed: pip install 'armspan[lab]'")
    return able


def tell(page: Path, quiet: bool, what: str = "") -> None:
    """Say where the page is, unless the output is for machines."""
    if not quiet:
        show(f"Open {page} in a browser" + (f": {what}." if what else "."))


def stopped(stop: KeyboardInterrupt, folder: Path | None, *, finished: bool) -> KeyboardInterrupt:
    """The interrupt with a sentence that says how far the work got, and what is saved."""
    if not finished:
        saved = "nothing is saved"
    elif folder is None:
        saved = "nothing is saved, because --out was not given"
    else:
        saved = f"what was finished is saved in {folder}"
    return KeyboardInterrupt(f"{str(stop) or 'stopped'}; {saved}")
