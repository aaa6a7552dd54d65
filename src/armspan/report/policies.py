"""All policies as a table, made from the registry: what each does, its parameters, and where it runs."""

import inspect
from dataclasses import fields

from armspan.kernels.families import family
from armspan.policies import POLICIES, Policy
from armspan.policies.yardstick import Yardstick

HEAD = "| policy | what it does | parameters | compiled | GPU | agent |\n|---|---|---|---|---|---|\n"


def policy_table() -> str:
    """A table in Markdown, one row per policy."""
    return HEAD + "".join(_row(name, kind) for name, kind in sorted(POLICIES.items(), key=lambda item: item[0].lower()))


def _row(name: str, kind: type[Policy]) -> str:
    idea = (inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
    parameters = ", ".join(f"`{field.name}`" for field in fields(kind) if field.name != "label")
    how = kind().compiled
    agent = "-" if how is None or issubclass(kind, Yardstick) else "tuned" if how == "linear" else "general"
    places = "-" if how is None else "yes", "yes" if how is not None and family(how).on_gpu else "-"
    return f"| `{name}` | {idea} | {parameters} | {places[0]} | {places[1]} | {agent} |\n"


if __name__ == "__main__":
    print(policy_table(), end="")
