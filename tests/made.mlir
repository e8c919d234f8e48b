// What tests/test_made.py runs, in generic form.
"builtin.module"() ({
  "func.func"() <{function_type = (f64, f64, index) -> (tensor<2x2xf64>, tensor<f64>, tensor<2xf64>), sym_name = "elements"}> ({
  ^bb0(%arg56: f64, %arg57: f64, %arg58: index):
    %51 = "tensor.from_elements"(%arg56, %arg57, %arg57, %arg56) : (f64, f64, f64, f64) -> tensor<2x2xf64>
    %52 = "tensor.from_elements"(%arg57) : (f64) -> tensor<f64>
    %53 = "tensor.from_elements"(%arg56, %arg57) : (f64, f64) -> tensor<2xf64>
    %54 = "tensor.insert"(%arg57, %53, %arg58) : (f64, tensor<2xf64>, index) -> tensor<2xf64>
    "func.return"(%51, %52, %54) : (tensor<2x2xf64>, tensor<f64>, tensor<2xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (f32, index, index) -> tensor<?x3x?xf32>, sym_name = "splat"}> ({
  ^bb0(%arg53: f32, %arg54: index, %arg55: index):
    %50 = "tensor.splat"(%arg53, %arg54, %arg55) : (f32, index, index) -> tensor<?x3x?xf32>
    "func.return"(%50) : (tensor<?x3x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, index) -> (tensor<?x?xf64>, tensor<3xindex>), sym_name = "generate"}> ({
  ^bb0(%arg48: tensor<?xf64>, %arg49: index):
    %44 = "tensor.generate"(%arg49, %arg49) ({
    ^bb0(%arg51: index, %arg52: index):
      %47 = "tensor.extract"(%arg48, %arg52) : (tensor<?xf64>, index) -> f64
      %48 = "tensor.extract"(%arg48, %arg51) : (tensor<?xf64>, index) -> f64
      %49 = "arith.subf"(%47, %48) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "tensor.yield"(%49) : (f64) -> ()
    }) : (index, index) -> tensor<?x?xf64>
    %45 = "tensor.generate"() ({
    ^bb0(%arg50: index):
      %46 = "arith.muli"(%arg50, %arg50) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      "tensor.yield"(%46) : (index) -> ()
    }) : () -> tensor<3xindex>
    "func.return"(%44, %45) : (tensor<?x?xf64>, tensor<3xindex>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x3xf64>, f64, index) -> (tensor<?x?xf64>, tensor<?x5xf64>), sym_name = "pad"}> ({
  ^bb0(%arg41: tensor<?x3xf64>, %arg42: f64, %arg43: index):
    %39 = "tensor.pad"(%arg41, %arg43, %arg43) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_high = array<i64: -9223372036854775808, 0>, static_low = array<i64: 1, -9223372036854775808>}> ({
    ^bb0(%arg46: index, %arg47: index):
      "tensor.yield"(%arg42) : (f64) -> ()
    }) : (tensor<?x3xf64>, index, index) -> tensor<?x?xf64>
    %40 = "tensor.pad"(%arg41) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_high = array<i64: 1, 1>, static_low = array<i64: 0, 1>}> ({
    ^bb0(%arg44: index, %arg45: index):
      %41 = "arith.addi"(%arg44, %arg45) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %42 = "arith.index_cast"(%41) : (index) -> i64
      %43 = "arith.sitofp"(%42) : (i64) -> f64
      "tensor.yield"(%43) : (f64) -> ()
    }) : (tensor<?x3xf64>) -> tensor<?x5xf64>
    "func.return"(%39, %40) : (tensor<?x?xf64>, tensor<?x5xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x3xf64>, tensor<2x3xf64>) -> (tensor<?x3xf64>, tensor<2x6xf64>), sym_name = "concat"}> ({
  ^bb0(%arg39: tensor<?x3xf64>, %arg40: tensor<2x3xf64>):
    %37 = "tensor.concat"(%arg39, %arg40, %arg39) <{dim = 0 : i64}> : (tensor<?x3xf64>, tensor<2x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    %38 = "tensor.concat"(%arg40, %arg40) <{dim = 1 : i64}> : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x6xf64>
    "func.return"(%37, %38) : (tensor<?x3xf64>, tensor<2x6xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<6xf64>, tensor<2xindex>, f64, index) -> (tensor<?x?xf64>, tensor<6xf64>), sym_name = "reshape"}> ({
  ^bb0(%arg35: tensor<6xf64>, %arg36: tensor<2xindex>, %arg37: f64, %arg38: index):
    %35 = "tensor.reshape"(%arg35, %arg36) : (tensor<6xf64>, tensor<2xindex>) -> tensor<?x?xf64>
    %36 = "tensor.insert"(%arg37, %35, %arg38, %arg38) : (f64, tensor<?x?xf64>, index, index) -> tensor<?x?xf64>
    "func.return"(%36, %arg35) : (tensor<?x?xf64>, tensor<6xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, f64, index, index) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>), sym_name = "scratch"}> ({
  ^bb0(%arg29: tensor<?xf64>, %arg30: f64, %arg31: index, %arg32: index):
    %31 = "bufferization.alloc_tensor"(%arg29) <{operandSegmentSizes = array<i32: 0, 1, 0>}> : (tensor<?xf64>) -> tensor<?xf64>
    %32 = "tensor.insert"(%arg30, %31, %arg31) : (f64, tensor<?xf64>, index) -> tensor<?xf64>
    %33 = "bufferization.alloc_tensor"(%arg32) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (index) -> tensor<?xf64>
    %34 = "linalg.fill"(%arg30, %33) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg33: f64, %arg34: f64):
      "linalg.yield"(%arg33) : (f64) -> ()
    }) : (f64, tensor<?xf64>) -> tensor<?xf64>
    "func.return"(%32, %34, %arg29) : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (i1, tensor<8xf64>, tensor<4xf64>, f64, index) -> (tensor<4xf64>, tensor<8xf64>), sym_name = "select"}> ({
  ^bb0(%arg24: i1, %arg25: tensor<8xf64>, %arg26: tensor<4xf64>, %arg27: f64, %arg28: index):
    %28 = "tensor.extract_slice"(%arg25) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 1>, static_sizes = array<i64: 4>, static_strides = array<i64: 2>}> : (tensor<8xf64>) -> tensor<4xf64>
    %29 = "arith.select"(%arg24, %28, %arg26) : (i1, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    %30 = "tensor.insert"(%arg27, %29, %arg28) : (f64, tensor<4xf64>, index) -> tensor<4xf64>
    "func.return"(%30, %arg25) : (tensor<4xf64>, tensor<8xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (f32, index) -> (tensor<2x2xf32>, tensor<3xi8>, tensor<2xi1>, tensor<4xf64>, tensor<2xf32>), sym_name = "constants"}> ({
  ^bb0(%arg19: f32, %arg20: index):
    %19 = "arith.constant"() <{value = dense<[[1.500000e+00, -2.000000e+00], [0x7F800000, 3.000000e+00]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
    %20 = "tensor.insert"(%arg19, %19, %arg20, %arg20) : (f32, tensor<2x2xf32>, index, index) -> tensor<2x2xf32>
    %21 = "arith.constant"() <{value = dense<[1, -128, 127]> : tensor<3xi8>}> : () -> tensor<3xi8>
    %22 = "arith.constant"() <{value = dense<[true, false]> : tensor<2xi1>}> : () -> tensor<2xi1>
    %23 = "arith.constant"() <{value = dense<2.500000e-01> : tensor<4xf64>}> : () -> tensor<4xf64>
    %24 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    %25 = "arith.constant"() <{value = dense<2.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    %26 = "linalg.add"(%24, %25, %24) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg21: f32, %arg22: f32, %arg23: f32):
      %27 = "arith.addf"(%arg21, %arg22) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%27) : (f32) -> ()
    }) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%20, %21, %22, %23, %26) : (tensor<2x2xf32>, tensor<3xi8>, tensor<2xi1>, tensor<4xf64>, tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<8xf64>) -> tensor<8xf64>, sym_name = "forall"}> ({
  ^bb0(%arg14: tensor<8xf64>):
    %14 = "scf.forall"(%arg14) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
    ^bb0(%arg15: index, %arg16: tensor<8xf64>):
      %15 = "arith.addi"(%arg15, %arg15) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %16 = "tensor.extract_slice"(%arg16, %15) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (tensor<8xf64>, index) -> tensor<2xf64>
      %17 = "linalg.square"(%16, %16) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%arg17: f64, %arg18: f64):
        %18 = "arith.mulf"(%arg17, %arg17) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        "linalg.yield"(%18) : (f64) -> ()
      }) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%17, %arg16, %15) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (tensor<2xf64>, tensor<8xf64>, index) -> ()
      }) : () -> ()
    }) : (tensor<8xf64>) -> tensor<8xf64>
    "func.return"(%14) : (tensor<8xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3x4xf64>, tensor<4x3xf64>, f64) -> (tensor<4x3xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x3xf64>, tensor<3x4xf64>), sym_name = "named"}> ({
  ^bb0(%arg0: tensor<3x4xf64>, %arg1: tensor<4x3xf64>, %arg2: f64):
    %0 = "tensor.empty"() : () -> tensor<4x3xf64>
    %1 = "linalg.transpose"(%arg0, %0) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%arg12: f64, %arg13: f64):
      "linalg.yield"(%arg12) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    %2 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<3xf64>}> : () -> tensor<3xf64>
    %3 = "linalg.reduce"(%arg0, %2) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg10: f64, %arg11: f64):
      %13 = "arith.maximumf"(%arg11, %arg10) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%13) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<3xf64>) -> tensor<3xf64>
    %4 = "tensor.empty"() : () -> tensor<3x4xf64>
    %5 = "linalg.map"(%arg0, %4) ({
    ^bb0(%arg8: f64, %arg9: f64):
      %12 = "arith.mulf"(%arg8, %arg2) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%12) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
    %6 = "tensor.empty"() : () -> tensor<3x3xf64>
    %7 = "linalg.fill"(%arg2, %6) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg6: f64, %arg7: f64):
      "linalg.yield"(%arg6) : (f64) -> ()
    }) : (f64, tensor<3x3xf64>) -> tensor<3x3xf64>
    %8 = "linalg.matmul"(%arg0, %arg1, %7) <{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg3: f64, %arg4: f64, %arg5: f64):
      %10 = "arith.mulf"(%arg3, %arg4) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      %11 = "arith.addf"(%arg5, %10) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%11) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<4x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %9 = "linalg.softmax"(%arg0, %4) <{dimension = 1 : i64}> : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
    "func.return"(%1, %3, %5, %8, %9) : (tensor<4x3xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x3xf64>, tensor<3x4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
