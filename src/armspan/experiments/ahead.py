"""Compile in several processes at once what a long experiment will need, instead of one kernel after the other."""

import logging
from collections.abc import Iterable
from itertools import count
from typing import Any

from armspan._cores import available_cores
from armspan._typing import Progress
from armspan.backends import map_reduce
from armspan.environments import Environment
from armspan.kernels.families import family
from armspan.policies import Policy
from armspan.simulation import simulate

Work = tuple[Environment, list[Policy]]


def compile_ahead(work: Iterable[Work], *, runs: int, progress: Progress) -> None:
    """Let all kernels be compiled, and kept on disk, that so many runs of policies in these environments use."""
    parts, done = [(*those, runs, _steps(*those)) for those in _by_kernel(work)], count(1)
    options: dict[str, Any] = {"backend": "processes", "workers": available_cores()}
    map_reduce(_begin, parts, len, **options, arrived=lambda _, result: progress(next(done), len(parts)))


def _by_kernel(work: Iterable[Work]) -> list[Work]:
    """Policies that share a kernel together, in the first environment in which they do."""
    found: dict[Any, Work] = {}
    for env, policies in work:
        own = dict[Any, Work]()
        for policy in policies:
            if policy.compiled is not None:
                kernel = _kernel(env, policy)
                own.setdefault(getattr(kernel, "together", kernel), (env, []))[1].append(policy)
        found |= {kernel: those for kernel, those in own.items() if kernel not in found}
    return list(found.values())


def _kernel(env: Environment, policy: Policy) -> Any:
    how = family(str(policy.compiled))
    return how.late if env.late and policy.learns else how.advance(env.n_arms, env.n_features)


def _steps(env: Environment, policies: list[Policy]) -> int:
    """How many steps are enough for the kernel to be used."""
    return max(2, getattr(_kernel(env, policies[0]), "steps_per_context", 0) * (env.n_contexts or 0))


def _begin(part: Any) -> None:
    """The first steps of some policies, without a word. Whoever runs the rest hears what there is to say."""
    (env, policies, runs, steps), log = part, logging.getLogger("armspan")
    heard, log.disabled = log.disabled, True
    try:
        simulate(env, policies, horizon=steps, runs=runs, workers=1, engine="cpu")
    finally:
        log.disabled = heard  # others may use the same process
