"""What kind of processor this is: the same text where compiled kernels and NumPy give the same numbers, bit for bit."""

import hashlib
import platform
from functools import cache
from typing import Any

from armspan._version import __version__


def processor() -> str:
    """Its kind, the kind that kernels are compiled for if that is another one, and the packages that matter."""
    import numba
    import numpy as np

    config: Any = numba.core.config
    machine, name, features = _host()
    kind = f"{machine} {name} with features {_short(features)}"  # by which NumPy chooses its own code, too
    if config.CPU_NAME is not None or config.CPU_FEATURES is not None:  # NUMBA_CPU_NAME, NUMBA_CPU_FEATURES
        features = features if config.CPU_FEATURES is None else config.CPU_FEATURES
        kind += f" as {config.CPU_NAME or name} with features {_short(features)}"
    return f"{kind}, numba {numba.__version__}, numpy {np.__version__}, armspan {__version__}"


@cache
def _host() -> tuple[str, str, str]:
    from llvmlite import binding

    return platform.machine(), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()


def _short(features: str) -> str:
    """Some digits that change with the features."""
    return hashlib.sha256(features.encode()).hexdigest()[:8]
