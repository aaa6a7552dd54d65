"""Plain arrays as Matplotlib pictures: every `plot` method and every report draws with these. Needs the extra `lab`."""

from armspan.errors import MissingExtra

try:
    from matplotlib.axes import Axes
except ImportError:
    raise MissingExtra("plots need Matplotlib: pip install 'armspan[lab]'") from None

__all__ = ["Axes"]
