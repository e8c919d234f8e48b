// Ops of MLIR's that NumPy programs do not use, for test_declared.py: in each function the op before the return.
"builtin.module"() ({
  "func.func"() <{function_type = (i1, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>, sym_name = "select"}> ({
  ^bb0(%arg0: i1, %arg1: tensor<4xf64>, %arg2: tensor<4xf64>):
    %0 = "arith.select"(%arg0, %arg1, %arg2) : (i1, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%0) : (tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<3xf64>) -> tensor<3xf64>, sym_name = "constant"}> ({
  ^bb0(%arg0: tensor<3xf64>):
    %0 = "arith.constant"() <{value = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf64>}> : () -> tensor<3xf64>
    "func.return"(%0) : (tensor<3xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<3xf64>) -> tensor<3xf64>, sym_name = "alloc_tensor"}> ({
  ^bb0(%arg0: tensor<3xf64>):
    %0 = "bufferization.alloc_tensor"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> tensor<3xf64>
    "func.return"(%0) : (tensor<3xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<3xf64>) -> tensor<3xf64>, sym_name = "alloc_tensor_copy"}> ({
  ^bb0(%arg0: tensor<3xf64>):
    %0 = "bufferization.alloc_tensor"(%arg0) <{operandSegmentSizes = array<i32: 0, 1, 0>}> : (tensor<3xf64>) -> tensor<3xf64>
    "func.return"(%0) : (tensor<3xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf64>, tensor<1x3xf64>) -> tensor<3x3xf64>, sym_name = "concat"}> ({
  ^bb0(%arg0: tensor<2x3xf64>, %arg1: tensor<1x3xf64>):
    %0 = "tensor.concat"(%arg0, %arg1) <{dim = 0 : i64}> : (tensor<2x3xf64>, tensor<1x3xf64>) -> tensor<3x3xf64>
    "func.return"(%0) : (tensor<3x3xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64, f64) -> tensor<2xf64>, sym_name = "from_elements"}> ({
  ^bb0(%arg0: f64, %arg1: f64):
    %0 = "tensor.from_elements"(%arg0, %arg1) : (f64, f64) -> tensor<2xf64>
    "func.return"(%0) : (tensor<2xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf64>) -> tensor<4xf64>, sym_name = "generate"}> ({
  ^bb0(%arg0: tensor<4xf64>):
    %0 = "tensor.generate"() ({
    ^bb0(%arg1: index):
      %1 = "tensor.extract"(%arg0, %arg1) : (tensor<4xf64>, index) -> f64
      "tensor.yield"(%1) : (f64) -> ()
    }) : () -> tensor<4xf64>
    "func.return"(%0) : (tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf64>, f64) -> tensor<5x4xf64>, sym_name = "pad"}> ({
  ^bb0(%arg0: tensor<2x3xf64>, %arg1: f64):
    %0 = "tensor.pad"(%arg0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_high = array<i64: 2, 1>, static_low = array<i64: 1, 0>}> ({
    ^bb0(%arg2: index, %arg3: index):
      "tensor.yield"(%arg1) : (f64) -> ()
    }) : (tensor<2x3xf64>) -> tensor<5x4xf64>
    "func.return"(%0) : (tensor<5x4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (f64) -> tensor<2x3xf64>, sym_name = "splat"}> ({
  ^bb0(%arg0: f64):
    %0 = "tensor.splat"(%arg0) : (f64) -> tensor<2x3xf64>
    "func.return"(%0) : (tensor<2x3xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<6xf64>, tensor<2xindex>) -> tensor<?x?xf64>, sym_name = "reshape"}> ({
  ^bb0(%arg0: tensor<6xf64>, %arg1: tensor<2xindex>):
    %0 = "tensor.reshape"(%arg0, %arg1) : (tensor<6xf64>, tensor<2xindex>) -> tensor<?x?xf64>
    "func.return"(%0) : (tensor<?x?xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf64>) -> index, sym_name = "rank"}> ({
  ^bb0(%arg0: tensor<2x3xf64>):
    %0 = "tensor.rank"(%arg0) : (tensor<2x3xf64>) -> index
    "func.return"(%0) : (index) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8xf64>, f64) -> vector<4xf64>, sym_name = "transfer_read"}> ({
  ^bb0(%arg0: tensor<8xf64>, %arg1: f64):
    %0 = "arith.constant"() <{value = 2 : index}> : () -> index
    %1 = "vector.transfer_read"(%arg0, %0, %arg1) <{in_bounds = [true], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = affine_map<(d0) -> (d0)>}> : (tensor<8xf64>, index, f64) -> vector<4xf64>
    "func.return"(%1) : (vector<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf64>) -> tensor<4xf64>, sym_name = "execute_region"}> ({
  ^bb0(%arg0: tensor<4xf64>):
    %0 = "scf.execute_region"() ({
      %1 = "arith.constant"() <{value = 2.000000e+00 : f64}> : () -> f64
      %2 = "linalg.fill"(%1, %arg0) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%arg1: f64, %arg2: f64):
        "linalg.yield"(%arg1) : (f64) -> ()
      }) : (f64, tensor<4xf64>) -> tensor<4xf64>
      "scf.yield"(%2) : (tensor<4xf64>) -> ()
    }) : () -> tensor<4xf64>
    "func.return"(%0) : (tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>, sym_name = "forall"}> ({
  ^bb0(%arg0: tensor<4xf64>, %arg1: tensor<4xf64>):
    %0 = "scf.forall"(%arg1) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
    ^bb0(%arg2: index, %arg3: tensor<4xf64>):
      %1 = "tensor.extract_slice"(%arg0, %arg2) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<4xf64>, index) -> tensor<1xf64>
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%1, %arg3, %arg2) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<1xf64>, tensor<4xf64>, index) -> ()
      }) : () -> ()
    }) : (tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%0) : (tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>, sym_name = "map"}> ({
  ^bb0(%arg0: tensor<4xf64>, %arg1: tensor<4xf64>, %arg2: tensor<4xf64>):
    %0 = "linalg.map"(%arg0, %arg1, %arg2) ({
    ^bb0(%arg3: f64, %arg4: f64, %arg5: f64):
      %1 = "arith.addf"(%arg3, %arg4) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%1) : (f64) -> ()
    }) : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%0) : (tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf64>, tensor<2xf64>) -> tensor<2xf64>, sym_name = "reduce"}> ({
  ^bb0(%arg0: tensor<2x3xf64>, %arg1: tensor<2xf64>):
    %0 = "linalg.reduce"(%arg0, %arg1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg2: f64, %arg3: f64):
      %1 = "arith.addf"(%arg2, %arg3) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%1) : (f64) -> ()
    }) : (tensor<2x3xf64>, tensor<2xf64>) -> tensor<2xf64>
    "func.return"(%0) : (tensor<2xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>, sym_name = "transpose"}> ({
  ^bb0(%arg0: tensor<2x3xf64>, %arg1: tensor<3x2xf64>):
    %0 = "linalg.transpose"(%arg0, %arg1) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%arg2: f64, %arg3: f64):
      "linalg.yield"(%arg2) : (f64) -> ()
    }) : (tensor<2x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    "func.return"(%0) : (tensor<3x2xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>, sym_name = "transpose_square"}> ({
  ^bb0(%arg0: tensor<3x3xf64>, %arg1: tensor<3x3xf64>):
    %0 = "linalg.transpose"(%arg0, %arg1) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%arg2: f64, %arg3: f64):
      "linalg.yield"(%arg2) : (f64) -> ()
    }) : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    "func.return"(%0) : (tensor<3x3xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>, sym_name = "broadcast"}> ({
  ^bb0(%arg0: tensor<3xf64>, %arg1: tensor<2x3xf64>):
    %0 = "linalg.broadcast"(%arg0, %arg1) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg2: f64, %arg3: f64):
      "linalg.yield"(%arg2) : (f64) -> ()
    }) : (tensor<3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
    "func.return"(%0) : (tensor<2x3xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>, sym_name = "copy"}> ({
  ^bb0(%arg0: tensor<4xf64>, %arg1: tensor<4xf64>):
    %0 = "linalg.copy"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg2: f64, %arg3: f64):
      "linalg.yield"(%arg2) : (f64) -> ()
    }) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%0) : (tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>, sym_name = "add"}> ({
  ^bb0(%arg0: tensor<4xf64>, %arg1: tensor<4xf64>, %arg2: tensor<4xf64>):
    %0 = "linalg.add"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg3: f64, %arg4: f64, %arg5: f64):
      %1 = "arith.addf"(%arg3, %arg4) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%1) : (f64) -> ()
    }) : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%0) : (tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>, sym_name = "exp"}> ({
  ^bb0(%arg0: tensor<4xf64>, %arg1: tensor<4xf64>):
    %0 = "linalg.exp"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg2: f64, %arg3: f64):
      %1 = "math.exp"(%arg2) <{fastmath = #arith.fastmath<none>}> : (f64) -> f64
      "linalg.yield"(%1) : (f64) -> ()
    }) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%0) : (tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x2x3xf64>, tensor<2x3x2xf64>, tensor<2x2x2xf64>) -> tensor<2x2x2xf64>, sym_name = "batch_matmul"}> ({
  ^bb0(%arg0: tensor<2x2x3xf64>, %arg1: tensor<2x3x2xf64>, %arg2: tensor<2x2x2xf64>):
    %0 = "linalg.batch_matmul"(%arg0, %arg1, %arg2) <{indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg3: f64, %arg4: f64, %arg5: f64):
      %1 = "arith.mulf"(%arg3, %arg4) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      %2 = "arith.addf"(%arg5, %1) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%2) : (f64) -> ()
    }) : (tensor<2x2x3xf64>, tensor<2x3x2xf64>, tensor<2x2x2xf64>) -> tensor<2x2x2xf64>
    "func.return"(%0) : (tensor<2x2x2xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xi1>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>, sym_name = "select_named"}> ({
  ^bb0(%arg0: tensor<4xi1>, %arg1: tensor<4xf64>, %arg2: tensor<4xf64>, %arg3: tensor<4xf64>):
    %0 = "linalg.select"(%arg0, %arg1, %arg2, %arg3) <{operandSegmentSizes = array<i32: 3, 1>}> ({
    ^bb0(%arg4: i1, %arg5: f64, %arg6: f64, %arg7: f64):
      %1 = "arith.select"(%arg4, %arg5, %arg6) : (i1, f64, f64) -> f64
      "linalg.yield"(%1) : (f64) -> ()
    }) : (tensor<4xi1>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%0) : (tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>, sym_name = "softmax"}> ({
  ^bb0(%arg0: tensor<2x3xf64>, %arg1: tensor<2x3xf64>):
    %0 = "linalg.softmax"(%arg0, %arg1) <{dimension = 1 : i64}> : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
    "func.return"(%0) : (tensor<2x3xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8xf64>, tensor<8xf64>, f64) -> tensor<8xf64>, sym_name = "transfer_copy"}> ({
  ^bb0(%arg0: tensor<8xf64>, %arg1: tensor<8xf64>, %arg2: f64):
    %0 = "arith.constant"() <{value = 2 : index}> : () -> index
    %1 = "vector.transfer_read"(%arg0, %0, %arg2) <{in_bounds = [true], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = affine_map<(d0) -> (d0)>}> : (tensor<8xf64>, index, f64) -> vector<4xf64>
    %2 = "vector.transfer_write"(%1, %arg1, %0) <{in_bounds = [true], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = affine_map<(d0) -> (d0)>}> : (vector<4xf64>, tensor<8xf64>, index) -> tensor<8xf64>
    "func.return"(%2) : (tensor<8xf64>) -> ()
  }) : () -> ()
}) : () -> ()
