// The first half of a replaces the second, in the generic form of mlir-opt -mlir-print-op-generic.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<16xf64>) -> tensor<16xf64>, sym_name = "halves"}> ({
  ^bb0(%arg0: tensor<16xf64>):
    %0 = "tensor.extract_slice"(%arg0) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 8>, static_strides = array<i64: 1>}> : (tensor<16xf64>) -> tensor<8xf64>
    %1 = "tensor.insert_slice"(%0, %arg0) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 8>, static_sizes = array<i64: 8>, static_strides = array<i64: 1>}> : (tensor<8xf64>, tensor<16xf64>) -> tensor<16xf64>
    "func.return"(%1) : (tensor<16xf64>) -> ()
  }) : () -> ()
}) : () -> ()
