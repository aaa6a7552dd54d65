"""The page on servers shows the code that is tested, without its types and docstrings."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")


class Bare(ast.NodeTransformer):
    """Takes types and docstrings away."""

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.AnnAssign):
            assert node.value is not None
            return ast.Assign([node.target], node.value, lineno=0)
        self.generic_visit(node)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:]
            if not isinstance(node, ast.ClassDef):
                node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        return node


def definition(code: str, name: str) -> str:
    found = [node for node in ast.parse(code).body if getattr(node, "name", None) == name]
    return "\n".join(ast.unparse(Bare().visit(node)) for node in found)


@pytest.mark.parametrize(("file", "name"), [("server", "saving"), ("worker", "Worker")])
def test_the_page_shows_what_the_example_does(file: str, name: str) -> None:
    blocks = "".join(re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL))
    written = definition((ROOT / "examples" / f"{file}.py").read_text(encoding="utf-8"), name)
    assert written
    assert definition(blocks, name) == written
