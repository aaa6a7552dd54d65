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
    if figure not in _kept:
        _lay_out(figure)
    pictures = _kept.setdefault(figure, {})
    if kind not in pictures:
        buffer = BytesIO()
        figure.savefig(buffer, format=kind, dpi=DPI, metadata={"Date": None} if kind == "svg" else None)
        pictures[kind] = buffer.getvalue()
    return pictures[kind]


def _lay_out(figure: "Figure") -> None:
    """Let everything have its place for good: while a figure has a layout engine, it is drawn twice to be saved."""
    import matplotlib

    engine, usual = figure.get_layout_engine(), figure.dpi
    if engine is not None:
        figure.dpi = DPI
        engine.execute(figure)
        figure.dpi = usual
        with matplotlib.rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
            figure.set_layout_engine(None)
