"""A figure as the bytes of a picture: laid out once, which takes longest, and drawn once for each kind of picture."""

from io import BytesIO
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 150
_kept: "WeakKeyDictionary[Figure, dict[str, bytes]]" = WeakKeyDictionary()


def rendered(figure: "Figure", kind: str) -> bytes:
    """The figure as "svg" or "png". It must not change afterwards."""
    pictures = _kept.setdefault(figure, {})
    if kind not in pictures:
        buffer = BytesIO()
        figure.savefig(buffer, format=kind, dpi=DPI, metadata={"Date": None} if kind == "svg" else None)
        figure.set_layout_engine("none")
        pictures[kind] = buffer.getvalue()
    return pictures[kind]
