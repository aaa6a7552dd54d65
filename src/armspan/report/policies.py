"""All policies as a table, and each as a page: from the registry, their docstrings, and what was measured of them.

`python -m benchmarks policies --write` measures, `python -m armspan.report.policies --docs docs` writes the pages.
"""

import argparse
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from armspan._docstrings import parameters as documented
from armspan._docstrings import sections
from armspan.agents import Agent
from armspan.environments import BoxContexts, FiniteContexts
from armspan.errors import InvalidParameter, NotApplicable
from armspan.kernels.families import family
from armspan.kernels.family import usual_sizes
from armspan.policies import POLICIES, Policy
from armspan.policies.base import Application

SIZES = ((5, 5), (10, 20))
"""(K, d) of what is measured."""
HORIZON, CONTEXTS = 10_000, 100
"""Steps, and contexts of a policy that needs them to recur, for those whose cost depends on them."""
START, END = (
    "<!-- the table starts here: python -m armspan.report.policies writes it -->\n",
    "<!-- the table ends here -->\n",
)


def policy_table(measured: Mapping[str, Any] | None = None) -> str:
    """A table in Markdown, one row per policy, and how its times were measured.

    measured : what `docs/policies.json` has; left out, there are no times.
    """
    times = [f"ns per step ({K}, {d})" for K, d in SIZES]
    K, d = SIZES[-1]
    heads = ["policy", "what it does", "promise", "assumes", "random", "recurring contexts", *times]
    heads += [f"bytes per run ({K}, {d})", "compiled", "GPU", "agent"]
    rows = [_row(name, measured or {}) for name in sorted(POLICIES, key=str.lower)]
    lines = [heads, ["---"] * len(heads), *rows]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{table}\n{_how(measured)}\n"


def policy_page(name: str) -> str:
    """The page of one policy in Markdown: what its docstring says, and what is known of it."""
    kind, parts = POLICIES[name], Parts.of(POLICIES[name])
    facts = {
        "promised regret": kind.promise,
        "assumes": kind.assumes or "-",
        "random": _yes(is_random(kind), "no"),
        "needs contexts that recur": _yes(needs_recurring_contexts(kind), "no"),
        "compiled": _yes(kind().compiled, "no, it runs in Python"),
        "runs on a GPU": _yes(_on_gpu(kind), "no"),
        "agent": _agent(kind, "none"),
    }
    blocks = [
        f"# {name}",
        parts.does,
        *parts.idea,
        f"```\n{parts.equation}\n```",
        *parts.notes,
        "\n".join(f"- {fact}: {value}" for fact, value in facts.items()),
        f"```python\nimport armspan\n\npolicy = armspan.{name}()\n```",
        "## Parameters",
        _list_of_parameters(kind),
        "## When to use it",
        parts.use,
        "## Reference",
        parts.reference,
        "Costs of a step and of a run are in [the table of all policies](../policies.md). This page is made from the "
        f"docstring of `armspan.{name}`.",
    ]
    return "\n\n".join(blocks) + "\n"


def page_name(kind: type[Policy]) -> str:
    """The file of a policy's page, named as its module is."""
    return f"{kind.__module__.rpartition('.')[2]}.md"


def write_docs(folder: Path) -> None:
    """Write the table between its two comments in policies.md, and a page for each policy; what is left over goes."""
    table, measured, pages = folder / "policies.md", folder / "policies.json", folder / "policies"
    head, start, rest = table.read_text(encoding="utf-8").partition(START)
    _, end, tail = rest.partition(END)
    if not (start and end):
        raise InvalidParameter(f"{table} must have the two comments that the table goes between")
    known = json.loads(measured.read_text(encoding="utf-8")) if measured.exists() else None
    table.write_text(f"{head}{START}\n{policy_table(known)}\n{END}{tail}", encoding="utf-8")
    pages.mkdir(exist_ok=True)
    for old in pages.glob("*.md"):
        old.unlink()
    for name, kind in POLICIES.items():
        (pages / page_name(kind)).write_text(policy_page(name), encoding="utf-8")


@dataclass
class Parts:
    """What a policy's docstring says, paragraph by paragraph; the indented one is its equation, Notes its use."""

    does: str
    idea: list[str] = field(default_factory=list)
    equation: str = ""
    notes: list[str] = field(default_factory=list)
    use: str = ""
    reference: str = ""

    @classmethod
    def of(cls, kind: type[Policy]) -> "Parts":
        """The parts of this policy's docstring, less its parameters."""
        found = sections(kind.__doc__)
        first, *others = found[""].split("\n\n")
        parts = cls(_prose(first), use=_prose(found.get("Notes", "")), reference=_prose(found.get("References", "")))
        for paragraph in others:
            if paragraph.startswith("    "):
                parts.equation = inspect.cleandoc(paragraph)
            else:
                (parts.notes if parts.equation else parts.idea).append(_prose(paragraph))
        return parts


def parameters(kind: type[Policy]) -> dict[str, str]:
    """What each parameter means, as the docstring says; "" for one that it does not describe."""
    described = documented(kind.__doc__)
    meanings = {name: _prose(entry.meaning) for name, entry in described.items()}
    return meanings | {one.name: "" for one in fields(kind) if one.name not in meanings}


def is_random(kind: type[Policy]) -> bool:
    """Whether it draws numbers itself, or chooses by probabilities."""
    reference = kind().within(HORIZON).reference(_recurring())
    return hasattr(reference, "probabilities") or hasattr(reference, "chance")


def needs_recurring_contexts(kind: type[Policy]) -> bool:
    """Whether it refuses contexts that do not recur."""
    policy, never = kind().within(HORIZON), BoxContexts(_recurring().theta)
    try:
        policy.check(never, HORIZON)
        policy.reference(never)
    except NotApplicable:
        return True
    return False


def bytes_per_run(kind: type[Policy], n_arms: int, n_features: int) -> int | None:
    """What a run of it keeps; None where that grows with what was seen."""
    policy = kind().within(HORIZON)
    if policy.compiled is None:
        return None
    sizes = usual_sizes(n_arms, n_features, CONTEXTS, policy.sizes(Application(n_features, n_arms)))
    return sum(array.nbytes for array in family(policy.compiled).empty(1, **sizes))


def _how(measured: Mapping[str, Any] | None) -> str:
    """What the numbers of the table are."""
    bytes_of = f"Bytes are for {HORIZON:,} steps, {CONTEXTS} contexts where they must recur, and an expert per arm."
    if measured is None:
        return bytes_of
    times = (
        f"Nanoseconds are those of one core of {measured['processor']} per step and run, draws of contexts and noise"
    )
    steps = f"over {measured['steps']:,} steps, and {measured['python_steps']:,} where it runs in Python"
    return f"{times} included, at (K, d); the best of five rounds {steps}. {bytes_of}"


@cache
def _recurring() -> FiniteContexts:
    """A small problem that every policy can run in."""
    return FiniteContexts([[[0.3, 0.1], [0.1, 0.2]], [[0.2, 0.4], [0.5, 0.1]]], [[0.2, 0.9], [0.8, 0.3]])


def _row(name: str, measured: Mapping[str, Any]) -> list[str]:
    kind = POLICIES[name]
    taken, kept = measured.get("policies", {}).get(name, {}), bytes_per_run(kind, *SIZES[-1])
    slow = "" if kind().compiled else " (Python)"
    times = [taken.get(f"{K}, {d}") for K, d in SIZES]
    cells = [f"[`{name}`](policies/{page_name(kind)})", Parts.of(kind).does, kind.promise, kind.assumes or "-"]
    cells += [_yes(is_random(kind)), _yes(needs_recurring_contexts(kind))]
    cells += ["-" if time is None else f"{time:,}{slow}" for time in times]
    cells += ["grows" if kept is None else f"{kept:,}", _yes(kind().compiled), _yes(_on_gpu(kind)), _agent(kind)]
    return [cell.replace("|", "\\|") for cell in cells]


def _on_gpu(kind: type[Policy]) -> bool:
    how = kind().compiled
    return how is not None and family(how).on_gpu


@cache
def _agent(kind: type[Policy], none: str = "-") -> str:
    """Which agent it has: one is made, with the bounds that agents must be given."""
    bounds = {"feature_bound": 1.0, "parameter_bound": 1.0, "horizon": HORIZON}
    given: Any = {one.name: bounds[one.name] for one in fields(kind) if one.name in bounds}
    try:
        agent = kind(**given).agent(2, 2)
    except NotApplicable:
        return none
    return "tuned" if isinstance(agent, Agent) else "general" if kind().compiled else "in Python"


def _yes(value: object, no: str = "-") -> str:
    return "yes" if value else no


def _list_of_parameters(kind: type[Policy]) -> str:
    """With their defaults; those that are explained together in one line."""
    lines = []
    for meaning, same in groupby(parameters(kind).items(), key=lambda item: item[1]):
        lines.append(f"- {', '.join(f'`{name}={_default(kind, name)}`' for name, _ in same)}: {meaning}")
    return "\n".join(lines)


def _default(kind: type[Policy], name: str) -> str:
    value = kind.__dataclass_fields__[name].default
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _prose(paragraph: str) -> str:
    """On one line, as Markdown: a star is a star."""
    return " ".join(paragraph.split()).replace("*", "\\*")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--docs", type=Path, help="the folder to write policies.md and policies/*.md in; else print")
    given = parser.parse_args()
    if given.docs is None:
        print(policy_table(), end="")
    else:
        write_docs(given.docs)
