"""NumPy's own tests through tracebuf: how test modules are rewritten, and a module or two of them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tracebuf.testing.numpy_suite import runs
from tracebuf.testing.numpy_suite.__main__ import main
from tracebuf.testing.numpy_suite.rewrite import NAME, rewritten
from tracebuf.testing.numpy_suite.through import Through, leaked

PROGRAM = '''
import numpy as np
said = []
def note(x):
    said.append(repr(x))
    return x
class Holder:
    __private = 3
    def __init__(self):
        super().__init__()
        self.a = np.arange(4.0)
    def get(self):
        return self.__private
    def change(self):
        self.a += 1
        self.a[1:3] -= note(np.float64(0.5))
        return self.a
def program():
    """A docstring."""
    h = Holder()
    a, b = note(np.ones((2, 3))), note(np.arange(3.0))
    c = note(a) + note(b) * 2
    c[note(1), ...] = note(b)[::-1]
    c *= note(2)
    d = {"k": [1, 2]}
    d["k"][note(0)] += 5
    text = "%s %s" % (d, h.get())
    f = lambda x: -x + 1
    m = c.T.sum(axis=note(0)), c[None, :, 1:], ~(c > 2), np.max(c), -c, a @ b, f(3), c[[0, 1], [1, 2]]
    return m, text, h.change(), 1 < 2 < 3, [i * 2 for i in range(3)], c.reshape(3, -1), locals()["f"](2), said
'''


@pytest.mark.slow
def test_a_rewritten_program_does_what_it_did() -> None:
    """Operands are evaluated in the same order, in both modes, and what NumPy does goes through tracebuf."""
    found, spaces = [], [{}, {NAME: Through(False)}, {NAME: Through(True)}]
    for methods, space in zip((None, False, True), spaces):
        tree = ast.parse(PROGRAM) if methods is None else rewritten(PROGRAM, "<program>", methods)
        exec(compile(tree, "<program>", "exec"), space)
        found.append(repr(space["program"]()))
    assert found[0] == found[1] == found[2]
    functions, methods = spaces[1][NAME], spaces[2][NAME]
    assert isinstance(functions, Through) and isinstance(methods, Through)
    assert functions.ran == {"np.ones": 1, "np.arange": 2, "np.max": 1}
    assert methods.ran.total() > 15 and methods.ran[".sum"] == 1 and methods.ran["x[i] -="] == 1
    assert not methods.refused


def test_functions_that_a_test_passes_on_are_routed() -> None:
    t = Through(False)
    with pytest.raises(AssertionError):
        t.call(np.testing.assert_raises, ValueError, np.sum, np.ones(3))
    t.call(np.testing.assert_raises, ValueError, np.sum, np.ones(3), axis=1)
    assert t.ran == {"np.sum": 2}


def test_what_is_refused_runs_as_it_is() -> None:
    t = Through(False)
    texts = np.array([b"a", b"b"])
    assert t.call(np.flip, texts).tolist() == [b"b", b"a"] and t.refused == {"np.flip": 1}
    assert t.reasons == {"an argument has another dtype": 1}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("'<=' not supported between instances of 'int' and 'PyInt'", "PyInt"),
        ("Cannot interpret '<tracebuf.frontends.numpy.record.heap.Record object at 0x7f>' as a data type", "tracebuf."),
        ("range indices must be integers or slices, not int", ""),
    ],
)
def test_names_of_the_tracer_are_found_in_messages(text: str, name: str) -> None:
    assert leaked(TypeError(text)) == name


def test_each_exception_has_a_reason_and_a_module() -> None:
    for (module, name), reason in runs.exceptions("methods").items():
        assert module in runs.MODULES and name and reason, (module, name)
    assert runs.exceptions("functions").items() <= runs.exceptions("methods").items()


def test_the_outcome_of_a_crash_is_a_failure() -> None:
    notes = '{"begins": "a"}\n{"ends": "a", "outcome": "passed", "text": ""}\n{"begins": "b"}\n'
    assert runs.read(notes).outcomes == {"a": "passed", "b": "crashed, or ended the process"}


def test_a_failure_that_is_not_listed_is_the_exit_code(monkeypatch: Any, capsys: Any) -> None:
    """A test that fails both ways is not counted, nor one that is listed."""
    results = {
        "": runs.Run({"a": "passed", "b": "wrong", "c[0]": "passed", "d": "passed"}),
        "functions": runs.Run({"a": "passed", "b": "wrong", "c[0]": "differs", "d": "crashed"}, ran={"np.f": 3}),
    }
    monkeypatch.setattr(runs, "run", lambda module, mode, *_: results[mode])
    monkeypatch.setattr(runs, "exceptions", lambda mode: {("m", "c[*]"): "a reason", ("m", "a"): "another"})
    assert main(["m"]) == 1
    said = capsys.readouterr().out
    assert "1 fail, 1 are excepted" in said and "FAILED d" in said and "listed, but passes: a" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "flag"),
    [
        ("numpy.fft.tests.test_helper", ""),
        ("numpy.lib.tests.test_twodim_base", ""),
        ("numpy.lib.tests.test_twodim_base", "--methods"),
        ("numpy._core.tests.test_function_base", "--methods"),
    ],
)
def test_numpys_own_tests_pass_through_tracebuf(module: str, flag: str, capsys: Any) -> None:
    """`python -m tracebuf.testing.numpy_suite` runs them all."""
    assert main([*filter(None, [flag]), module]) == 0, capsys.readouterr().out
    assert Path(runs.EXCEPTIONS).exists()
