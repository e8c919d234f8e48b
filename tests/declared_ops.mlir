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
