"""What is done on a GPU beside the kernels: memory for the runs, with what they know at first, and quiet launches."""

import threading
import warnings
from typing import Any

from numba import cuda

from armspan.kernels.gpu import forms

_ONE_AT_A_TIME = threading.Lock()


@cuda.jit
def spread(start, known, by_run, by_entry):
    """Give every run the same numbers. Changes known, which is flat; by_run, by_entry : how far they are apart."""
    r = cuda.grid(1)
    if r * start.size < known.size:
        for entry in range(start.size):
            known[r * by_run + entry * by_entry] = start[entry]


def knowledge(form: forms.Form, state: Any, R: int) -> tuple[tuple[Any, ...], ...]:
    """What R runs carry, in the form's groups, on the present GPU; state : of one run, at first."""
    groups = tuple(tuple(cuda.device_array(form.among(part, R), part.dtype) for part in g) for g in form.groups)
    for start, known in zip(form.start(state), groups[0], strict=True):
        apart = (start.size, 1) if form.runs_first else (1, R)
        quietly(spread, -(-R // forms.THREADS), forms.THREADS)(cuda.to_device(start.ravel()), known.ravel(), *apart)
    cuda.synchronize()
    return groups


def quietly(kernel: Any, blocks: int, threads: int, stream: Any = 0) -> Any:
    """The kernel with its sizes, without numba's advice that few runs leave a GPU idle."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():  # which are the whole process's
        warnings.simplefilter("ignore")
        return kernel[blocks, threads, stream]
