// name: linalg_ops_on_buffers
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, f32) -> tensor<4x4xf32>, sym_name = "g"}> ({
  ^bb0(%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<4x4xf32>, %arg3: f32):
    %0 = "linalg.fill"(%arg3, %arg2) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg9: f32, %arg10: f32):
      "linalg.yield"(%arg9) : (f32) -> ()
    }) : (f32, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = "linalg.matmul"(%arg0, %arg1, %0) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg6: f32, %arg7: f32, %arg8: f32):
      %5 = "arith.mulf"(%arg6, %arg7) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %6 = "arith.addf"(%arg8, %5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%6) : (f32) -> ()
    }) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = "tensor.empty"() : () -> tensor<4x4xf32>
    %3 = "linalg.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg4: f32, %arg5: f32):
      %4 = "math.exp"(%arg4) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%4) : (f32) -> ()
    }) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    "func.return"(%3) : (tensor<4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: fill_after_a_write
"builtin.module"() ({
  "func.func"() <{function_type = (memref<8xf32>, f32, f32, index) -> (f32, f32, f32), sym_name = "g"}> ({
  ^bb0(%arg0: memref<8xf32>, %arg1: f32, %arg2: f32, %arg3: index):
    %0 = "memref.load"(%arg0, %arg3) : (memref<8xf32>, index) -> f32
    "linalg.fill"(%arg1, %arg0) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg8: f32, %arg9: f32):
      "linalg.yield"(%arg8) : (f32) -> ()
    }) : (f32, memref<8xf32>) -> ()
    %1 = "memref.load"(%arg0, %arg3) : (memref<8xf32>, index) -> f32
    "linalg.fill"(%arg2, %arg0) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg6: f32, %arg7: f32):
      "linalg.yield"(%arg6) : (f32) -> ()
    }) : (f32, memref<8xf32>) -> ()
    "linalg.fill"(%arg1, %arg0) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg4: f32, %arg5: f32):
      "linalg.yield"(%arg4) : (f32) -> ()
    }) : (f32, memref<8xf32>) -> ()
    %2 = "memref.load"(%arg0, %arg3) : (memref<8xf32>, index) -> f32
    "func.return"(%0, %1, %2) : (f32, f32, f32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: fill_before_to_tensor
"builtin.module"() ({
  "func.func"() <{function_type = (memref<8xf32>, f32, f32, index, index) -> (f32, f32), sym_name = "g"}> ({
  ^bb0(%arg0: memref<8xf32>, %arg1: f32, %arg2: f32, %arg3: index, %arg4: index):
    "linalg.fill"(%arg1, %arg0) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg5: f32, %arg6: f32):
      "linalg.yield"(%arg5) : (f32) -> ()
    }) : (f32, memref<8xf32>) -> ()
    %0 = "bufferization.to_tensor"(%arg0) <{restrict, writable}> : (memref<8xf32>) -> tensor<8xf32>
    %1 = "tensor.insert"(%arg2, %0, %arg3) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
    %2 = "tensor.extract"(%1, %arg3) : (tensor<8xf32>, index) -> f32
    %3 = "tensor.extract"(%1, %arg4) : (tensor<8xf32>, index) -> f32
    "func.return"(%2, %3) : (f32, f32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: forall_on_buffers
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<100xf32>, tensor<100xf32>) -> tensor<100xf32>, sym_name = "fa"}> ({
  ^bb0(%arg0: tensor<100xf32>, %arg1: tensor<100xf32>):
    %0 = "arith.constant"() <{value = 10 : index}> : () -> index
    %1 = "scf.forall"(%0, %arg1) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: -9223372036854775808>}> ({
    ^bb0(%arg2: index, %arg3: tensor<100xf32>):
      %2 = "arith.constant"() <{value = 10 : index}> : () -> index
      %3 = "arith.muli"(%arg2, %2) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %4 = "tensor.extract_slice"(%arg0, %3) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 10>, static_strides = array<i64: 1>}> : (tensor<100xf32>, index) -> tensor<10xf32>
      %5 = "tensor.extract_slice"(%arg3, %3) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 10>, static_strides = array<i64: 1>}> : (tensor<100xf32>, index) -> tensor<10xf32>
      %6 = "linalg.exp"(%4, %5) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%arg4: f32, %arg5: f32):
        %7 = "math.exp"(%arg4) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
        "linalg.yield"(%7) : (f32) -> ()
      }) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%6, %arg3, %3) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 10>, static_strides = array<i64: 1>}> : (tensor<10xf32>, tensor<100xf32>, index) -> ()
      }) : () -> ()
    }) : (index, tensor<100xf32>) -> tensor<100xf32>
    "func.return"(%1) : (tensor<100xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: to_buffer_filled_and_stored
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8xf64>, f64, f64, index) -> tensor<8xf64>, sym_name = "g"}> ({
  ^bb0(%arg0: tensor<8xf64>, %arg1: f64, %arg2: f64, %arg3: index):
    %0 = "bufferization.to_buffer"(%arg0) : (tensor<8xf64>) -> memref<8xf64>
    "linalg.fill"(%arg1, %0) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg4: f64, %arg5: f64):
      "linalg.yield"(%arg4) : (f64) -> ()
    }) : (f64, memref<8xf64>) -> ()
    %1 = "memref.load"(%0, %arg3) : (memref<8xf64>, index) -> f64
    "memref.store"(%arg2, %0, %arg3) : (f64, memref<8xf64>, index) -> ()
    %2 = "bufferization.to_tensor"(%0) <{restrict, writable}> : (memref<8xf64>) -> tensor<8xf64>
    "func.return"(%2) : (tensor<8xf64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: loads_and_stores
"builtin.module"() ({
  "func.func"() <{function_type = (memref<6xf64>, memref<6xf64>, f64, index, index) -> (f64, f64, f64), sym_name = "f"}> ({
  ^bb0(%arg0: memref<6xf64>, %arg1: memref<6xf64>, %arg2: f64, %arg3: index, %arg4: index):
    %0 = "memref.load"(%arg0, %arg3) : (memref<6xf64>, index) -> f64
    "memref.store"(%arg2, %arg1, %arg3) : (f64, memref<6xf64>, index) -> ()
    %1 = "memref.load"(%arg0, %arg3) : (memref<6xf64>, index) -> f64
    "memref.copy"(%arg0, %arg1) : (memref<6xf64>, memref<6xf64>) -> ()
    "memref.store"(%arg2, %arg0, %arg4) : (f64, memref<6xf64>, index) -> ()
    %2 = "memref.load"(%arg0, %arg3) : (memref<6xf64>, index) -> f64
    "linalg.fill"(%0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg7: f64, %arg8: f64):
      "linalg.yield"(%arg7) : (f64) -> ()
    }) : (f64, memref<6xf64>) -> ()
    "linalg.fill"(%0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg5: f64, %arg6: f64):
      "linalg.yield"(%arg5) : (f64) -> ()
    }) : (f64, memref<6xf64>) -> ()
    %3 = "memref.load"(%arg1, %arg4) : (memref<6xf64>, index) -> f64
    %4 = "arith.addf"(%1, %3) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
    "func.return"(%0, %2, %4) : (f64, f64, f64) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: loop_that_only_stores
"builtin.module"() ({
  "func.func"() <{function_type = (memref<6xf64>, f64, i1) -> f64, sym_name = "f"}> ({
  ^bb0(%arg0: memref<6xf64>, %arg1: f64, %arg2: i1):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 1 : index}> : () -> index
    %2 = "arith.constant"() <{value = 6 : index}> : () -> index
    "scf.for"(%0, %2, %1) ({
    ^bb0(%arg9: index):
      %12 = "memref.load"(%arg0, %arg9) : (memref<6xf64>, index) -> f64
      "scf.if"(%arg2) ({
        %13 = "arith.addf"(%12, %arg1) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        "memref.store"(%13, %arg0, %arg9) : (f64, memref<6xf64>, index) -> ()
        "scf.yield"() : () -> ()
      }, {
      }) : (i1) -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    %3 = "scf.for"(%0, %2, %1, %arg1) ({
    ^bb0(%arg7: index, %arg8: f64):
      %9 = "memref.load"(%arg0, %arg7) : (memref<6xf64>, index) -> f64
      %10 = "memref.load"(%arg0, %arg7) : (memref<6xf64>, index) -> f64
      %11 = "arith.addf"(%arg8, %10) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "scf.yield"(%11) : (f64) -> ()
    }) : (index, index, index, f64) -> f64
    %4 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<6xf64>
    %5 = "scf.if"(%arg2) ({
      "linalg.fill"(%arg1, %4) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%arg5: f64, %arg6: f64):
        "linalg.yield"(%arg5) : (f64) -> ()
      }) : (f64, memref<6xf64>) -> ()
      "scf.yield"(%arg1) : (f64) -> ()
    }, {
      %8 = "memref.load"(%arg0, %0) : (memref<6xf64>, index) -> f64
      "linalg.fill"(%8, %4) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%arg3: f64, %arg4: f64):
        "linalg.yield"(%arg3) : (f64) -> ()
      }) : (f64, memref<6xf64>) -> ()
      "scf.yield"(%8) : (f64) -> ()
    }) : (i1) -> f64
    %6 = "memref.load"(%4, %1) : (memref<6xf64>, index) -> f64
    %7 = "arith.addf"(%3, %6) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
    "func.return"(%7) : (f64) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: copy_written_over
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<6xf64>, memref<6xf64>, f64, index) -> (tensor<6xf64>, f64), sym_name = "f"}> ({
  ^bb0(%arg0: tensor<6xf64>, %arg1: memref<6xf64>, %arg2: f64, %arg3: index):
    %0 = "bufferization.to_tensor"(%arg1) <{restrict}> : (memref<6xf64>) -> tensor<6xf64>
    %1 = "tensor.extract"(%0, %arg3) : (tensor<6xf64>, index) -> f64
    "memref.store"(%arg2, %arg1, %arg3) : (f64, memref<6xf64>, index) -> ()
    %2 = "bufferization.to_tensor"(%arg1) <{restrict}> : (memref<6xf64>) -> tensor<6xf64>
    %3 = "tensor.extract"(%2, %arg3) : (tensor<6xf64>, index) -> f64
    %4 = "arith.addf"(%1, %3) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
    %5 = "tensor.empty"() : () -> tensor<6xf64>
    %6 = "linalg.fill"(%4, %5) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg4: f64, %arg5: f64):
      "linalg.yield"(%arg4) : (f64) -> ()
    }) : (f64, tensor<6xf64>) -> tensor<6xf64>
    %7 = "tensor.insert"(%arg2, %6, %arg3) : (f64, tensor<6xf64>, index) -> tensor<6xf64>
    "func.return"(%7, %4) : (tensor<6xf64>, f64) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: loops_without_iterations_nested
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4xf64>, f64) -> (), sym_name = "f"}> ({
  ^bb0(%arg0: memref<4xf64>, %arg1: f64):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 1 : index}> : () -> index
    "scf.for"(%1, %0, %1) ({
    ^bb0(%arg2: index):
      "scf.for"(%0, %0, %1) ({
      ^bb0(%arg3: index):
        "memref.store"(%arg1, %arg0, %0) : (f64, memref<4xf64>, index) -> ()
        "scf.yield"() : () -> ()
      }) : (index, index, index) -> ()
      "memref.store"(%arg1, %arg0, %arg2) : (f64, memref<4xf64>, index) -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: while_that_passes_what_was_folded
"builtin.module"() ({
  "func.func"() <{function_type = (index, i32) -> (index, i32), sym_name = "f"}> ({
  ^bb0(%arg0: index, %arg1: i32):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 1 : index}> : () -> index
    %2 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %3 = "arith.addi"(%2, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %4:2 = "scf.while"(%0, %arg1) ({
    ^bb0(%arg4: index, %arg5: i32):
      %7 = "arith.cmpi"(%arg4, %arg0) <{predicate = 2 : i64}> : (index, index) -> i1
      "scf.condition"(%7, %arg4, %3) : (i1, index, i32) -> ()
    }, {
    ^bb0(%arg2: index, %arg3: i32):
      %5 = "arith.addi"(%arg2, %1) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %6 = "arith.addi"(%arg3, %arg1) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      "scf.yield"(%5, %6) : (index, i32) -> ()
    }) : (index, i32) -> (index, i32)
    "func.return"(%4#0, %4#1) : (index, i32) -> ()
  }) : () -> ()
}) : () -> ()
