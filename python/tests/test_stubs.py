"""The type stubs say what is there."""
import ast
import importlib
import inspect
from pathlib import Path

import pytest

import demix


def parameters(function):
    a = function.args
    return ([p.arg for p in a.posonlyargs + a.args], a.vararg and a.vararg.arg, [p.arg for p in a.kwonlyargs])


def of_code(function):
    spec = inspect.getfullargspec(inspect.unwrap(function))
    return spec.args, spec.varargs, spec.kwonlyargs


@pytest.mark.parametrize("module", ["__init__", "mne", "dask"])
def test_signatures(module):
    source = demix
    if module != "__init__":
        pytest.importorskip(module)
        source = importlib.import_module(f"demix.{module}")
    tree = ast.parse((Path(demix.__file__).parent / f"{module}.pyi").read_text())
    seen = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            seen.add(node.name)
            assert parameters(node) == of_code(getattr(source, node.name)), node.name
        elif isinstance(node, ast.ClassDef):
            seen.add(node.name)
            found = getattr(source, node.name, None)
            for member in node.body if found else []:
                if isinstance(member, ast.FunctionDef):
                    value = inspect.getattr_static(found, member.name)
                    if isinstance(value, property):
                        continue
                    function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
                    assert parameters(member) == of_code(function), f"{node.name}.{member.name}"
    assert set(source.__all__) - {"__version__"} <= seen
