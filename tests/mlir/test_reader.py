"""The reader of MLIR's generic form: what each part of the text becomes, and the errors of what is none."""

from __future__ import annotations

import random

import pytest

from tracebuf.errors import TracebufError
from tracebuf.frontends.mlir import ReadError, read, read_all
from tracebuf.ir.core import Value
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import INDEX, MemRefType, TensorType, UnrankedTensorType, VectorType
from tracebuf.ir.unknown import UnknownOp
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.control import scf
from tracebuf.ops.scalars import arith


def func(body: str, args: str = "", results: str = "", names: str = "") -> Func:
    """The function with this body; `args` are types, `names` what they are called."""
    header = ", ".join(f"{n}: {t}" for n, t in zip(names.split(), args.split(", ")))
    block = f"^bb0({header}):" if header else ""
    head = f'"func.func"() <{{function_type = ({args}) -> ({results}), sym_name = "f"}}> ({{'
    (found,) = read(f"{head}{block}\n{body}}}) : () -> ()").funcs
    return found


SLICE = """
  %c = "arith.constant"() <{value = 4 : index}> : () -> index
  %d = "tensor.dim"(%t, %z) : (tensor<?x8xf32>, index) -> index
  %e = "tensor.empty"(%d) : (index) -> tensor<?x8xf32>
  %s = "tensor.extract_slice"(%t, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>,
      static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 1, -9223372036854775808>,
      static_strides = array<i64: 1, 2>}> : (tensor<?x8xf32>, index, index) -> tensor<?xf32>
  %r = "tensor.insert_slice"(%s, %t, %n) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>,
      static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, -9223372036854775808>,
      static_strides = array<i64: 1, 2>}> : (tensor<?xf32>, tensor<?x8xf32>, index) -> tensor<?x8xf32>
  "func.return"(%r) : (tensor<?x8xf32>) -> ()
"""


def test_slices_and_which_sizes_are_the_same() -> None:
    f = func(SLICE, "tensor<?x8xf32>, index, index", "tensor<?x8xf32>", "%t %n %z")
    t, n, _ = f.args
    _, dim, empty, extract, insert, _ = f.block.ops
    assert isinstance(extract, tensor.ExtractSlice) and isinstance(insert, tensor.InsertSlice)
    assert extract.slice.offsets == (n, 0) and extract.slice.dims == (1,) and extract.slice.strides == (1, 2)
    assert insert.result.type is t.type
    size = extract.result.tensor_type.shape[0]
    assert [v for s, v in f.symbols.items() if s.expr == size] == [n]
    assert dim.attrs["dim"] is None and empty.result.tensor_type.shape[0] != t.tensor_type.shape[0]
    known = func(SLICE.replace("%z)", "%c)"), "tensor<?x8xf32>, index, index", "tensor<?x8xf32>", "%t %n %z")
    _, dim, empty, *_ = known.block.ops
    assert dim.attrs["dim"] == 4 and dim.operands[1].defining_op is known.block.ops[0]
    zero = SLICE.replace("4 :", "0 :").replace("%z)", "%c)")
    first = func(zero, "tensor<?x8xf32>, index, index", "tensor<?x8xf32>", "%t %n %z")
    assert first.block.ops[2].result.type == first.args[0].type


def test_aliases_locations_and_several_results() -> None:
    module = read(
        """
        #map = affine_map<(d0, d1) -> (d1, d0)>
        !t = tensor<2x?xf32, #foo.encoding<#map>>
        "builtin.module"() <{sym_name = "m"}> ({
          %0:2, %1 = "foo.op"() {a = #map, b = [1 : i8, -2.5, "x\\22\\0A", @f::@g, unit], c} : () -> (!t, i32, f8E4M3FN)
              loc(#loc1)
          "foo.use"(%0#1, %1) : (i32, f8E4M3FN) -> () loc("g.py":3:7)
        }) : () -> () loc(#loc)
        #loc = loc(unknown)
        #loc1 = loc(fused[#loc2, "b.py":9:1])
        #loc2 = loc("a.py":7:5)
        """
    )
    assert module.name == "m"
    first, second = module.items
    assert isinstance(first, UnknownOp) and isinstance(second, UnknownOp) and second.operands[0] is first.results[1]
    type_ = first.results[0].type
    assert isinstance(type_, TensorType) and type_.encoding == "#foo.encoding<affine_map<(d0, d1) -> (d1, d0)>>"
    assert first.attrs["a"].text == "affine_map<(d0, d1) -> (d1, d0)>" and first.attrs["c"].text == "unit"
    assert first.attrs["b"].value == [1, -2.5, 'x"\n', "f::g", None]
    assert str(first.loc) == 'loc(fused["a.py":7:5, "b.py":9:1])' and (first.loc.file, first.loc.line) == ("a.py", 7)
    assert (second.loc.file, second.loc.line, second.loc.column) == ("g.py", 3, 6)


def test_ops_without_a_location_have_their_place_in_the_text() -> None:
    f = read('\n  "func.func"() <{function_type = () -> (), sym_name = "f"}> ({\n    "func.return"() : () -> ()\n'
             "  }) : () -> ()", "name.mlir").func("f")  # fmt: skip
    assert str(f.loc) == 'loc("name.mlir":2:3)' and str(f.block.ops[0].loc) == 'loc("name.mlir":3:5)'


@pytest.mark.parametrize(
    "text",
    [
        "tensor<4x?xf32>", "tensor<f32>", "tensor<*xf64>", "tensor<0xf32>", "tensor<?xcomplex<f32>>", "index",
        "memref<?x4xf32>", "memref<4x4xf32, strided<[4, 1]>>", "memref<?xf32, strided<[1]>>", "memref<*xbf16, 2>",
        "memref<?x?xf32, strided<[?, 1], offset: ?>, #foo.space>", "memref<4xf32, affine_map<(d0) -> (d0 * 2)>, 1>",
        "memref<2xvector<4xf32>>", "ui8", "tensor<2xui8>", "i4", "si32", "none", "tuple<i1, tensor<4xf32>>",
        '!foo.bar<x, <y -> z>, "s>">', "(i1, f32) -> (index, i8)", "f8E4M3FN", "tensor<4x!foo.t<1>>",
        "vector<4x[8]xi1>",
    ],
)  # fmt: skip
def test_types_print_as_they_were_read(text: str) -> None:
    (op,) = read(f'%0 = "foo.op"() : () -> ({text})').items
    assert not isinstance(op, Func | Module) and str(op.result.type) == text


def test_kinds_of_types() -> None:
    types = "index, tensor<*xf32>, vector<2xf32>, memref<?x4xf32>, tensor<?x?xf32>"
    (op,) = read(f'%0:5 = "foo.op"() : () -> ({types})').items
    assert not isinstance(op, Func | Module)
    index, unranked, vector, memref, both = (r.type for r in op.results)
    assert index is INDEX and isinstance(unranked, UnrankedTensorType) and isinstance(vector, VectorType)
    assert isinstance(memref, MemRefType) and memref.is_identity
    assert isinstance(both, TensorType) and both.shape[0] != both.shape[1], "one ? is no other"


CHOICE = """
  "scf.if"(%b) ({
    %0 = "tensor.empty"(%n) : (index) -> tensor<?xf32>
    "scf.yield"() : () -> ()
  }, {
  }) : (i1) -> ()
  %1 = "tensor.empty"(%m) : (index) -> tensor<?xf32>
  "func.return"() : () -> ()
"""


def test_a_size_is_not_negative_where_it_is_surely_one() -> None:
    """In a branch that is not taken a value may be negative, and an offset elsewhere."""
    f = func(CHOICE, "i1, index, index", "", "%b %n %m")
    bounds = {v.name: s.lo for s, v in f.symbols.items()}
    assert bounds == {"n": None, "m": 0}


LOOPS = """
  %0 = "arith.constant"() <{value = 0 : index}> : () -> index
  %1 = "scf.for"(%0, %n, %n, %t) ({
  ^bb0(%i: index, %a: tensor<?xf32>):
    %2 = "linalg.generic"(%t, %a) <{indexing_maps = [affine_map<(d0) -> (d0 + 1)>, affine_map<(d0) -> (d0)>],
        iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: f32, %y: f32):
      %3 = "arith.cmpf"(%x, %y) <{fastmath = #arith.fastmath<none>, predicate = 4 : i64}> : (f32, f32) -> i1
      %4 = "arith.select"(%3, %x, %y) : (i1, f32, f32) -> f32
      "linalg.yield"(%4) : (f32) -> ()
    }) {foo.mark} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    "scf.yield"(%2) : (tensor<?xf32>) -> ()
  }) : (index, index, index, tensor<?xf32>) -> tensor<?xf32>
  "scf.if"(%b) ({
    "scf.yield"() : () -> ()
  }, {
  }) : (i1) -> ()
  "func.return"(%1) : (tensor<?xf32>) -> ()
"""


def test_loops_and_structured_ops() -> None:
    f = func(LOOPS, "index, i1, tensor<?xf32>", "tensor<?xf32>", "%n %b %t")
    _, loop, branch, _ = f.block.ops
    assert isinstance(loop, scf.For) and isinstance(branch, scf.If) and len(branch.branches[1].ops) == 1
    generic = loop.body.ops[0]
    assert isinstance(generic, linalg.Generic) and generic.iterators == ("parallel",) and generic.n_ins == 1
    assert generic.result.type is loop.body.args[1].type and "foo.mark" in generic.attrs
    assert not generic.maps[0].runs and generic.maps[1].is_identity
    assert generic.body.ops[0].attrs["predicate"] == "olt"


def test_constants() -> None:
    f = func(
        """
        %0 = "arith.constant"() <{value = true}> : () -> i1
        %1 = "arith.constant"() <{value = -7 : i32}> : () -> i32
        %2 = "arith.constant"() <{value = 0x7F800000 : f32}> : () -> f32
        %3 = "arith.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
        %4 = "arith.constant"() <{value = 1.0 : bf16}> : () -> bf16
        "func.return"() : () -> ()
        """
    )
    values = [op.attrs["value"] for op in f.block.ops if isinstance(op, arith.Constant)]
    assert values[:3] == [True, -7, float("inf")] and values[3].text == "dense<[1.0, 2.0]> : tensor<2xf32>"


BLOCKS = """
  "cf.cond_br"(%c, %x)[^bb2, ^bb1] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i32) -> ()
^bb2(%y: i32):
  %z = "foo.op"(%y) : (i32) -> i32
  "cf.br"()[^bb1] : () -> ()
^bb1:  // 2 preds
  "func.return"(USED) : (i32) -> ()
"""


def test_blocks() -> None:
    f = func(BLOCKS.replace("USED", "%x"), "i1, i32", "i32", "%c %x")
    first, second, third = f.body.blocks
    assert first.ops[0].successors == (second, third) and second.ops[1].successors == (third,)


def test_values_are_defined_on_every_way() -> None:
    with pytest.raises(ReadError, match=r"<text>:8:3: func.return uses a value that is not defined on every way here"):
        func(BLOCKS.replace("USED", "%z"), "i1, i32", "i32", "%c %x")


def test_a_value_may_be_used_above_its_definition_in_the_text() -> None:
    text = '"cf.br"()[^bb2] : () -> ()\n^bb1:\n"foo.use"(%z) : (i32) -> ()\n"func.return"() : () -> ()\n'
    f = func(text + '^bb2:\n%z = "foo.op"() : () -> i32\n"cf.br"()[^bb1] : () -> ()')
    used: Value = f.body.blocks[1].ops[0].operands[0]
    assert used.defining_op is f.body.blocks[2].ops[0]


def test_external_functions_and_attributes_of_arguments() -> None:
    module = read(
        """
        "func.func"() <{arg_attrs = [{bufferization.access = "read"}, {}], function_type = (tensor<?xf32>, i1) ->
            tensor<?xf32>, res_attrs = [{x.y = 1 : i64}], sym_name = "a b", sym_visibility = "private"}> ({
        }) {llvm.inline} : () -> ()
        """
    )
    f = module.func("a b")
    assert f.external and [str(t) for t in f.result_types] == ["tensor<?xf32>"]
    assert f.arg_attrs == [{"bufferization.access": "read"}, {}] and str(f.result_attrs[0]["x.y"]) == "1 : i64"
    assert set(f.attrs) == {"sym_visibility", "llvm.inline"}


def test_several_texts_in_one() -> None:
    text = '"foo.a"() : () -> ()\n// -----\n"foo.b"() : () -> ()\n// -----\n'
    modules = read_all(text, "two.mlir")
    assert [[str(i.loc) for i in m.items] for m in modules] == [['loc("two.mlir":1:1)'], ['loc("two.mlir":3:1)'], []]
    with pytest.raises(ReadError, match="two.mlir:3:1: "):
        read_all(text.replace('"foo.b"', "foo.b"), "two.mlir")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f() { return }", "1:1: only the generic form is read, which `mlir-opt -mlir-print-op-generic`"),
        ('"foo.op"(%x) : (i32) -> ()', "1:10: the value `%x` is not defined"),
        ('%0 = "foo.op"() : () -> ()', "1:6: foo.op has 0 results"),
        ('%0 = "foo.op"() : () -> i32 "foo.op"(%0) : (i64) -> ()', "1:38: `%0` is of type i32, not i64"),
        ('"foo.op"() : () -> i3x', "1:20: a type is expected, but found `i3x`"),
        ('"foo.op"() {a = 1 : tensor<4x>} : () -> ()', "1:21: a type is expected"),
        ('"foo.op"() {a = "b : () -> ()', "1:17: the string is not closed"),
        ('"foo.op"() {a = #x} : () -> ()', "1:17: the alias `#x` is not defined"),
        ('#a = #b\n#b = #a\n"foo.op"() {a = #a} : () -> ()', "1:6: `#b` is defined by itself"),
        ('"foo.op"() ({ "foo.in"()[^bb1] : () -> () }) : () -> ()', "the block `^bb1` is not defined"),
        ('"scf.if"() : () -> ()', "1:1: scf.if: its operands are (), where (i1) should be"),
        ('%0 = "arith.constant"() <{value = 1.0 : f32}> : () -> i32', "1:6: arith.constant: `1.0 : f32` is no i32"),
        ('"foo.op"() <{a = 1}> {a} : () -> ()', "`a` is a property and an attribute"),
        ("[" * 3, "an op's name in quotes is expected"),
        ("{-#\n dialect_resources: {}\n#-}", "1:1: resources (`{-# ... #-}`) are not read"),
        (
            '"func.func"() <{function_type = () -> (), sym_name = "f"}> ({\n"func.call"() <{callee = @g}> : () -> ()\n'
            '"func.return"() : () -> () }) : () -> ()', "2:1: no function `g` stands in the module",
        ),
        ('"foo.op"() {a = ' + "[" * 1000, "more than 100 brackets or regions stand in one another"),
        ('"foo.op"() ({' * 1000, "more than 100 brackets or regions stand in one another"),
    ],
)  # fmt: skip
def test_errors_name_the_place(text: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        read(text)
    assert message in str(caught.value)
    line, column = caught.value.location.line, caught.value.location.column
    shown = str(caught.value).splitlines()
    assert shown[0].startswith(f"<text>:{line}:{column + 1}: ")
    assert shown[1].strip() == text.splitlines()[line - 1].strip()
    assert shown[-1] == "    " + " " * column + "^"


WHOLE = '"func.func"() <{function_type = (index, i1, tensor<?xf32>) -> (tensor<?xf32>), sym_name = "f"}> ({' + (
    "^bb0(%n: index, %b: i1, %t: tensor<?xf32>):" + LOOPS + "}) : () -> ()"
)


@pytest.mark.slow
def test_any_text_is_read_or_refused() -> None:
    rng = random.Random(0)
    pieces = '" ( ) < > { } [ ] %0 %t ^bb0 -> : , 1 - i32 #a !b = f32 index'.split()
    for _ in range(400):
        text, at = WHOLE, rng.randrange(len(WHOLE))
        match rng.randrange(3):
            case 0:
                text = text[:at]
            case 1:
                text = text[:at] + rng.choice(pieces) + text[at:]
            case 2:
                text = text[:at] + text[at + rng.randrange(1, 9) :]
        try:
            read(text)
        except TracebufError as e:
            assert isinstance(e, ReadError)
