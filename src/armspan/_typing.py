"""Names for the array types that cross the rooms."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

Progress = Callable[[int, int], None]
"""Called as `progress(done, total)` from the main thread, in units of one step of one run of one policy."""
