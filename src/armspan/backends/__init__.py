"""Where work is done: in this process, in local processes or on a Dask cluster. Knows nothing of bandits."""

from armspan.backends.choice import check_backend
from armspan.backends.mapping import map_reduce

__all__ = ["check_backend", "map_reduce"]
