"""Pictures with several panels get the class `wide`: shrunk to a narrow screen they cannot be read, so they scroll."""

from pathlib import Path
from typing import Any

from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx

WIDE = 8.5
"""Inches on paper. Figures with one panel are about 7 wide, those with several at least 9."""


def _inches(path: Path) -> float:
    with Image.open(path) as picture:
        return picture.width / picture.info.get("dpi", (100, 100))[0]


def _mark(app: Sphinx, doctree: nodes.document) -> None:
    for image in doctree.findall(nodes.image):
        path = Path(app.srcdir) / image["uri"]
        if path.suffix == ".png" and path.exists() and _inches(path) > WIDE:
            image["classes"].append("wide")


def setup(app: Sphinx) -> dict[str, Any]:
    """After Sphinx has found where the pictures lie."""
    app.connect("doctree-read", _mark, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
