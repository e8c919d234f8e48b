// Programs that leave their tensors if they are given the wrong numbers, in generic form.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?xf64>, index) -> f64, sym_name = "read"}> ({
  ^bb0(%arg31: tensor<?xf64>, %arg32: index):
    %18 = "tensor.extract"(%arg31, %arg32) : (tensor<?xf64>, index) -> f64
    "func.return"(%18) : (f64) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x?xf64>, index, index, f64) -> tensor<4x?xf64>, sym_name = "store"}> ({
  ^bb0(%arg27: tensor<4x?xf64>, %arg28: index, %arg29: index, %arg30: f64):
    %17 = "tensor.insert"(%arg30, %arg27, %arg28, %arg29) : (f64, tensor<4x?xf64>, index, index) -> tensor<4x?xf64>
    "func.return"(%17) : (tensor<4x?xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, index, index, index, f64) -> tensor<?xf64>, sym_name = "part"}> ({
  ^bb0(%arg20: tensor<?xf64>, %arg21: index, %arg22: index, %arg23: index, %arg24: f64):
    %14 = "tensor.extract_slice"(%arg20, %arg21, %arg22, %arg23) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: -9223372036854775808>}> : (tensor<?xf64>, index, index, index) -> tensor<?xf64>
    %15 = "linalg.fill"(%arg24, %14) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg25: f64, %arg26: f64):
      "linalg.yield"(%arg25) : (f64) -> ()
    }) : (f64, tensor<?xf64>) -> tensor<?xf64>
    %16 = "tensor.insert_slice"(%15, %arg20, %arg21, %arg22, %arg23) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: -9223372036854775808>}> : (tensor<?xf64>, tensor<?xf64>, index, index, index) -> tensor<?xf64>
    "func.return"(%16) : (tensor<?xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, f64) -> tensor<8xf64>, sym_name = "cast"}> ({
  ^bb0(%arg16: tensor<?xf64>, %arg17: f64):
    %12 = "tensor.cast"(%arg16) : (tensor<?xf64>) -> tensor<8xf64>
    %13 = "linalg.fill"(%arg17, %12) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg18: f64, %arg19: f64):
      "linalg.yield"(%arg18) : (f64) -> ()
    }) : (f64, tensor<8xf64>) -> tensor<8xf64>
    "func.return"(%13) : (tensor<8xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>, sym_name = "sum"}> ({
  ^bb0(%arg11: tensor<?xf64>, %arg12: tensor<?xf64>):
    %10 = "linalg.add"(%arg11, %arg12, %arg12) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg13: f64, %arg14: f64, %arg15: f64):
      %11 = "arith.addf"(%arg13, %arg14) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%11) : (f64) -> ()
    }) : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
    "func.return"(%10) : (tensor<?xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, tensor<?xf64>, index) -> tensor<?xf64>, sym_name = "store_part"}> ({
  ^bb0(%arg8: tensor<?xf64>, %arg9: tensor<?xf64>, %arg10: index):
    %9 = "tensor.insert_slice"(%arg9, %arg8, %arg10) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>}> : (tensor<?xf64>, tensor<?xf64>, index) -> tensor<?xf64>
    "func.return"(%9) : (tensor<?xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<8xf64>) -> tensor<8xf64>, sym_name = "known"}> ({
  ^bb0(%arg5: tensor<8xf64>):
    %2 = "arith.constant"() <{value = 0 : index}> : () -> index
    %3 = "arith.constant"() <{value = 1 : index}> : () -> index
    %4 = "arith.constant"() <{value = 8 : index}> : () -> index
    %5 = "scf.for"(%2, %4, %3, %arg5) ({
    ^bb0(%arg6: index, %arg7: tensor<8xf64>):
      %6 = "tensor.extract"(%arg7, %arg6) : (tensor<8xf64>, index) -> f64
      %7 = "arith.addf"(%6, %6) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      %8 = "tensor.insert"(%7, %arg7, %arg6) : (f64, tensor<8xf64>, index) -> tensor<8xf64>
      "scf.yield"(%8) : (tensor<8xf64>) -> ()
    }) : (index, index, index, tensor<8xf64>) -> tensor<8xf64>
    "func.return"(%5) : (tensor<8xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (index, index, f64) -> tensor<?x?xf64>, sym_name = "new"}> ({
  ^bb0(%arg0: index, %arg1: index, %arg2: f64):
    %0 = "tensor.empty"(%arg0, %arg1) : (index, index) -> tensor<?x?xf64>
    %1 = "linalg.fill"(%arg2, %0) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg3: f64, %arg4: f64):
      "linalg.yield"(%arg3) : (f64) -> ()
    }) : (f64, tensor<?x?xf64>) -> tensor<?x?xf64>
    "func.return"(%1) : (tensor<?x?xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>, sym_name = "product"}> ({
  ^bb0(%arg0: tensor<?x?xf64>, %arg1: tensor<?x?xf64>, %arg2: tensor<?x?xf64>):
    %0 = "linalg.matmul"(%arg0, %arg1, %arg2) <{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg3: f64, %arg4: f64, %arg5: f64):
      %1 = "arith.mulf"(%arg3, %arg4) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      %2 = "arith.addf"(%arg5, %1) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%2) : (f64) -> ()
    }) : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    "func.return"(%0) : (tensor<?x?xf64>) -> ()
  }) : () -> ()
}) : () -> ()
