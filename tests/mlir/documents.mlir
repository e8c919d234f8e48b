// name: 001_to_buffer
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?xf32>, f32, index) -> (tensor<?xf32>, f32), sym_name = "f"}> ({
  ^bb0(%arg0: tensor<?xf32>, %arg1: f32, %arg2: index):
    %0 = "tensor.insert"(%arg1, %arg0, %arg2) : (f32, tensor<?xf32>, index) -> tensor<?xf32>
    %1 = "bufferization.to_buffer"(%0) : (tensor<?xf32>) -> memref<?xf32>
    "test.use"(%1) : (memref<?xf32>) -> ()
    %2 = "tensor.extract"(%0, %arg2) : (tensor<?xf32>, index) -> f32
    "func.return"(%0, %2) : (tensor<?xf32>, f32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 001_to_tensor
"builtin.module"() ({
  "func.func"() <{function_type = (memref<?xf32>, f32, index) -> f32, sym_name = "f"}> ({
  ^bb0(%arg0: memref<?xf32>, %arg1: f32, %arg2: index):
    %0 = "bufferization.to_tensor"(%arg0) <{restrict, writable}> : (memref<?xf32>) -> tensor<?xf32>
    %1 = "tensor.insert"(%arg1, %0, %arg2) : (f32, tensor<?xf32>, index) -> tensor<?xf32>
    %2 = "tensor.extract"(%1, %arg2) : (tensor<?xf32>, index) -> f32
    "func.return"(%2) : (f32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 001_to_tensor_norestrict
"builtin.module"() ({
  "func.func"() <{function_type = (memref<?xf32>, f32, index) -> f32, sym_name = "f"}> ({
  ^bb0(%arg0: memref<?xf32>, %arg1: f32, %arg2: index):
    %0 = "bufferization.to_tensor"(%arg0) : (memref<?xf32>) -> tensor<?xf32>
    %1 = "tensor.extract"(%0, %arg2) : (tensor<?xf32>, index) -> f32
    "func.return"(%1) : (f32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 002_core
"builtin.module"() ({
  "func.func"() <{function_type = (index, f32, index, index) -> f32, sym_name = "foo"}> ({
  ^bb0(%arg0: index, %arg1: f32, %arg2: index, %arg3: index):
    %0 = "tensor.empty"(%arg0) : (index) -> tensor<?xf32>
    %1 = "tensor.insert"(%arg1, %0, %arg2) : (f32, tensor<?xf32>, index) -> tensor<?xf32>
    %2 = "tensor.extract"(%1, %arg3) : (tensor<?xf32>, index) -> f32
    "func.return"(%2) : (f32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 002_fill_insert_slice
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<10xf32>, tensor<30xf32>, f32) -> tensor<30xf32>, sym_name = "s"}> ({
  ^bb0(%arg0: tensor<10xf32>, %arg1: tensor<30xf32>, %arg2: f32):
    %0 = "linalg.fill"(%arg2, %arg0) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg3: f32, %arg4: f32):
      "linalg.yield"(%arg3) : (f32) -> ()
    }) : (f32, tensor<10xf32>) -> tensor<10xf32>
    %1 = "tensor.insert_slice"(%0, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 5>, static_sizes = array<i64: 10>, static_strides = array<i64: 1>}> : (tensor<10xf32>, tensor<30xf32>) -> tensor<30xf32>
    "func.return"(%1) : (tensor<30xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 002_foo
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?xf32>, f32, index, index) -> (f32, f32), sym_name = "foo"}> ({
  ^bb0(%arg0: tensor<?xf32>, %arg1: f32, %arg2: index, %arg3: index):
    %0 = "tensor.insert"(%arg1, %arg0, %arg2) : (f32, tensor<?xf32>, index) -> tensor<?xf32>
    %1 = "tensor.extract"(%arg0, %arg3) : (tensor<?xf32>, index) -> f32
    %2 = "tensor.extract"(%0, %arg3) : (tensor<?xf32>, index) -> f32
    "func.return"(%1, %2) : (f32, f32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 002_foo_swapped
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?xf32>, f32, index, index) -> (f32, f32), sym_name = "foo"}> ({
  ^bb0(%arg0: tensor<?xf32>, %arg1: f32, %arg2: index, %arg3: index):
    %0 = "tensor.extract"(%arg0, %arg3) : (tensor<?xf32>, index) -> f32
    %1 = "tensor.insert"(%arg1, %arg0, %arg2) : (f32, tensor<?xf32>, index) -> tensor<?xf32>
    %2 = "tensor.extract"(%1, %arg3) : (tensor<?xf32>, index) -> f32
    "func.return"(%0, %2) : (f32, f32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 002_gen_false
"builtin.module"() ({
  "func.func"() <{function_type = (index, f32, index, index) -> (f32, f32), sym_name = "foo"}> ({
  ^bb0(%arg0: index, %arg1: f32, %arg2: index, %arg3: index):
    %0 = "tensor.generate"(%arg0) ({
    ^bb0(%arg4: index):
      "tensor.yield"(%arg1) : (f32) -> ()
    }) : (index) -> tensor<?xf32>
    %1 = "tensor.insert"(%arg1, %0, %arg2) : (f32, tensor<?xf32>, index) -> tensor<?xf32>
    %2 = "tensor.extract"(%0, %arg3) : (tensor<?xf32>, index) -> f32
    %3 = "tensor.extract"(%1, %arg3) : (tensor<?xf32>, index) -> f32
    "func.return"(%2, %3) : (f32, f32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 002_gen_true
"builtin.module"() ({
  "func.func"() <{function_type = (index, f32, index, index) -> f32, sym_name = "foo"}> ({
  ^bb0(%arg0: index, %arg1: f32, %arg2: index, %arg3: index):
    %0 = "tensor.generate"(%arg0) ({
    ^bb0(%arg4: index):
      "tensor.yield"(%arg1) : (f32) -> ()
    }) : (index) -> tensor<?xf32>
    %1 = "tensor.insert"(%arg1, %0, %arg2) : (f32, tensor<?xf32>, index) -> tensor<?xf32>
    %2 = "tensor.extract"(%1, %arg3) : (tensor<?xf32>, index) -> f32
    "func.return"(%2) : (f32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 002_loop_if
#map = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?xf32>, vector<5xf32>, index, index, i1) -> tensor<?xf32>, sym_name = "l"}> ({
  ^bb0(%arg0: tensor<?xf32>, %arg1: vector<5xf32>, %arg2: index, %arg3: index, %arg4: i1):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 10 : index}> : () -> index
    %2 = "scf.for"(%0, %arg2, %1, %arg0) ({
    ^bb0(%arg5: index, %arg6: tensor<?xf32>):
      %3 = "tensor.extract_slice"(%arg6, %arg5) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 10>, static_strides = array<i64: 1>}> : (tensor<?xf32>, index) -> tensor<10xf32>
      %4 = "scf.if"(%arg4) ({
        %6 = "vector.transfer_write"(%arg1, %3, %arg3) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = #map}> : (vector<5xf32>, tensor<10xf32>, index) -> tensor<10xf32>
        "scf.yield"(%6) : (tensor<10xf32>) -> ()
      }, {
        "scf.yield"(%3) : (tensor<10xf32>) -> ()
      }) : (i1) -> tensor<10xf32>
      %5 = "tensor.insert_slice"(%4, %arg6, %arg5) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 10>, static_strides = array<i64: 1>}> : (tensor<10xf32>, tensor<?xf32>, index) -> tensor<?xf32>
      "scf.yield"(%5) : (tensor<?xf32>) -> ()
    }) : (index, index, index, tensor<?xf32>) -> tensor<?xf32>
    "func.return"(%2) : (tensor<?xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 002_select
"builtin.module"() ({
  "func.func"() <{function_type = (i1, tensor<?xf32>, tensor<?xf32>, index, f32) -> tensor<?xf32>, sym_name = "s"}> ({
  ^bb0(%arg0: i1, %arg1: tensor<?xf32>, %arg2: tensor<?xf32>, %arg3: index, %arg4: f32):
    %0 = "arith.select"(%arg0, %arg1, %arg2) : (i1, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %1 = "tensor.insert"(%arg4, %0, %arg3) : (f32, tensor<?xf32>, index) -> tensor<?xf32>
    "func.return"(%1) : (tensor<?xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 002_slice_write
#map = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?xf32>, vector<5xf32>, index, index) -> tensor<?xf32>, sym_name = "s"}> ({
  ^bb0(%arg0: tensor<?xf32>, %arg1: vector<5xf32>, %arg2: index, %arg3: index):
    %0 = "tensor.extract_slice"(%arg0, %arg2) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 10>, static_strides = array<i64: 1>}> : (tensor<?xf32>, index) -> tensor<10xf32>
    %1 = "vector.transfer_write"(%arg1, %0, %arg3) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = #map}> : (vector<5xf32>, tensor<10xf32>, index) -> tensor<10xf32>
    %2 = "tensor.insert_slice"(%1, %arg0, %arg2) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 10>, static_strides = array<i64: 1>}> : (tensor<10xf32>, tensor<?xf32>, index) -> tensor<?xf32>
    "func.return"(%2) : (tensor<?xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 002_tosa
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>, sym_name = "m"}> ({
  ^bb0(%arg0: tensor<1x4x4xf32>, %arg1: tensor<1x4x4xf32>):
    %0 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %1 = "tosa.matmul"(%arg0, %arg1, %0, %0) : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
    "func.return"(%1) : (tensor<1x4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 002_write_chain
#map = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<20xf32>, vector<5xf32>, vector<5xf32>, vector<5xf32>) -> tensor<20xf32>, sym_name = "chain"}> ({
  ^bb0(%arg0: tensor<20xf32>, %arg1: vector<5xf32>, %arg2: vector<5xf32>, %arg3: vector<5xf32>):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 5 : index}> : () -> index
    %2 = "arith.constant"() <{value = 10 : index}> : () -> index
    %3 = "vector.transfer_write"(%arg1, %arg0, %0) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = #map}> : (vector<5xf32>, tensor<20xf32>, index) -> tensor<20xf32>
    %4 = "vector.transfer_write"(%arg2, %3, %1) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = #map}> : (vector<5xf32>, tensor<20xf32>, index) -> tensor<20xf32>
    %5 = "vector.transfer_write"(%arg3, %4, %2) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = #map}> : (vector<5xf32>, tensor<20xf32>, index) -> tensor<20xf32>
    "func.return"(%5) : (tensor<20xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 003_dealloc_general
"builtin.module"() ({
  "func.func"() <{function_type = (memref<2xf32>, memref<5xf32>, i1, i1, memref<1xf32>, memref<2xf32>) -> (i1, i1), sym_name = "d"}> ({
  ^bb0(%arg0: memref<2xf32>, %arg1: memref<5xf32>, %arg2: i1, %arg3: i1, %arg4: memref<1xf32>, %arg5: memref<2xf32>):
    %0:2 = "bufferization.dealloc"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) <{operandSegmentSizes = array<i32: 2, 2, 2>}> : (memref<2xf32>, memref<5xf32>, i1, i1, memref<1xf32>, memref<2xf32>) -> (i1, i1)
    "func.return"(%0#0, %0#1) : (i1, i1) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 003_dealloc_one
"builtin.module"() ({
  "func.func"() <{function_type = (memref<2xf32>, i1) -> (), sym_name = "d"}> ({
  ^bb0(%arg0: memref<2xf32>, %arg1: i1):
    "bufferization.dealloc"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (memref<2xf32>, i1) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 003_dealloc_one_retained
"builtin.module"() ({
  "func.func"() <{function_type = (memref<2xf32>, i1, memref<1xf32>, memref<2xf32>) -> (i1, i1), sym_name = "d"}> ({
  ^bb0(%arg0: memref<2xf32>, %arg1: i1, %arg2: memref<1xf32>, %arg3: memref<2xf32>):
    %0:2 = "bufferization.dealloc"(%arg0, %arg1, %arg2, %arg3) <{operandSegmentSizes = array<i32: 1, 1, 2>}> : (memref<2xf32>, i1, memref<1xf32>, memref<2xf32>) -> (i1, i1)
    "func.return"(%0#0, %0#1) : (i1, i1) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 003_generic_slice
#map = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?xf32>, index, index) -> tensor<?xf32>, sym_name = "g"}> ({
  ^bb0(%arg0: tensor<?xf32>, %arg1: index, %arg2: index):
    %0 = "tensor.extract_slice"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>}> : (tensor<?xf32>, index, index) -> tensor<?xf32>
    %1 = "linalg.generic"(%0) <{indexing_maps = [#map], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg3: f32):
      %3 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%3) : (f32) -> ()
    }) : (tensor<?xf32>) -> tensor<?xf32>
    %2 = "tensor.insert_slice"(%1, %arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808>, static_strides = array<i64: 1>}> : (tensor<?xf32>, tensor<?xf32>, index, index) -> tensor<?xf32>
    "func.return"(%2) : (tensor<?xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 003_if_new_alloc
"builtin.module"() ({
  "func.func"() <{function_type = (i1, index, tensor<?xf32>) -> tensor<?xf32>, sym_name = "f"}> ({
  ^bb0(%arg0: i1, %arg1: index, %arg2: tensor<?xf32>):
    %0 = "scf.if"(%arg0) ({
      %1 = "tensor.generate"(%arg1) ({
      ^bb0(%arg3: index):
        %2 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
        "tensor.yield"(%2) : (f32) -> ()
      }) : (index) -> tensor<?xf32>
      "scf.yield"(%1) : (tensor<?xf32>) -> ()
    }, {
      "scf.yield"(%arg2) : (tensor<?xf32>) -> ()
    }) : (i1) -> tensor<?xf32>
    "func.return"(%0) : (tensor<?xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 003_if_raw
"builtin.module"() ({
  "func.func"() <{function_type = (i1, f32, index, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>, sym_name = "f"}> ({
  ^bb0(%arg0: i1, %arg1: f32, %arg2: index, %arg3: tensor<?xf32>, %arg4: tensor<?xf32>):
    %0 = "scf.if"(%arg0) ({
      %1 = "tensor.insert"(%arg1, %arg3, %arg2) : (f32, tensor<?xf32>, index) -> tensor<?xf32>
      "my_dialect.reading_tensor_op"(%arg3) : (tensor<?xf32>) -> ()
      "scf.yield"(%1) : (tensor<?xf32>) -> ()
    }, {
      "scf.yield"(%arg4) : (tensor<?xf32>) -> ()
    }) : (i1) -> tensor<?xf32>
    "func.return"(%0) : (tensor<?xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 003_layout_unknown
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?x?xf32>, index, index) -> f32, sym_name = "l"}> ({
  ^bb0(%arg0: tensor<?x?xf32>, %arg1: index, %arg2: index):
    %0 = "my_dialect.unbufferizable_op"(%arg0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %1 = "tensor.extract"(%0, %arg1, %arg2) : (tensor<?x?xf32>, index, index) -> f32
    "func.return"(%1) : (f32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 003_ownership
"builtin.module"() ({
  "func.func"() <{function_type = (memref<?xi8>, i1, i1, index) -> (), sym_name = "example"}> ({
  ^bb0(%arg0: memref<?xi8>, %arg1: i1, %arg2: i1, %arg3: index):
    %0 = "memref.alloc"(%arg3) <{operandSegmentSizes = array<i32: 1, 0>}> : (index) -> memref<?xi8>
    %1 = "memref.alloca"(%arg3) <{operandSegmentSizes = array<i32: 1, 0>}> : (index) -> memref<?xi8>
    %2 = "arith.select"(%arg1, %0, %1) : (i1, memref<?xi8>, memref<?xi8>) -> memref<?xi8>
    "cf.cond_br"(%arg2, %0, %arg0)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, memref<?xi8>, memref<?xi8>) -> ()
  ^bb1(%3: memref<?xi8>):  // 2 preds: ^bb0, ^bb0
    "test.copy"(%3, %2) : (memref<?xi8>, memref<?xi8>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 003_unknown_chain
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?xf32>) -> tensor<?xf32>, sym_name = "c"}> ({
  ^bb0(%arg0: tensor<?xf32>):
    %0 = "my_dialect.some_op"(%arg0) : (tensor<?xf32>) -> tensor<?xf32>
    %1 = "my_dialect.another_op"(%0) : (tensor<?xf32>) -> tensor<?xf32>
    %2 = "my_dialect.yet_another_op"(%0) : (tensor<?xf32>) -> tensor<?xf32>
    "func.return"(%2) : (tensor<?xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 003_unranked_cast
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<*xf32>, index) -> f32, sym_name = "c"}> ({
  ^bb0(%arg0: tensor<*xf32>, %arg1: index):
    %0 = "tensor.cast"(%arg0) : (tensor<*xf32>) -> tensor<?x?xf32>
    %1 = "tensor.extract"(%0, %arg1, %arg1) : (tensor<?x?xf32>, index, index) -> f32
    "func.return"(%1) : (f32) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_branch
"builtin.module"() ({
  "func.func"() <{function_type = (i1) -> (), sym_name = "branch"}> ({
  ^bb0(%arg0: i1):
    %0 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2xf32>
    "cf.cond_br"(%arg0)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb1:  // pred: ^bb0
    %1 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2xf32>
    "cf.br"(%1)[^bb3] : (memref<2xf32>) -> ()
  ^bb2:  // pred: ^bb0
    "test.use"(%0) : (memref<2xf32>) -> ()
    "cf.br"(%0)[^bb3] : (memref<2xf32>) -> ()
  ^bb3(%2: memref<2xf32>):  // 2 preds: ^bb1, ^bb2
    "test.use"(%2) : (memref<2xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_callee_caller_tensors
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<5xf32>) -> tensor<5xf32>, sym_name = "callee"}> ({
  ^bb0(%arg1: tensor<5xf32>):
    "func.return"(%arg1) : (tensor<5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<5xf32>) -> tensor<5xf32>, sym_name = "caller"}> ({
  ^bb0(%arg0: tensor<5xf32>):
    %0 = "func.call"(%arg0) <{callee = @callee}> : (tensor<5xf32>) -> tensor<5xf32>
    "func.return"(%0) : (tensor<5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_condBranch
"builtin.module"() ({
  "func.func"() <{function_type = (i1, memref<2xf32>, memref<2xf32>) -> (), sym_name = "condBranch"}> ({
  ^bb0(%arg0: i1, %arg1: memref<2xf32>, %arg2: memref<2xf32>):
    "cf.cond_br"(%arg0)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb1:  // pred: ^bb0
    "cf.br"(%arg1)[^bb3] : (memref<2xf32>) -> ()
  ^bb2:  // pred: ^bb0
    %0 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2xf32>
    "test.use"(%0) : (memref<2xf32>) -> ()
    "cf.br"(%0)[^bb3] : (memref<2xf32>) -> ()
  ^bb3(%1: memref<2xf32>):  // 2 preds: ^bb1, ^bb2
    "memref.copy"(%1, %arg2) : (memref<2xf32>, memref<2xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_condBranchDynamic
"builtin.module"() ({
  "func.func"() <{function_type = (i1, memref<?xf32>, memref<?xf32>, index) -> (), sym_name = "condBranchDynamicType"}> ({
  ^bb0(%arg0: i1, %arg1: memref<?xf32>, %arg2: memref<?xf32>, %arg3: index):
    "cf.cond_br"(%arg0, %arg3)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (i1, index) -> ()
  ^bb1:  // pred: ^bb0
    "cf.br"(%arg1)[^bb3] : (memref<?xf32>) -> ()
  ^bb2(%0: index):  // pred: ^bb0
    %1 = "memref.alloc"(%0) <{operandSegmentSizes = array<i32: 1, 0>}> : (index) -> memref<?xf32>
    "test.use"(%1) : (memref<?xf32>) -> ()
    "cf.br"(%1)[^bb3] : (memref<?xf32>) -> ()
  ^bb3(%2: memref<?xf32>):  // 2 preds: ^bb1, ^bb2
    "memref.copy"(%2, %arg2) : (memref<?xf32>, memref<?xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_copy_removal_dst
#map = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<2xf32>, memref<2xf32>) -> (), sym_name = "reuseTarget"}> ({
  ^bb0(%arg0: memref<2xf32>, %arg1: memref<2xf32>):
    %0 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2xf32>
    "linalg.generic"(%arg0, %0) <{indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg2: f32, %arg3: f32):
      %1 = "math.exp"(%arg2) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%1) : (f32) -> ()
    }) : (memref<2xf32>, memref<2xf32>) -> ()
    "memref.copy"(%0, %arg1) : (memref<2xf32>, memref<2xf32>) -> ()
    "memref.dealloc"(%0) : (memref<2xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_copy_removal_src
"builtin.module"() ({
  "func.func"() <{function_type = (index, index) -> memref<?x?xf32>, sym_name = "dynamic_allocation"}> ({
  ^bb0(%arg0: index, %arg1: index):
    %0 = "memref.alloc"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 2, 0>}> : (index, index) -> memref<?x?xf32>
    %1 = "arith.constant"() <{value = 0 : index}> : () -> index
    %2 = "memref.dim"(%0, %1) : (memref<?x?xf32>, index) -> index
    %3 = "arith.constant"() <{value = 1 : index}> : () -> index
    %4 = "memref.dim"(%0, %3) : (memref<?x?xf32>, index) -> index
    %5 = "memref.alloc"(%2, %4) <{operandSegmentSizes = array<i32: 2, 0>}> : (index, index) -> memref<?x?xf32>
    "memref.copy"(%0, %5) : (memref<?x?xf32>, memref<?x?xf32>) -> ()
    "memref.dealloc"(%0) : (memref<?x?xf32>) -> ()
    "func.return"(%5) : (memref<?x?xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_func_on_tensors
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "func_on_tensors"}> ({
  ^bb0(%arg0: tensor<4xf32>):
    %0 = "tensor.empty"() : () -> tensor<4xf32>
    %1 = "linalg.exp"(%arg0, %0) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg1: f32, %arg2: f32):
      %2 = "math.exp"(%arg1) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%2) : (f32) -> ()
    }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%1) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_loop_nested_if
"builtin.module"() ({
  "func.func"() <{function_type = (index, index, index, memref<2xf32>, memref<2xf32>) -> (), sym_name = "loop_nested_if"}> ({
  ^bb0(%arg0: index, %arg1: index, %arg2: index, %arg3: memref<2xf32>, %arg4: memref<2xf32>):
    %0 = "scf.for"(%arg0, %arg1, %arg2, %arg3) ({
    ^bb0(%arg5: index, %arg6: memref<2xf32>):
      %1 = "arith.cmpi"(%arg5, %arg1) <{predicate = 0 : i64}> : (index, index) -> i1
      %2 = "scf.if"(%1) ({
        %3 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2xf32>
        "test.use"(%3) : (memref<2xf32>) -> ()
        "scf.yield"(%3) : (memref<2xf32>) -> ()
      }, {
        "scf.yield"(%arg6) : (memref<2xf32>) -> ()
      }) : (i1) -> memref<2xf32>
      "scf.yield"(%2) : (memref<2xf32>) -> ()
    }) : (index, index, index, memref<2xf32>) -> memref<2xf32>
    "memref.copy"(%0, %arg4) : (memref<2xf32>, memref<2xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_mixed
"builtin.module"() ({
  "func.func"() <{function_type = (i1) -> (), sym_name = "mixedAllocation"}> ({
  ^bb0(%arg0: i1):
    %0 = "memref.alloca"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2xf32>
    %1 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<2xf32>
    "cf.cond_br"(%arg0)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb1:  // pred: ^bb0
    "test.use"(%0) : (memref<2xf32>) -> ()
    "cf.br"(%0)[^bb3] : (memref<2xf32>) -> ()
  ^bb2:  // pred: ^bb0
    "test.use"(%1) : (memref<2xf32>) -> ()
    "cf.br"(%1)[^bb3] : (memref<2xf32>) -> ()
  ^bb3(%2: memref<2xf32>):  // 2 preds: ^bb1, ^bb2
    "test.use"(%2) : (memref<2xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_nested
"builtin.module"() ({
  "func.func"() <{function_type = (i1, memref<?xf32>, memref<?xf32>, index) -> (), sym_name = "condBranchDynamicTypeNested"}> ({
  ^bb0(%arg0: i1, %arg1: memref<?xf32>, %arg2: memref<?xf32>, %arg3: index):
    "cf.cond_br"(%arg0, %arg3)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (i1, index) -> ()
  ^bb1:  // pred: ^bb0
    "cf.br"(%arg1)[^bb6] : (memref<?xf32>) -> ()
  ^bb2(%0: index):  // pred: ^bb0
    %1 = "memref.alloc"(%0) <{operandSegmentSizes = array<i32: 1, 0>}> : (index) -> memref<?xf32>
    "test.use"(%1) : (memref<?xf32>) -> ()
    "cf.cond_br"(%arg0)[^bb3, ^bb4] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb3:  // pred: ^bb2
    "cf.br"(%1)[^bb5] : (memref<?xf32>) -> ()
  ^bb4:  // pred: ^bb2
    "cf.br"(%1)[^bb5] : (memref<?xf32>) -> ()
  ^bb5(%2: memref<?xf32>):  // 2 preds: ^bb3, ^bb4
    "cf.br"(%2)[^bb6] : (memref<?xf32>) -> ()
  ^bb6(%3: memref<?xf32>):  // 2 preds: ^bb1, ^bb5
    "cf.br"(%3)[^bb7] : (memref<?xf32>) -> ()
  ^bb7(%4: memref<?xf32>):  // pred: ^bb6
    "memref.copy"(%4, %arg2) : (memref<?xf32>, memref<?xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_nested_region
"builtin.module"() ({
  "func.func"() <{function_type = (index, index) -> memref<?x?xf32>, sym_name = "nested_region_control_flow"}> ({
  ^bb0(%arg0: index, %arg1: index):
    %0 = "arith.cmpi"(%arg0, %arg1) <{predicate = 0 : i64}> : (index, index) -> i1
    %1 = "memref.alloc"(%arg0, %arg0) <{operandSegmentSizes = array<i32: 2, 0>}> : (index, index) -> memref<?x?xf32>
    %2 = "scf.if"(%0) ({
      "scf.yield"(%1) : (memref<?x?xf32>) -> ()
    }, {
      %3 = "memref.alloc"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 2, 0>}> : (index, index) -> memref<?x?xf32>
      "test.use"(%3) : (memref<?x?xf32>) -> ()
      "scf.yield"(%1) : (memref<?x?xf32>) -> ()
    }) : (i1) -> memref<?x?xf32>
    "func.return"(%2) : (memref<?x?xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_out_params
"builtin.module"() ({
  "func.func"() <{function_type = (memref<5xf32>) -> memref<5xf32>, sym_name = "callee", sym_visibility = "private"}> ({
  ^bb0(%arg1: memref<5xf32>):
    %1 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<5xf32>
    "memref.copy"(%arg1, %1) : (memref<5xf32>, memref<5xf32>) -> ()
    "func.return"(%1) : (memref<5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (memref<5xf32>) -> memref<5xf32>, sym_name = "caller", sym_visibility = "private"}> ({
  ^bb0(%arg0: memref<5xf32>):
    %0 = "func.call"(%arg0) <{callee = @callee}> : (memref<5xf32>) -> memref<5xf32>
    "func.return"(%0) : (memref<5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_region_if
"builtin.module"() ({
  "func.func"() <{function_type = (index, index) -> memref<?x?xf32>, sym_name = "inner_region_control_flow"}> ({
  ^bb0(%arg0: index, %arg1: index):
    %0 = "memref.alloc"(%arg0, %arg0) <{operandSegmentSizes = array<i32: 2, 0>}> : (index, index) -> memref<?x?xf32>
    %1 = "test.region_if"(%0) ({
    ^bb0(%arg4: memref<?x?xf32>):
      "test.region_if_yield"(%arg4) : (memref<?x?xf32>) -> ()
    }, {
    ^bb0(%arg3: memref<?x?xf32>):
      "test.region_if_yield"(%arg3) : (memref<?x?xf32>) -> ()
    }, {
    ^bb0(%arg2: memref<?x?xf32>):
      "test.region_if_yield"(%arg2) : (memref<?x?xf32>) -> ()
    }) : (memref<?x?xf32>) -> memref<?x?xf32>
    "func.return"(%1) : (memref<?x?xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_region_if_div
"builtin.module"() ({
  "func.func"() <{function_type = (index, index) -> memref<?x?xf32>, sym_name = "inner_region_control_flow_div"}> ({
  ^bb0(%arg0: index, %arg1: index):
    %0 = "memref.alloc"(%arg0, %arg0) <{operandSegmentSizes = array<i32: 2, 0>}> : (index, index) -> memref<?x?xf32>
    %1 = "test.region_if"(%0) ({
    ^bb0(%arg4: memref<?x?xf32>):
      "test.region_if_yield"(%arg4) : (memref<?x?xf32>) -> ()
    }, {
    ^bb0(%arg3: memref<?x?xf32>):
      %2 = "memref.alloc"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 2, 0>}> : (index, index) -> memref<?x?xf32>
      "test.region_if_yield"(%2) : (memref<?x?xf32>) -> ()
    }, {
    ^bb0(%arg2: memref<?x?xf32>):
      "test.region_if_yield"(%arg2) : (memref<?x?xf32>) -> ()
    }) : (memref<?x?xf32>) -> memref<?x?xf32>
    "func.return"(%1) : (memref<?x?xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// name: 004_tuple
"builtin.module"() ({
  "func.func"() <{function_type = (tuple<tensor<5xf32>, i1>) -> tuple<tensor<5xf32>, i1>, sym_name = "callee"}> ({
  ^bb0(%arg0: tuple<tensor<5xf32>, i1>):
    "func.return"(%arg0) : (tuple<tensor<5xf32>, i1>) -> ()
  }) : () -> ()
}) : () -> ()
