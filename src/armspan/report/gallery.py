"""Pages of the docs that draw their own pictures: each is run, and every picture saved where the page shows it.

A picture stands right above the Python that draws it, or right below.

`python -m armspan.report.gallery docs/gallery.md` does so; `make gallery` does it for all such pages.
"""

import argparse
import os
import re
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from armspan._files import whole_file

BLOCK = re.compile(
    r"(?:^!\[[^\]]*\]\((?P<above>[^)]+)\)\n\n)?"  # the picture that it draws,
    r"^```python\n(?P<code>.*?)^```\n"  # a block of Python,
    r"(?:\n```\n.*?^```\n)?"  # what it prints,
    r"(?(above)|(?:\n!\[[^\]]*\]\((?P<below>[^)]+)\))?)",  # or the picture here
    flags=re.MULTILINE | re.DOTALL,
)
DPI = 100


def draw(page: Path, folder: Path) -> list[Path]:
    """Run a page's Python, and save the pictures below this folder; their paths in the order of the page.

    The folder that the page is in puts each where the page shows it.
    """
    from matplotlib import pyplot

    names: dict[str, object] = {}
    saved, page, folder = [], page.absolute(), folder.absolute()
    with (
        TemporaryDirectory() as elsewhere,
        chdir(elsewhere),
        redirect_stdout(StringIO()),
    ):  # pages print and write files
        for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
            exec(compile(block["code"], str(page), "exec"), names)
            picture = block["above"] or block["below"]
            if picture:
                path = folder / picture
                path.parent.mkdir(parents=True, exist_ok=True)
                options: Any = {"metadata": {"Software": None}, "pil_kwargs": {"optimize": True}}
                with whole_file(path) as file:
                    pyplot.gcf().savefig(file, format="png", dpi=DPI, **options)
                saved.append(path)
            pyplot.close("all")
    return saved


def main() -> None:
    """From the command line."""
    parser = argparse.ArgumentParser(prog="python -m armspan.report.gallery", description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE", help="a page in Markdown")
    os.environ.setdefault("MPLBACKEND", "Agg")
    for page in parser.parse_args().pages:
        for path in draw(page, page.parent):
            print(path)


if __name__ == "__main__":
    main()
