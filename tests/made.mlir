// What tests/test_made.py runs, in generic form.
"builtin.module"() ({
  "func.func"() <{function_type = (f64, f64, index) -> (tensor<2x2xf64>, tensor<f64>, tensor<2xf64>), sym_name = "elements"}> ({
  ^bb0(%arg72: f64, %arg73: f64, %arg74: index):
    %63 = "tensor.from_elements"(%arg72, %arg73, %arg73, %arg72) : (f64, f64, f64, f64) -> tensor<2x2xf64>
    %64 = "tensor.from_elements"(%arg73) : (f64) -> tensor<f64>
    %65 = "tensor.from_elements"(%arg72, %arg73) : (f64, f64) -> tensor<2xf64>
    %66 = "tensor.insert"(%arg73, %65, %arg74) : (f64, tensor<2xf64>, index) -> tensor<2xf64>
    "func.return"(%63, %64, %66) : (tensor<2x2xf64>, tensor<f64>, tensor<2xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (f32, index, index) -> tensor<?x3x?xf32>, sym_name = "splat"}> ({
  ^bb0(%arg69: f32, %arg70: index, %arg71: index):
    %62 = "tensor.splat"(%arg69, %arg70, %arg71) : (f32, index, index) -> tensor<?x3x?xf32>
    "func.return"(%62) : (tensor<?x3x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, index) -> (tensor<?x?xf64>, tensor<3xindex>), sym_name = "generate"}> ({
  ^bb0(%arg64: tensor<?xf64>, %arg65: index):
    %56 = "tensor.generate"(%arg65, %arg65) ({
    ^bb0(%arg67: index, %arg68: index):
      %59 = "tensor.extract"(%arg64, %arg68) : (tensor<?xf64>, index) -> f64
      %60 = "tensor.extract"(%arg64, %arg67) : (tensor<?xf64>, index) -> f64
      %61 = "arith.subf"(%59, %60) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "tensor.yield"(%61) : (f64) -> ()
    }) : (index, index) -> tensor<?x?xf64>
    %57 = "tensor.generate"() ({
    ^bb0(%arg66: index):
      %58 = "arith.muli"(%arg66, %arg66) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      "tensor.yield"(%58) : (index) -> ()
    }) : () -> tensor<3xindex>
    "func.return"(%56, %57) : (tensor<?x?xf64>, tensor<3xindex>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x3xf64>, f64, index) -> (tensor<?x?xf64>, tensor<?x5xf64>), sym_name = "pad"}> ({
  ^bb0(%arg57: tensor<?x3xf64>, %arg58: f64, %arg59: index):
    %51 = "tensor.pad"(%arg57, %arg59, %arg59) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_high = array<i64: -9223372036854775808, 0>, static_low = array<i64: 1, -9223372036854775808>}> ({
    ^bb0(%arg62: index, %arg63: index):
      "tensor.yield"(%arg58) : (f64) -> ()
    }) : (tensor<?x3xf64>, index, index) -> tensor<?x?xf64>
    %52 = "tensor.pad"(%arg57) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_high = array<i64: 1, 1>, static_low = array<i64: 0, 1>}> ({
    ^bb0(%arg60: index, %arg61: index):
      %53 = "arith.addi"(%arg60, %arg61) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %54 = "arith.index_cast"(%53) : (index) -> i64
      %55 = "arith.sitofp"(%54) : (i64) -> f64
      "tensor.yield"(%55) : (f64) -> ()
    }) : (tensor<?x3xf64>) -> tensor<?x5xf64>
    "func.return"(%51, %52) : (tensor<?x?xf64>, tensor<?x5xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x3xf64>, tensor<2x3xf64>) -> (tensor<?x3xf64>, tensor<2x6xf64>), sym_name = "concat"}> ({
  ^bb0(%arg55: tensor<?x3xf64>, %arg56: tensor<2x3xf64>):
    %49 = "tensor.concat"(%arg55, %arg56, %arg55) <{dim = 0 : i64}> : (tensor<?x3xf64>, tensor<2x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    %50 = "tensor.concat"(%arg56, %arg56) <{dim = 1 : i64}> : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x6xf64>
    "func.return"(%49, %50) : (tensor<?x3xf64>, tensor<2x6xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<6xf64>, tensor<2xindex>, f64, index) -> (tensor<?x?xf64>, tensor<6xf64>), sym_name = "reshape"}> ({
  ^bb0(%arg51: tensor<6xf64>, %arg52: tensor<2xindex>, %arg53: f64, %arg54: index):
    %47 = "tensor.reshape"(%arg51, %arg52) : (tensor<6xf64>, tensor<2xindex>) -> tensor<?x?xf64>
    %48 = "tensor.insert"(%arg53, %47, %arg54, %arg54) : (f64, tensor<?x?xf64>, index, index) -> tensor<?x?xf64>
    "func.return"(%48, %arg51) : (tensor<?x?xf64>, tensor<6xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, f64, index, index) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>), sym_name = "scratch"}> ({
  ^bb0(%arg45: tensor<?xf64>, %arg46: f64, %arg47: index, %arg48: index):
    %43 = "bufferization.alloc_tensor"(%arg45) <{operandSegmentSizes = array<i32: 0, 1, 0>}> : (tensor<?xf64>) -> tensor<?xf64>
    %44 = "tensor.insert"(%arg46, %43, %arg47) : (f64, tensor<?xf64>, index) -> tensor<?xf64>
    %45 = "bufferization.alloc_tensor"(%arg48) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (index) -> tensor<?xf64>
    %46 = "linalg.fill"(%arg46, %45) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg49: f64, %arg50: f64):
      "linalg.yield"(%arg49) : (f64) -> ()
    }) : (f64, tensor<?xf64>) -> tensor<?xf64>
    "func.return"(%44, %46, %arg45) : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (i1, tensor<8xf64>, tensor<4xf64>, f64, index) -> (tensor<4xf64>, tensor<8xf64>), sym_name = "select"}> ({
  ^bb0(%arg40: i1, %arg41: tensor<8xf64>, %arg42: tensor<4xf64>, %arg43: f64, %arg44: index):
    %40 = "tensor.extract_slice"(%arg41) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 1>, static_sizes = array<i64: 4>, static_strides = array<i64: 2>}> : (tensor<8xf64>) -> tensor<4xf64>
    %41 = "arith.select"(%arg40, %40, %arg42) : (i1, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    %42 = "tensor.insert"(%arg43, %41, %arg44) : (f64, tensor<4xf64>, index) -> tensor<4xf64>
    "func.return"(%42, %arg41) : (tensor<4xf64>, tensor<8xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (f32, index) -> (tensor<2x2xf32>, tensor<3xi8>, tensor<2xi1>, tensor<4xf64>, tensor<2xf32>), sym_name = "constants"}> ({
  ^bb0(%arg35: f32, %arg36: index):
    %31 = "arith.constant"() <{value = dense<[[1.500000e+00, -2.000000e+00], [0x7F800000, 3.000000e+00]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
    %32 = "tensor.insert"(%arg35, %31, %arg36, %arg36) : (f32, tensor<2x2xf32>, index, index) -> tensor<2x2xf32>
    %33 = "arith.constant"() <{value = dense<[1, -128, 127]> : tensor<3xi8>}> : () -> tensor<3xi8>
    %34 = "arith.constant"() <{value = dense<[true, false]> : tensor<2xi1>}> : () -> tensor<2xi1>
    %35 = "arith.constant"() <{value = dense<2.500000e-01> : tensor<4xf64>}> : () -> tensor<4xf64>
    %36 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    %37 = "arith.constant"() <{value = dense<2.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    %38 = "linalg.add"(%36, %37, %36) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg37: f32, %arg38: f32, %arg39: f32):
      %39 = "arith.addf"(%arg37, %arg38) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%39) : (f32) -> ()
    }) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%32, %33, %34, %35, %38) : (tensor<2x2xf32>, tensor<3xi8>, tensor<2xi1>, tensor<4xf64>, tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<8xf64>) -> tensor<8xf64>, sym_name = "forall"}> ({
  ^bb0(%arg30: tensor<8xf64>):
    %26 = "scf.forall"(%arg30) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
    ^bb0(%arg31: index, %arg32: tensor<8xf64>):
      %27 = "arith.addi"(%arg31, %arg31) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %28 = "tensor.extract_slice"(%arg32, %27) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (tensor<8xf64>, index) -> tensor<2xf64>
      %29 = "linalg.square"(%28, %28) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%arg33: f64, %arg34: f64):
        %30 = "arith.mulf"(%arg33, %arg33) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        "linalg.yield"(%30) : (f64) -> ()
      }) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%29, %arg32, %27) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (tensor<2xf64>, tensor<8xf64>, index) -> ()
      }) : () -> ()
    }) : (tensor<8xf64>) -> tensor<8xf64>
    "func.return"(%26) : (tensor<8xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3x4xf64>, tensor<4x3xf64>, f64) -> (tensor<4x3xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x3xf64>, tensor<3x4xf64>), sym_name = "named"}> ({
  ^bb0(%arg16: tensor<3x4xf64>, %arg17: tensor<4x3xf64>, %arg18: f64):
    %12 = "tensor.empty"() : () -> tensor<4x3xf64>
    %13 = "linalg.transpose"(%arg16, %12) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%arg28: f64, %arg29: f64):
      "linalg.yield"(%arg28) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    %14 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<3xf64>}> : () -> tensor<3xf64>
    %15 = "linalg.reduce"(%arg16, %14) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg26: f64, %arg27: f64):
      %25 = "arith.maximumf"(%arg27, %arg26) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%25) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<3xf64>) -> tensor<3xf64>
    %16 = "tensor.empty"() : () -> tensor<3x4xf64>
    %17 = "linalg.map"(%arg16, %16) ({
    ^bb0(%arg24: f64, %arg25: f64):
      %24 = "arith.mulf"(%arg24, %arg18) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%24) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
    %18 = "tensor.empty"() : () -> tensor<3x3xf64>
    %19 = "linalg.fill"(%arg18, %18) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg22: f64, %arg23: f64):
      "linalg.yield"(%arg22) : (f64) -> ()
    }) : (f64, tensor<3x3xf64>) -> tensor<3x3xf64>
    %20 = "linalg.matmul"(%arg16, %arg17, %19) <{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg19: f64, %arg20: f64, %arg21: f64):
      %22 = "arith.mulf"(%arg19, %arg20) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      %23 = "arith.addf"(%arg21, %22) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%23) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<4x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %21 = "linalg.softmax"(%arg16, %16) <{dimension = 1 : i64}> : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
    "func.return"(%13, %15, %17, %20, %21) : (tensor<4x3xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x3xf64>, tensor<3x4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf64>, index) -> tensor<4xf64>, sym_name = "other_place"}> ({
  ^bb0(%arg10: tensor<4xf64>, %arg11: index):
    %6 = "arith.constant"() <{value = 3 : index}> : () -> index
    %7 = "scf.forall"(%arg11, %arg10) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: -9223372036854775808>}> ({
    ^bb0(%arg12: index, %arg13: tensor<4xf64>):
      %8 = "arith.subi"(%6, %arg12) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %9 = "tensor.extract_slice"(%arg13, %arg12) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<4xf64>, index) -> tensor<1xf64>
      %10 = "linalg.square"(%9, %9) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%arg14: f64, %arg15: f64):
        %11 = "arith.mulf"(%arg14, %arg14) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        "linalg.yield"(%11) : (f64) -> ()
      }) : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%10, %arg13, %8) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<1xf64>, tensor<4xf64>, index) -> ()
      }) : () -> ()
    }) : (index, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%7) : (tensor<4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {bufferization.writable = false}], function_type = (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>, sym_name = "map_that_adds"}> ({
  ^bb0(%arg6: tensor<4xf64>, %arg7: tensor<4xf64>):
    %4 = "linalg.map"(%arg6, %arg7) ({
    ^bb0(%arg8: f64, %arg9: f64):
      %5 = "arith.addf"(%arg8, %arg9) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%5) : (f64) -> ()
    }) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%4) : (tensor<4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf64>, tensor<4xf64>, f64, index) -> (f64, tensor<4xf64>), sym_name = "map_of_the_old"}> ({
  ^bb0(%arg0: tensor<4xf64>, %arg1: tensor<4xf64>, %arg2: f64, %arg3: index):
    %0 = "tensor.insert"(%arg2, %arg1, %arg3) : (f64, tensor<4xf64>, index) -> tensor<4xf64>
    %1 = "tensor.extract"(%0, %arg3) : (tensor<4xf64>, index) -> f64
    %2 = "linalg.map"(%arg0, %arg1) ({
    ^bb0(%arg4: f64, %arg5: f64):
      %3 = "arith.addf"(%arg4, %arg5) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%3) : (f64) -> ()
    }) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%1, %2) : (f64, tensor<4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
