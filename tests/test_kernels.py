"""What a kernel may do: arithmetic and four functions, so that both of its forms agree bit for bit."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED_MATH = {"sqrt", "exp", "log", "log1p", "inf"}
ALLOWED_NUMPY = {"nan"}
FORBIDDEN = (ast.Pow, ast.MatMult, ast.Mod, ast.FloorDiv)


@cache
def compiled_functions() -> list[tuple[str, ast.FunctionDef]]:
    found = []
    for folder in ("algorithms", "adversaries", "verify"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and any(
                    (isinstance(d, ast.Name) and d.id == "helper")
                    or (isinstance(d, ast.Call) and getattr(d.func, "id", "") == "kernel")
                    for d in node.decorator_list
                ):
                    found.append((f"{path.stem}.{node.name}", node))
    return found


def violations(function: ast.FunctionDef) -> list[str]:
    callable_names = {name.partition(".")[2] for name, _ in compiled_functions()}
    # int() cuts off what is behind the point in both forms
    callable_names |= {
        "int",
        "range",
        "workspace",
        "sparse_product",
        "subtract_outer",
        *(argument.arg for argument in function.args.args),
    }
    bad = []
    for node in ast.walk(ast.Module(function.body, [])):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, FORBIDDEN):
            bad.append(type(node.op).__name__)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            allowed = {"math": ALLOWED_MATH, "np": ALLOWED_NUMPY}.get(node.value.id)
            if allowed is not None and node.attr not in allowed:
                bad.append(f"{node.value.id}.{node.attr}")
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id not in callable_names:
            bad.append(called.id)
        if isinstance(called, ast.Attribute) and ast.unparse(called.value) not in ("math", "np"):
            bad.append(ast.unparse(called))
    return bad


def test_kernels_are_found() -> None:
    names = {name for name, _ in compiled_functions()}
    assert {
        "plain.play_rounds",
        "losses._logistic",
        "optimisers._projected_step",
        "gappletron._mixture",
    } <= names
    assert len(names) > 20


@pytest.mark.parametrize(("name", "function"), compiled_functions())
def test_kernels_use_nothing_whose_bits_may_differ(name: str, function: ast.FunctionDef) -> None:
    assert violations(function) == []


@pytest.mark.parametrize("body", [
    "x ** 2", "x @ y", "x % y", "np.exp(x)", "np.sum(x)", "np.dot(x, y)", "math.pow(x, 2)", "math.sin(x)",
    "sum(x)", "exp(x)", "abs(x)", "x.sum()", "x[1:].dot(y)", "divmod(x, y)[0]",
])  # fmt: skip
def test_violations_are_seen(body: str) -> None:
    (function,) = ast.parse(f"def f(x, y):\n    return {body}").body
    assert isinstance(function, ast.FunctionDef)
    assert violations(function)
