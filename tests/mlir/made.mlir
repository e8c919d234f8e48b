// What tests/mlir/test_made.py runs, in generic form.
"builtin.module"() ({
  "func.func"() <{function_type = (f64, f64, index) -> (tensor<2x2xf64>, tensor<f64>, tensor<2xf64>), sym_name = "elements"}> ({
  ^bb0(%arg89: f64, %arg90: f64, %arg91: index):
    %73 = "tensor.from_elements"(%arg89, %arg90, %arg90, %arg89) : (f64, f64, f64, f64) -> tensor<2x2xf64>
    %74 = "tensor.from_elements"(%arg90) : (f64) -> tensor<f64>
    %75 = "tensor.from_elements"(%arg89, %arg90) : (f64, f64) -> tensor<2xf64>
    %76 = "tensor.insert"(%arg90, %75, %arg91) : (f64, tensor<2xf64>, index) -> tensor<2xf64>
    "func.return"(%73, %74, %76) : (tensor<2x2xf64>, tensor<f64>, tensor<2xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (f32, index, index) -> tensor<?x3x?xf32>, sym_name = "splat"}> ({
  ^bb0(%arg86: f32, %arg87: index, %arg88: index):
    %72 = "tensor.splat"(%arg86, %arg87, %arg88) : (f32, index, index) -> tensor<?x3x?xf32>
    "func.return"(%72) : (tensor<?x3x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, index) -> (tensor<?x?xf64>, tensor<3xindex>), sym_name = "generate"}> ({
  ^bb0(%arg81: tensor<?xf64>, %arg82: index):
    %66 = "tensor.generate"(%arg82, %arg82) ({
    ^bb0(%arg84: index, %arg85: index):
      %69 = "tensor.extract"(%arg81, %arg85) : (tensor<?xf64>, index) -> f64
      %70 = "tensor.extract"(%arg81, %arg84) : (tensor<?xf64>, index) -> f64
      %71 = "arith.subf"(%69, %70) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "tensor.yield"(%71) : (f64) -> ()
    }) : (index, index) -> tensor<?x?xf64>
    %67 = "tensor.generate"() ({
    ^bb0(%arg83: index):
      %68 = "arith.muli"(%arg83, %arg83) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      "tensor.yield"(%68) : (index) -> ()
    }) : () -> tensor<3xindex>
    "func.return"(%66, %67) : (tensor<?x?xf64>, tensor<3xindex>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x3xf64>, f64, index) -> (tensor<?x?xf64>, tensor<?x5xf64>), sym_name = "pad"}> ({
  ^bb0(%arg74: tensor<?x3xf64>, %arg75: f64, %arg76: index):
    %61 = "tensor.pad"(%arg74, %arg76, %arg76) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_high = array<i64: -9223372036854775808, 0>, static_low = array<i64: 1, -9223372036854775808>}> ({
    ^bb0(%arg79: index, %arg80: index):
      "tensor.yield"(%arg75) : (f64) -> ()
    }) : (tensor<?x3xf64>, index, index) -> tensor<?x?xf64>
    %62 = "tensor.pad"(%arg74) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_high = array<i64: 1, 1>, static_low = array<i64: 0, 1>}> ({
    ^bb0(%arg77: index, %arg78: index):
      %63 = "arith.addi"(%arg77, %arg78) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %64 = "arith.index_cast"(%63) : (index) -> i64
      %65 = "arith.sitofp"(%64) : (i64) -> f64
      "tensor.yield"(%65) : (f64) -> ()
    }) : (tensor<?x3xf64>) -> tensor<?x5xf64>
    "func.return"(%61, %62) : (tensor<?x?xf64>, tensor<?x5xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x3xf64>, tensor<2x3xf64>) -> (tensor<?x3xf64>, tensor<2x6xf64>), sym_name = "concat"}> ({
  ^bb0(%arg72: tensor<?x3xf64>, %arg73: tensor<2x3xf64>):
    %59 = "tensor.concat"(%arg72, %arg73, %arg72) <{dim = 0 : i64}> : (tensor<?x3xf64>, tensor<2x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    %60 = "tensor.concat"(%arg73, %arg73) <{dim = 1 : i64}> : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x6xf64>
    "func.return"(%59, %60) : (tensor<?x3xf64>, tensor<2x6xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<6xf64>, tensor<2xindex>, f64, index) -> (tensor<?x?xf64>, tensor<6xf64>), sym_name = "reshape"}> ({
  ^bb0(%arg68: tensor<6xf64>, %arg69: tensor<2xindex>, %arg70: f64, %arg71: index):
    %57 = "tensor.reshape"(%arg68, %arg69) : (tensor<6xf64>, tensor<2xindex>) -> tensor<?x?xf64>
    %58 = "tensor.insert"(%arg70, %57, %arg71, %arg71) : (f64, tensor<?x?xf64>, index, index) -> tensor<?x?xf64>
    "func.return"(%58, %arg68) : (tensor<?x?xf64>, tensor<6xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, f64, index, index) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>), sym_name = "scratch"}> ({
  ^bb0(%arg62: tensor<?xf64>, %arg63: f64, %arg64: index, %arg65: index):
    %53 = "bufferization.alloc_tensor"(%arg62) <{operandSegmentSizes = array<i32: 0, 1, 0>}> : (tensor<?xf64>) -> tensor<?xf64>
    %54 = "tensor.insert"(%arg63, %53, %arg64) : (f64, tensor<?xf64>, index) -> tensor<?xf64>
    %55 = "bufferization.alloc_tensor"(%arg65) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (index) -> tensor<?xf64>
    %56 = "linalg.fill"(%arg63, %55) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg66: f64, %arg67: f64):
      "linalg.yield"(%arg66) : (f64) -> ()
    }) : (f64, tensor<?xf64>) -> tensor<?xf64>
    "func.return"(%54, %56, %arg62) : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (i1, tensor<8xf64>, tensor<4xf64>, f64, index) -> (tensor<4xf64>, tensor<8xf64>), sym_name = "select"}> ({
  ^bb0(%arg57: i1, %arg58: tensor<8xf64>, %arg59: tensor<4xf64>, %arg60: f64, %arg61: index):
    %50 = "tensor.extract_slice"(%arg58) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 1>, static_sizes = array<i64: 4>, static_strides = array<i64: 2>}> : (tensor<8xf64>) -> tensor<4xf64>
    %51 = "arith.select"(%arg57, %50, %arg59) : (i1, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    %52 = "tensor.insert"(%arg60, %51, %arg61) : (f64, tensor<4xf64>, index) -> tensor<4xf64>
    "func.return"(%52, %arg58) : (tensor<4xf64>, tensor<8xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (f32, index) -> (tensor<2x2xf32>, tensor<3xi8>, tensor<2xi1>, tensor<4xf64>, tensor<2xf32>), sym_name = "constants"}> ({
  ^bb0(%arg52: f32, %arg53: index):
    %41 = "arith.constant"() <{value = dense<[[1.500000e+00, -2.000000e+00], [0x7F800000, 3.000000e+00]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
    %42 = "tensor.insert"(%arg52, %41, %arg53, %arg53) : (f32, tensor<2x2xf32>, index, index) -> tensor<2x2xf32>
    %43 = "arith.constant"() <{value = dense<[1, -128, 127]> : tensor<3xi8>}> : () -> tensor<3xi8>
    %44 = "arith.constant"() <{value = dense<[true, false]> : tensor<2xi1>}> : () -> tensor<2xi1>
    %45 = "arith.constant"() <{value = dense<2.500000e-01> : tensor<4xf64>}> : () -> tensor<4xf64>
    %46 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    %47 = "arith.constant"() <{value = dense<2.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    %48 = "linalg.add"(%46, %47, %46) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg54: f32, %arg55: f32, %arg56: f32):
      %49 = "arith.addf"(%arg54, %arg55) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%49) : (f32) -> ()
    }) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%42, %43, %44, %45, %48) : (tensor<2x2xf32>, tensor<3xi8>, tensor<2xi1>, tensor<4xf64>, tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<8xf64>) -> tensor<8xf64>, sym_name = "forall"}> ({
  ^bb0(%arg47: tensor<8xf64>):
    %36 = "scf.forall"(%arg47) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
    ^bb0(%arg48: index, %arg49: tensor<8xf64>):
      %37 = "arith.addi"(%arg48, %arg48) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %38 = "tensor.extract_slice"(%arg49, %37) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (tensor<8xf64>, index) -> tensor<2xf64>
      %39 = "linalg.square"(%38, %38) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%arg50: f64, %arg51: f64):
        %40 = "arith.mulf"(%arg50, %arg50) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        "linalg.yield"(%40) : (f64) -> ()
      }) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%39, %arg49, %37) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (tensor<2xf64>, tensor<8xf64>, index) -> ()
      }) : () -> ()
    }) : (tensor<8xf64>) -> tensor<8xf64>
    "func.return"(%36) : (tensor<8xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3x4xf64>, tensor<4x3xf64>, f64) -> (tensor<4x3xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x3xf64>, tensor<3x4xf64>), sym_name = "named"}> ({
  ^bb0(%arg33: tensor<3x4xf64>, %arg34: tensor<4x3xf64>, %arg35: f64):
    %22 = "tensor.empty"() : () -> tensor<4x3xf64>
    %23 = "linalg.transpose"(%arg33, %22) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%arg45: f64, %arg46: f64):
      "linalg.yield"(%arg45) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    %24 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<3xf64>}> : () -> tensor<3xf64>
    %25 = "linalg.reduce"(%arg33, %24) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg43: f64, %arg44: f64):
      %35 = "arith.maximumf"(%arg44, %arg43) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%35) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<3xf64>) -> tensor<3xf64>
    %26 = "tensor.empty"() : () -> tensor<3x4xf64>
    %27 = "linalg.map"(%arg33, %26) ({
    ^bb0(%arg41: f64, %arg42: f64):
      %34 = "arith.mulf"(%arg41, %arg35) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%34) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
    %28 = "tensor.empty"() : () -> tensor<3x3xf64>
    %29 = "linalg.fill"(%arg35, %28) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg39: f64, %arg40: f64):
      "linalg.yield"(%arg39) : (f64) -> ()
    }) : (f64, tensor<3x3xf64>) -> tensor<3x3xf64>
    %30 = "linalg.matmul"(%arg33, %arg34, %29) <{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg36: f64, %arg37: f64, %arg38: f64):
      %32 = "arith.mulf"(%arg36, %arg37) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      %33 = "arith.addf"(%arg38, %32) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%33) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<4x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %31 = "linalg.softmax"(%arg33, %26) <{dimension = 1 : i64}> : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
    "func.return"(%23, %25, %27, %30, %31) : (tensor<4x3xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x3xf64>, tensor<3x4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf64>, index) -> tensor<4xf64>, sym_name = "other_place"}> ({
  ^bb0(%arg27: tensor<4xf64>, %arg28: index):
    %16 = "arith.constant"() <{value = 3 : index}> : () -> index
    %17 = "scf.forall"(%arg28, %arg27) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: -9223372036854775808>}> ({
    ^bb0(%arg29: index, %arg30: tensor<4xf64>):
      %18 = "arith.subi"(%16, %arg29) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %19 = "tensor.extract_slice"(%arg30, %arg29) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<4xf64>, index) -> tensor<1xf64>
      %20 = "linalg.square"(%19, %19) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%arg31: f64, %arg32: f64):
        %21 = "arith.mulf"(%arg31, %arg31) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        "linalg.yield"(%21) : (f64) -> ()
      }) : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%20, %arg30, %18) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<1xf64>, tensor<4xf64>, index) -> ()
      }) : () -> ()
    }) : (index, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%17) : (tensor<4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {bufferization.writable = false}], function_type = (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>, sym_name = "map_that_adds"}> ({
  ^bb0(%arg23: tensor<4xf64>, %arg24: tensor<4xf64>):
    %14 = "linalg.map"(%arg23, %arg24) ({
    ^bb0(%arg25: f64, %arg26: f64):
      %15 = "arith.addf"(%arg25, %arg26) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%15) : (f64) -> ()
    }) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%14) : (tensor<4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf64>, tensor<4xf64>, f64, index) -> (f64, tensor<4xf64>), sym_name = "map_of_the_old"}> ({
  ^bb0(%arg17: tensor<4xf64>, %arg18: tensor<4xf64>, %arg19: f64, %arg20: index):
    %10 = "tensor.insert"(%arg19, %arg18, %arg20) : (f64, tensor<4xf64>, index) -> tensor<4xf64>
    %11 = "tensor.extract"(%10, %arg20) : (tensor<4xf64>, index) -> f64
    %12 = "linalg.map"(%arg17, %arg18) ({
    ^bb0(%arg21: f64, %arg22: f64):
      %13 = "arith.addf"(%arg21, %arg22) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%13) : (f64) -> ()
    }) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%11, %12) : (f64, tensor<4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x4xf64>, tensor<?xindex>, tensor<?x4xf64>) -> tensor<?x4xf64>, sym_name = "gather"}> ({
  ^bb0(%arg12: tensor<?x4xf64>, %arg13: tensor<?xindex>, %arg14: tensor<?x4xf64>):
    %6 = "linalg.generic"(%arg13, %arg14) <{indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg15: index, %arg16: f64):
      %7 = "linalg.index"() <{dim = 1 : i64}> : () -> index
      %8 = "tensor.extract"(%arg12, %arg15, %7) : (tensor<?x4xf64>, index, index) -> f64
      %9 = "arith.addf"(%8, %arg16) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%9) : (f64) -> ()
    }) : (tensor<?xindex>, tensor<?x4xf64>) -> tensor<?x4xf64>
    "func.return"(%6) : (tensor<?x4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x9x8x2xf64>, tensor<3x3x2x4xf64>, tensor<1x4x4x4xf64>) -> tensor<1x4x4x4xf64>, sym_name = "conv"}> ({
  ^bb0(%arg6: tensor<1x9x8x2xf64>, %arg7: tensor<3x3x2x4xf64>, %arg8: tensor<1x4x4x4xf64>):
    %3 = "linalg.conv_2d_nhwc_hwcf"(%arg6, %arg7, %arg8) <{dilations = dense<[1, 2]> : tensor<2xi64>, operandSegmentSizes = array<i32: 2, 1>, strides = dense<[2, 1]> : tensor<2xi64>}> ({
    ^bb0(%arg9: f64, %arg10: f64, %arg11: f64):
      %4 = "arith.mulf"(%arg9, %arg10) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      %5 = "arith.addf"(%arg11, %4) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%5) : (f64) -> ()
    }) {linalg.memoized_indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 + d5 * 2, d6)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>]} : (tensor<1x9x8x2xf64>, tensor<3x3x2x4xf64>, tensor<1x4x4x4xf64>) -> tensor<1x4x4x4xf64>
    "func.return"(%3) : (tensor<1x4x4x4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, tensor<?xf64>, tensor<3xf64>) -> tensor<?xf64>, sym_name = "stencil"}> ({
  ^bb0(%arg0: tensor<?xf64>, %arg1: tensor<?xf64>, %arg2: tensor<3xf64>):
    %0 = "linalg.generic"(%arg0, %arg2, %arg1) <{indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg3: f64, %arg4: f64, %arg5: f64):
      %1 = "arith.mulf"(%arg3, %arg4) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      %2 = "arith.addf"(%arg5, %1) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%2) : (f64) -> ()
    }) : (tensor<?xf64>, tensor<3xf64>, tensor<?xf64>) -> tensor<?xf64>
    "func.return"(%0) : (tensor<?xf64>) -> ()
  }) : () -> ()
}) : () -> ()
