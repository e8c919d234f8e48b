// What tests/test_made.py runs, in generic form.
"builtin.module"() ({
  "func.func"() <{function_type = (f64, f64, index) -> (tensor<2x2xf64>, tensor<f64>, tensor<2xf64>), sym_name = "elements"}> ({
  ^bb0(%arg77: f64, %arg78: f64, %arg79: index):
    %67 = "tensor.from_elements"(%arg77, %arg78, %arg78, %arg77) : (f64, f64, f64, f64) -> tensor<2x2xf64>
    %68 = "tensor.from_elements"(%arg78) : (f64) -> tensor<f64>
    %69 = "tensor.from_elements"(%arg77, %arg78) : (f64, f64) -> tensor<2xf64>
    %70 = "tensor.insert"(%arg78, %69, %arg79) : (f64, tensor<2xf64>, index) -> tensor<2xf64>
    "func.return"(%67, %68, %70) : (tensor<2x2xf64>, tensor<f64>, tensor<2xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (f32, index, index) -> tensor<?x3x?xf32>, sym_name = "splat"}> ({
  ^bb0(%arg74: f32, %arg75: index, %arg76: index):
    %66 = "tensor.splat"(%arg74, %arg75, %arg76) : (f32, index, index) -> tensor<?x3x?xf32>
    "func.return"(%66) : (tensor<?x3x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, index) -> (tensor<?x?xf64>, tensor<3xindex>), sym_name = "generate"}> ({
  ^bb0(%arg69: tensor<?xf64>, %arg70: index):
    %60 = "tensor.generate"(%arg70, %arg70) ({
    ^bb0(%arg72: index, %arg73: index):
      %63 = "tensor.extract"(%arg69, %arg73) : (tensor<?xf64>, index) -> f64
      %64 = "tensor.extract"(%arg69, %arg72) : (tensor<?xf64>, index) -> f64
      %65 = "arith.subf"(%63, %64) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "tensor.yield"(%65) : (f64) -> ()
    }) : (index, index) -> tensor<?x?xf64>
    %61 = "tensor.generate"() ({
    ^bb0(%arg71: index):
      %62 = "arith.muli"(%arg71, %arg71) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      "tensor.yield"(%62) : (index) -> ()
    }) : () -> tensor<3xindex>
    "func.return"(%60, %61) : (tensor<?x?xf64>, tensor<3xindex>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x3xf64>, f64, index) -> (tensor<?x?xf64>, tensor<?x5xf64>), sym_name = "pad"}> ({
  ^bb0(%arg62: tensor<?x3xf64>, %arg63: f64, %arg64: index):
    %55 = "tensor.pad"(%arg62, %arg64, %arg64) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_high = array<i64: -9223372036854775808, 0>, static_low = array<i64: 1, -9223372036854775808>}> ({
    ^bb0(%arg67: index, %arg68: index):
      "tensor.yield"(%arg63) : (f64) -> ()
    }) : (tensor<?x3xf64>, index, index) -> tensor<?x?xf64>
    %56 = "tensor.pad"(%arg62) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_high = array<i64: 1, 1>, static_low = array<i64: 0, 1>}> ({
    ^bb0(%arg65: index, %arg66: index):
      %57 = "arith.addi"(%arg65, %arg66) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %58 = "arith.index_cast"(%57) : (index) -> i64
      %59 = "arith.sitofp"(%58) : (i64) -> f64
      "tensor.yield"(%59) : (f64) -> ()
    }) : (tensor<?x3xf64>) -> tensor<?x5xf64>
    "func.return"(%55, %56) : (tensor<?x?xf64>, tensor<?x5xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x3xf64>, tensor<2x3xf64>) -> (tensor<?x3xf64>, tensor<2x6xf64>), sym_name = "concat"}> ({
  ^bb0(%arg60: tensor<?x3xf64>, %arg61: tensor<2x3xf64>):
    %53 = "tensor.concat"(%arg60, %arg61, %arg60) <{dim = 0 : i64}> : (tensor<?x3xf64>, tensor<2x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    %54 = "tensor.concat"(%arg61, %arg61) <{dim = 1 : i64}> : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x6xf64>
    "func.return"(%53, %54) : (tensor<?x3xf64>, tensor<2x6xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<6xf64>, tensor<2xindex>, f64, index) -> (tensor<?x?xf64>, tensor<6xf64>), sym_name = "reshape"}> ({
  ^bb0(%arg56: tensor<6xf64>, %arg57: tensor<2xindex>, %arg58: f64, %arg59: index):
    %51 = "tensor.reshape"(%arg56, %arg57) : (tensor<6xf64>, tensor<2xindex>) -> tensor<?x?xf64>
    %52 = "tensor.insert"(%arg58, %51, %arg59, %arg59) : (f64, tensor<?x?xf64>, index, index) -> tensor<?x?xf64>
    "func.return"(%52, %arg56) : (tensor<?x?xf64>, tensor<6xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?xf64>, f64, index, index) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>), sym_name = "scratch"}> ({
  ^bb0(%arg50: tensor<?xf64>, %arg51: f64, %arg52: index, %arg53: index):
    %47 = "bufferization.alloc_tensor"(%arg50) <{operandSegmentSizes = array<i32: 0, 1, 0>}> : (tensor<?xf64>) -> tensor<?xf64>
    %48 = "tensor.insert"(%arg51, %47, %arg52) : (f64, tensor<?xf64>, index) -> tensor<?xf64>
    %49 = "bufferization.alloc_tensor"(%arg53) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (index) -> tensor<?xf64>
    %50 = "linalg.fill"(%arg51, %49) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg54: f64, %arg55: f64):
      "linalg.yield"(%arg54) : (f64) -> ()
    }) : (f64, tensor<?xf64>) -> tensor<?xf64>
    "func.return"(%48, %50, %arg50) : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (i1, tensor<8xf64>, tensor<4xf64>, f64, index) -> (tensor<4xf64>, tensor<8xf64>), sym_name = "select"}> ({
  ^bb0(%arg45: i1, %arg46: tensor<8xf64>, %arg47: tensor<4xf64>, %arg48: f64, %arg49: index):
    %44 = "tensor.extract_slice"(%arg46) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 1>, static_sizes = array<i64: 4>, static_strides = array<i64: 2>}> : (tensor<8xf64>) -> tensor<4xf64>
    %45 = "arith.select"(%arg45, %44, %arg47) : (i1, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    %46 = "tensor.insert"(%arg48, %45, %arg49) : (f64, tensor<4xf64>, index) -> tensor<4xf64>
    "func.return"(%46, %arg46) : (tensor<4xf64>, tensor<8xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (f32, index) -> (tensor<2x2xf32>, tensor<3xi8>, tensor<2xi1>, tensor<4xf64>, tensor<2xf32>), sym_name = "constants"}> ({
  ^bb0(%arg40: f32, %arg41: index):
    %35 = "arith.constant"() <{value = dense<[[1.500000e+00, -2.000000e+00], [0x7F800000, 3.000000e+00]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
    %36 = "tensor.insert"(%arg40, %35, %arg41, %arg41) : (f32, tensor<2x2xf32>, index, index) -> tensor<2x2xf32>
    %37 = "arith.constant"() <{value = dense<[1, -128, 127]> : tensor<3xi8>}> : () -> tensor<3xi8>
    %38 = "arith.constant"() <{value = dense<[true, false]> : tensor<2xi1>}> : () -> tensor<2xi1>
    %39 = "arith.constant"() <{value = dense<2.500000e-01> : tensor<4xf64>}> : () -> tensor<4xf64>
    %40 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    %41 = "arith.constant"() <{value = dense<2.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    %42 = "linalg.add"(%40, %41, %40) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg42: f32, %arg43: f32, %arg44: f32):
      %43 = "arith.addf"(%arg42, %arg43) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%43) : (f32) -> ()
    }) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%36, %37, %38, %39, %42) : (tensor<2x2xf32>, tensor<3xi8>, tensor<2xi1>, tensor<4xf64>, tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<8xf64>) -> tensor<8xf64>, sym_name = "forall"}> ({
  ^bb0(%arg35: tensor<8xf64>):
    %30 = "scf.forall"(%arg35) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
    ^bb0(%arg36: index, %arg37: tensor<8xf64>):
      %31 = "arith.addi"(%arg36, %arg36) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %32 = "tensor.extract_slice"(%arg37, %31) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (tensor<8xf64>, index) -> tensor<2xf64>
      %33 = "linalg.square"(%32, %32) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%arg38: f64, %arg39: f64):
        %34 = "arith.mulf"(%arg38, %arg38) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        "linalg.yield"(%34) : (f64) -> ()
      }) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%33, %arg37, %31) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>}> : (tensor<2xf64>, tensor<8xf64>, index) -> ()
      }) : () -> ()
    }) : (tensor<8xf64>) -> tensor<8xf64>
    "func.return"(%30) : (tensor<8xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3x4xf64>, tensor<4x3xf64>, f64) -> (tensor<4x3xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x3xf64>, tensor<3x4xf64>), sym_name = "named"}> ({
  ^bb0(%arg21: tensor<3x4xf64>, %arg22: tensor<4x3xf64>, %arg23: f64):
    %16 = "tensor.empty"() : () -> tensor<4x3xf64>
    %17 = "linalg.transpose"(%arg21, %16) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%arg33: f64, %arg34: f64):
      "linalg.yield"(%arg33) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    %18 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<3xf64>}> : () -> tensor<3xf64>
    %19 = "linalg.reduce"(%arg21, %18) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg31: f64, %arg32: f64):
      %29 = "arith.maximumf"(%arg32, %arg31) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%29) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<3xf64>) -> tensor<3xf64>
    %20 = "tensor.empty"() : () -> tensor<3x4xf64>
    %21 = "linalg.map"(%arg21, %20) ({
    ^bb0(%arg29: f64, %arg30: f64):
      %28 = "arith.mulf"(%arg29, %arg23) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%28) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
    %22 = "tensor.empty"() : () -> tensor<3x3xf64>
    %23 = "linalg.fill"(%arg23, %22) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg27: f64, %arg28: f64):
      "linalg.yield"(%arg27) : (f64) -> ()
    }) : (f64, tensor<3x3xf64>) -> tensor<3x3xf64>
    %24 = "linalg.matmul"(%arg21, %arg22, %23) <{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg24: f64, %arg25: f64, %arg26: f64):
      %26 = "arith.mulf"(%arg24, %arg25) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      %27 = "arith.addf"(%arg26, %26) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%27) : (f64) -> ()
    }) : (tensor<3x4xf64>, tensor<4x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %25 = "linalg.softmax"(%arg21, %20) <{dimension = 1 : i64}> : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
    "func.return"(%17, %19, %21, %24, %25) : (tensor<4x3xf64>, tensor<3xf64>, tensor<3x4xf64>, tensor<3x3xf64>, tensor<3x4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf64>, index) -> tensor<4xf64>, sym_name = "other_place"}> ({
  ^bb0(%arg15: tensor<4xf64>, %arg16: index):
    %10 = "arith.constant"() <{value = 3 : index}> : () -> index
    %11 = "scf.forall"(%arg16, %arg15) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: -9223372036854775808>}> ({
    ^bb0(%arg17: index, %arg18: tensor<4xf64>):
      %12 = "arith.subi"(%10, %arg17) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %13 = "tensor.extract_slice"(%arg18, %arg17) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<4xf64>, index) -> tensor<1xf64>
      %14 = "linalg.square"(%13, %13) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%arg19: f64, %arg20: f64):
        %15 = "arith.mulf"(%arg19, %arg19) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        "linalg.yield"(%15) : (f64) -> ()
      }) : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%14, %arg18, %12) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<1xf64>, tensor<4xf64>, index) -> ()
      }) : () -> ()
    }) : (index, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%11) : (tensor<4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {bufferization.writable = false}], function_type = (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>, sym_name = "map_that_adds"}> ({
  ^bb0(%arg11: tensor<4xf64>, %arg12: tensor<4xf64>):
    %8 = "linalg.map"(%arg11, %arg12) ({
    ^bb0(%arg13: f64, %arg14: f64):
      %9 = "arith.addf"(%arg13, %arg14) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%9) : (f64) -> ()
    }) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%8) : (tensor<4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf64>, tensor<4xf64>, f64, index) -> (f64, tensor<4xf64>), sym_name = "map_of_the_old"}> ({
  ^bb0(%arg5: tensor<4xf64>, %arg6: tensor<4xf64>, %arg7: f64, %arg8: index):
    %4 = "tensor.insert"(%arg7, %arg6, %arg8) : (f64, tensor<4xf64>, index) -> tensor<4xf64>
    %5 = "tensor.extract"(%4, %arg8) : (tensor<4xf64>, index) -> f64
    %6 = "linalg.map"(%arg5, %arg6) ({
    ^bb0(%arg9: f64, %arg10: f64):
      %7 = "arith.addf"(%arg9, %arg10) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%7) : (f64) -> ()
    }) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    "func.return"(%5, %6) : (f64, tensor<4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<?x4xf64>, tensor<?xindex>, tensor<?x4xf64>) -> tensor<?x4xf64>, sym_name = "gather"}> ({
  ^bb0(%arg0: tensor<?x4xf64>, %arg1: tensor<?xindex>, %arg2: tensor<?x4xf64>):
    %0 = "linalg.generic"(%arg1, %arg2) <{indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg3: index, %arg4: f64):
      %1 = "linalg.index"() <{dim = 1 : i64}> : () -> index
      %2 = "tensor.extract"(%arg0, %arg3, %1) : (tensor<?x4xf64>, index, index) -> f64
      %3 = "arith.addf"(%2, %arg4) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%3) : (f64) -> ()
    }) : (tensor<?xindex>, tensor<?x4xf64>) -> tensor<?x4xf64>
    "func.return"(%0) : (tensor<?x4xf64>) -> ()
  }) : () -> ()
}) : () -> ()
