"""Text that mlir-opt refuses although each op has the operands of its class: `opt` answers with line, column and
reason, and mlir-opt refuses it too, where it is installed."""

from __future__ import annotations

import subprocess

import pytest

from tests.mlir.oracle import MLIR_OPT, UNREGISTERED
from tracebuf import mlir


def program(args: list[str], op: str) -> str:
    """A function with this one op (and what stands before it) in its third line."""
    named = ", ".join(f"%{i}: {t}" for i, t in enumerate(args))
    head = f'"func.func"() <{{function_type = ({", ".join(args)}) -> (), sym_name = "f"}}> ({{\n'
    return f'{head}^bb0({named}):\n{op}\n"func.return"() : () -> ()\n}}) : () -> ()\n'


def refused(text: str, said: str, line: int = 3) -> None:
    with pytest.raises(mlir.ReadError) as caught:
        mlir.read(text, "a.mlir")
    assert str(caught.value).startswith(f"a.mlir:{line}:") and said in str(caught.value)
    if MLIR_OPT:
        run = subprocess.run([MLIR_OPT, "-", UNREGISTERED], input=text, capture_output=True, text=True)
        assert run.returncode, text


def accepted(text: str) -> None:
    mlir.read(text, "a.mlir")
    if MLIR_OPT:
        run = subprocess.run([MLIR_OPT, "-", UNREGISTERED], input=text, capture_output=True, text=True)
        assert not run.returncode, run.stderr


def cut(op: str, numbers: tuple[int, int, int], source: str, result: str) -> tuple[list[str], str]:
    """A slice of constants."""
    parts = zip(("static_offsets", "static_sizes", "static_strides"), numbers)
    attrs = ", ".join(f"{key} = array<i64: {n}>" for key, n in parts)
    counts = "operandSegmentSizes = array<i32: 1, 0, 0, 0>"
    return [source], f'%r = "{op}"(%0) <{{{counts}, {attrs}}}> : ({source}) -> {result}'


INSERT = """%r = "tensor.insert_slice"(%0, %1) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>,
 static_offsets = array<i64: 3>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}>
 : (tensor<2xi32>, tensor<4xi32>) -> tensor<4xi32>"""
EXPAND = """%r = "KIND.expand_shape"(%0) <{reassociation = [[0, 1]], static_output_shape = array<i64: 3, 3>}>
 : (KIND<4xi32>) -> KIND<3x3xi32>"""
COLLAPSE = '%r = "KIND.collapse_shape"(%0) <{reassociation = [[0, 1]]}> : (KIND<2x3xi32>) -> KIND<9xi32>'
CONCAT = '%r = "tensor.concat"(%0, %0) <{{dim = 0 : i64}}> : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<{}xi32>'


@pytest.mark.parametrize(
    ("args", "op", "said"),
    [
        (*cut("tensor.extract_slice", (3, 4, 1), "tensor<4xi32>", "tensor<4xi32>"), "its last element is 6, of 4"),
        (*cut("tensor.extract_slice", (0, 4, 2), "tensor<4xi32>", "tensor<4xi32>"), "its last element is 6, of 4"),
        (*cut("tensor.extract_slice", (-1, 2, 1), "tensor<4xi32>", "tensor<2xi32>"), "is negative"),
        (*cut("tensor.extract_slice", (2**63 - 1, 2, 1), "tensor<4xi32>", "tensor<2xi32>"), "is out of the 4 elements"),
        (*cut("memref.subview", (3, 2, 1), "memref<4xi32>", "memref<2xi32, strided<[1], offset: 3>>"), "is 4, of 4"),
        (["tensor<2xi32>", "tensor<4xi32>"], INSERT, "its last element is 4, of 4"),
        (["tensor<4xi32>"], EXPAND.replace("KIND", "tensor"), "4 elements along an axis are not the 9"),
        (["memref<4xi32>"], EXPAND.replace("KIND", "memref"), "4 elements along an axis are not the 9"),
        (["tensor<2x3xi32>"], COLLAPSE.replace("KIND", "tensor"), "9 elements along an axis are not the 6"),
        (["memref<2x3xi32>"], COLLAPSE.replace("KIND", "memref"), "9 elements along an axis are not the 6"),
        (["tensor<4x2xi32>"], CONCAT.format("9x2"), "the sizes along dimension 0 are 8 in sum"),
        (["tensor<4x2xi32>"], CONCAT.format("8x3"), "the sizes [2, 2] along dimension 1 differ, or are not 3"),
    ],
)  # fmt: skip
def test_what_constants_lead_out_of_is_refused(args: list[str], op: str, said: str) -> None:
    refused(program(args, op), said)


@pytest.mark.parametrize(
    ("args", "op"),
    [
        cut("tensor.extract_slice", (1, 3, 1), "tensor<4xi32>", "tensor<3xi32>"),
        cut("tensor.extract_slice", (3, 4, 1), "tensor<?xi32>", "tensor<4xi32>"),
        cut("memref.subview", (1, 2, 2), "memref<4xi32>", "memref<2xi32, strided<[2], offset: 1>>"),
        cut("memref.subview", (1, 2, 2), "memref<4xi32, strided<[?], offset: 5>>",
            "memref<2xi32, strided<[?], offset: ?>>"),
    ],
)  # fmt: skip
def test_slices_within_their_bounds_are_read(args: list[str], op: str) -> None:
    accepted(program(args, op))


LAYOUT = "memref<2xi32, strided<[{}], offset: {}>>"
REINTERPRET = """%r = "memref.reinterpret_cast"(%0) <{{operandSegmentSizes = array<i32: {}>,
 static_offsets = array<i64: {}>, static_sizes = array<i64: {}>, static_strides = array<i64: {}>}}>
 : (memref<4xi32>) -> {}"""


@pytest.mark.parametrize(
    ("args", "op", "said"),
    [
        (*cut("memref.subview", (1, 2, 1), "memref<4xi32>", "memref<2xi32>"), "the offset there is 1"),
        (*cut("memref.subview", (0, 2, 2), "memref<4xi32>", LAYOUT.format(1, 0)), "the stride there is 2"),
        (*cut("memref.subview", (1, 2, 1), LAYOUT.format(1, "?").replace("2", "4", 1), LAYOUT.format(1, 1)),
         "the offset there is not known"),
        (["memref<4xi32>"], REINTERPRET.format("1, 0, 0, 0", 0, 5, 1, "memref<4xi32>"), "sizes [5] and"),
        (["memref<4xi32>"], REINTERPRET.format("1, 0, 0, 0", 1, 3, 1, "memref<3xi32>"), "offset 1, sizes"),
        (["memref<4xi32>"], REINTERPRET.format("1, 0, 0, 0", 0, 4, 1, "memref<4xi64>"), "the elements of"),
        (["memref<4xi32>"], REINTERPRET.format("2, 0, 0, 0", 0, 4, 1, "memref<4xi32>"), "operandSegmentSizes"),
        (["memref<4xi32>"], REINTERPRET.format("1, 0, 0, 0", -4, 4, 1, "memref<4xi32, strided<[1], offset: -4>>"),
         "is negative"),
        (["memref<4xi32>"], '%r = "memref.cast"(%0) : (memref<4xi32>) -> memref<4xi32, strided<[2]>>',
         "another layout"),
        (["memref<4xi32>"], '%r = "memref.realloc"(%0) : (memref<4xi32>) -> memref<?xi32>', "0 sizes for"),
        (["memref<4xi32>"], '%r = "memref.realloc"(%0) : (memref<4xi32>) -> memref<6xi64>', "the elements of"),
        ([], '%r = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () '
         "-> memref<4xi32, strided<[?], offset: ?>>", "0 strides and offsets"),
        (["memref<4xi32>", "memref<4xi64>"], '"memref.copy"(%0, %1) : (memref<4xi32>, memref<4xi64>) -> ()',
         "no source"),
        (["memref<4xi32>", "memref<5xi32>"], '"memref.copy"(%0, %1) : (memref<4xi32>, memref<5xi32>) -> ()',
         "no source"),
        (["memref<4xi32>", "index"], '%r = "memref.load"(%0, %1) : (memref<4xi32>, index) -> i64', "is no i64"),
        (["i64", "memref<4xi32>", "index"], '"memref.store"(%0, %1, %2) : (i64, memref<4xi32>, index) -> ()',
         "is no i64"),
        (["tensor<4xi32>", "index"], '%r = "tensor.extract"(%0, %1) : (tensor<4xi32>, index) -> i64', "is no i64"),
        (["i64", "tensor<4xi32>", "index"],
         '%r = "tensor.insert"(%0, %1, %2) : (i64, tensor<4xi32>, index) -> tensor<4xi32>', "is no i64"),
        (["memref<4xi32>"], '%r = "bufferization.to_tensor"(%0) : (memref<4xi32>) -> tensor<5xi32>', "gives no"),
        (["tensor<4xi32>"], '%r = "bufferization.to_buffer"(%0) : (tensor<4xi32>) -> memref<4xi64>', "gives no"),
    ],
)  # fmt: skip
def test_types_that_others_do_not_give_are_refused(args: list[str], op: str, said: str) -> None:
    lines = program(args, op)
    refused(lines, said)


def constant(value: str, type: str) -> str:
    return program([], f'%c = "arith.constant"() <{{value = {value}}}> : () -> {type}')


@pytest.mark.parametrize(
    ("value", "type", "said"),
    [
        ("300 : i8", "i8", "`300` is out of the range of i8"),
        ("-129 : i8", "i8", "`-129` is out of the range of i8"),
        ("0x1FF : i8", "i8", "out of the range"),
        ("99999999999999999999999 : index", "index", "out of the range of index"),
        ("300 : i32", "i8", "`300 : i32` is no i8"),
        ("5 : i8", "i32", "`5 : i8` is no i32"),
        ("2 : i64", "i1", "`2 : i64` is no i1"),
        ("true", "index", "`true` is no index"),
        ("1.0 : f32", "f64", "`1.0 : f32` is no f64"),
        ("1 : tensor<4xi32>", "i32", "a number is no tensor<4xi32>"),
        ("dense<[99999999999, 1]> : tensor<2xi32>", "tensor<2xi32>", "`99999999999` is out of the range of i32"),
        ("dense<-129> : tensor<2xi8>", "tensor<2xi8>", "`-129` is out of the range of i8"),
        ("dense<2> : tensor<2xi1>", "tensor<2xi1>", "`2` is out of the range of i1"),
        ("dense<[1, 2, 3]> : tensor<2xi32>", "tensor<2xi32>", "the elements of shape [3] do not fit tensor<2xi32>"),
        ("dense<[[1, 2], [3]]> : tensor<2x2xi32>", "tensor<2x2xi32>", "the lists of elements differ in length"),
        ("dense<[1, 2]> : tensor<2xi32>", "tensor<2xi64>", "is no tensor<2xi64>"),
        ("dense<1.5> : tensor<2xi32>", "tensor<2xi32>", "`1.5` is no i32"),
        ("dense<1> : tensor<2xf32>", "tensor<2xf32>", "`1` is no f32"),
        ("dense<true> : tensor<2xi8>", "tensor<2xi8>", "`true` is no i8"),
        ("dense<1> : tensor<?xi32>", "tensor<?xi32>", "constant sizes"),
        ("dense<[1, 2]> : complex<f64>", "tensor<2xi32>", "constant sizes"),
    ],
)
def test_constants_out_of_their_type_are_refused(value: str, type: str, said: str) -> None:
    refused(constant(value, type), said)


@pytest.mark.parametrize(
    ("value", "type"),
    [
        ("255 : i8", "i8"), ("-128 : i8", "i8"), ("true", "i1"), ("1 : i1", "i1"), ("7", "i64"), ("1.5", "f64"),
        ("0xFF : i8", "i8"), ("dense<[]> : tensor<0xi32>", "tensor<0xi32>"),
        ("dense<> : tensor<0x2xi32>", "tensor<0x2xi32>"),
        ("dense<[[-1, 255], [0x0F, 0]]> : tensor<2x2xi8>", "tensor<2x2xi8>"),
        ("dense<[true, false]> : tensor<2xi1>", "tensor<2xi1>"),
        ("dense<[1.0, 0x7FC00000, -2.0e3]> : tensor<3xf32>", "tensor<3xf32>"),
        ("dense<[(1.0, 2.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>", "tensor<2xcomplex<f32>>"),
        ('dense<"0x0100000002000000"> : tensor<2xi32>', "tensor<2xi32>"),
        ("dense<1> : vector<4xi32>", "vector<4xi32>"), ("dense<5> : tensor<i32>", "tensor<i32>"),
        ("dense<1> : tensor<2xi7>", "tensor<2xi7>"), ("dense<[1, -1]> : tensor<2xindex>", "tensor<2xindex>"),
    ],
)  # fmt: skip
def test_constants_of_their_type_are_read(value: str, type: str) -> None:
    accepted(constant(value, type))


GENERIC = """%r = "linalg.generic"(%0, %1) <{{indexing_maps = [{}, affine_map<(d0) -> (d0)>],
 iterator_types = [{}], operandSegmentSizes = array<i32: 1, 1>}}> ({{
^bb0(%x: i32, %y: i32):
  "linalg.yield"(%x) : (i32) -> ()
}}) : (tensor<4xi32>, tensor<{}xi32>) -> tensor<{}xi32>"""
PARALLEL = "#linalg.iterator_type<parallel>"


@pytest.mark.parametrize(
    ("map", "kind", "size", "said"),
    [
        ("affine_map<(d0) -> (d1)>", PARALLEL, 4, "`d1` is not declared"),
        ("affine_map<(d0) -> (d-1)>", PARALLEL, 4, "`d` is not declared"),
        ("affine_map<(d0) -> (d0 floordiv 0)>", PARALLEL, 4, "division by zero"),
        ("affine_map<(d0) -> (d0)>", PARALLEL, 5, "sizes 4 and 5"),
        ("affine_map<(d0) -> (d0)>", '"foo"', 4, "`foo` is no kind of loop"),
    ],
)
def test_maps_and_shapes_of_structured_ops(map: str, kind: str, size: int, said: str) -> None:
    refused(program(["tensor<4xi32>", f"tensor<{size}xi32>"], GENERIC.format(map, kind, size, size)), said)


def test_axes_that_are_no_permutation_are_refused() -> None:
    kind = "tensor<2x3xi32>"
    op = f"""%r = "linalg.transpose"(%0, %1) <{{permutation = array<i64: 0, 0>}}> ({{
^bb0(%x: i32, %y: i32):
  "linalg.yield"(%x) : (i32) -> ()
}}) : ({kind}, {kind}) -> {kind}"""
    refused(program([kind, kind], op), "do not say which loops")


def scalar_op(name: str, inputs: str, result: str) -> str:
    args = inputs.split(", ")
    attrs = " <{predicate = 0 : i64}>" if "cmp" in name else ""
    used = ", ".join(f"%{i}" for i in range(len(args)))
    return program(args, f'%r = "{name}"({used}){attrs} : ({inputs}) -> {result}')


@pytest.mark.parametrize(
    ("name", "inputs", "result", "said"),
    [
        ("arith.addi", "i32, i64", "i32", "are of one type, not of i32, i64, i32"),
        ("arith.addi", "i32, i32", "i64", "are of one type"),
        ("arith.addi", "f32, f32", "f32", "of the kind integer or index, which f32 is not"),
        ("arith.addi", "memref<4xi32>, memref<4xi32>", "memref<4xi32>", "which memref<4xi32> is not"),
        ("arith.addi", "tensor<4xi32>, tensor<5xi32>", "tensor<4xi32>", "are of one type"),
        ("arith.addi", "none, none", "none", "which none is not"),
        ("arith.addi", "si32, si32", "si32", "which si32 is not"),
        ("arith.shli", "i32, i8", "i32", "are of one type"),
        ("arith.divsi", "f32, f32", "f32", "which f32 is not"),
        ("arith.andi", "f64, f64", "f64", "which f64 is not"),
        ("arith.muli", "memref<4xi32>, index", "index", "which memref<4xi32> is not"),
        ("arith.addf", "i32, i32", "i32", "of the kind float, which i32 is not"),
        ("arith.maximumf", "i32, i32", "i32", "which i32 is not"),
        ("arith.negf", "i32", "i32", "which i32 is not"),
        ("math.absf", "i32", "i32", "which i32 is not"),
        ("math.absi", "f32", "f32", "which f32 is not"),
        ("math.sqrt", "f32", "f64", "are of one type"),
        ("math.atan2", "i32, i32", "i32", "which i32 is not"),
        ("index.add", "i32, i32", "i32", "of the kind index"),
        ("arith.cmpi", "i32, i32", "i32", "of i32 it gives i1"),
        ("arith.cmpi", "tensor<4xi32>, tensor<4xi32>", "i1", "it gives i1 of that shape"),
        ("arith.cmpf", "i32, i32", "i1", "which i32 is not"),
        ("arith.extsi", "i32", "i8", "its result is wider"),
        ("arith.extsi", "i32", "i32", "its result is wider"),
        ("arith.extui", "f32", "f64", "it makes integer of integer"),
        ("arith.trunci", "i8", "i32", "its result is narrower"),
        ("arith.extf", "f64", "f32", "its result is wider"),
        ("arith.truncf", "f64", "i32", "it makes float of float"),
        ("arith.sitofp", "f32", "f64", "it makes float of integer"),
        ("arith.fptosi", "i32", "i32", "it makes integer of float"),
        ("arith.index_cast", "i32", "i64", "between index and integers"),
        ("arith.index_cast", "index", "index", "between index and integers"),
        ("index.castu", "i32", "i64", "between index and integers"),
        ("arith.bitcast", "f32", "i64", "f32 gives no i64"),
        ("arith.bitcast", "index", "i64", "index gives no i64"),
        ("arith.select", "i32, i32, i32", "i32", "its condition is i1"),
        ("arith.select", "i1, tensor<4xi32>, tensor<5xi32>", "tensor<4xi32>", "between values of one type"),
    ],
)
def test_types_of_ops_on_numbers(name: str, inputs: str, result: str, said: str) -> None:
    refused(scalar_op(name, inputs, result), said)


@pytest.mark.parametrize(
    ("name", "inputs", "result"),
    [
        ("arith.addi", "i7, i7", "i7"), ("arith.addi", "index, index", "index"),
        ("arith.addi", "tensor<4xi32>, tensor<?xi32>", "tensor<4xi32>"), ("arith.addf", "bf16, bf16", "bf16"),
        ("arith.addf", "vector<4xf32>, vector<4xf32>", "vector<4xf32>"),
        ("arith.cmpi", "tensor<4xi32>, tensor<4xi32>", "tensor<4xi1>"),
        ("arith.select", "tensor<4xi1>, tensor<4xi32>, tensor<4xi32>", "tensor<4xi32>"),
        ("arith.select", "i1, memref<4xi32>, memref<4xi32>", "memref<4xi32>"),
        ("arith.index_cast", "tensor<4xindex>", "tensor<4xi32>"), ("arith.bitcast", "tensor<4xf32>", "tensor<4xi32>"),
        ("arith.extf", "bf16", "f32"), ("arith.trunci", "i64", "i1"), ("arith.extf", "f8E4M3FN", "f32"),
        ("math.fma", "f32, f32, f32", "f32"), ("math.isnan", "f32", "i1"),
    ],
)  # fmt: skip
def test_types_that_ops_on_numbers_take(name: str, inputs: str, result: str) -> None:
    accepted(scalar_op(name, inputs, result))
