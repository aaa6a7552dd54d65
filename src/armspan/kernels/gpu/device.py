"""What is done on a GPU beside the kernels: memory for the runs, with what they know at first, and quiet launches."""

import threading
import warnings
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from armspan.kernels.gpu import forms

_ONE_AT_A_TIME = threading.Lock()


@cuda.jit
def spread(start, known, by_run, by_entry):
    """Give every run the same numbers. Changes known, which is flat; by_run, by_entry : how far they are apart."""
    r = cuda.grid(1)
    if r * start.size < known.size:
        for entry in range(start.size):
            known[r * by_run + entry * by_entry] = start[entry]


@cuda.jit
def turn(counts, by_run):
    """Put each run's numbers together: counts (B, K, R) as by_run (R, B, K), which is changed."""
    r = cuda.grid(1)
    if r < counts.shape[2]:
        for b in range(counts.shape[0]):
            for k in range(counts.shape[1]):
                by_run[r, b, k] = counts[b, k, r]


def nothing_lost(B: int, K: int, R: int) -> Any:
    """No suboptimal pulls (B, K, R) yet, on the present GPU: from the host they would take longer than to count."""
    counts = cuda.device_array((B, K, R), np.uint32)
    nothing = cuda.to_device(np.zeros(B * K, np.uint32))
    quietly(spread, -(-R // forms.THREADS), forms.THREADS)(nothing, counts.ravel(), 1, R)
    cuda.synchronize()
    return counts


def fetch(counts: Any, by_run: NDArray[np.uint32]) -> None:
    """Copy suboptimal pulls to the host, turned on the GPU, which is far faster there. Changes by_run (R, B, K)."""
    turned = cuda.device_array(by_run.shape, np.uint32)
    quietly(turn, -(-by_run.shape[0] // forms.THREADS), forms.THREADS)(counts, turned)
    turned.copy_to_host(by_run)


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
