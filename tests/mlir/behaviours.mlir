// The programs of docs/mlir.md: one for each row, by name. `with:` gives options other than the usual ones.

// name: unknown_op_may_alias
func.func @f(%a: f64, %b: f64, %i: index) -> f64 {
  %e = tensor.empty() : tensor<6xf64>
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  %y = "lab.view"(%x) : (tensor<6xf64>) -> tensor<6xf64>
  %z = linalg.fill ins(%b : f64) outs(%x : tensor<6xf64>) -> tensor<6xf64>
  %p = tensor.extract %y[%i] : tensor<6xf64>
  %q = tensor.extract %z[%i] : tensor<6xf64>
  %r = arith.addf %p, %q : f64
  return %r : f64
}

// -----
// name: unknown_op_may_write
func.func @f(%a: f64, %i: index) -> f64 {
  %e = tensor.empty() : tensor<6xf64>
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  "lab.touch"(%x) : (tensor<6xf64>) -> ()
  %p = tensor.extract %x[%i] : tensor<6xf64>
  return %p : f64
}

// -----
// name: unknown_op_block_argument
func.func @f(%a: f64) {
  %e = tensor.empty() : tensor<6xf64>
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  "lab.scope"(%x) ({
  ^bb0(%t: tensor<6xf64>):
    "lab.touch"(%t) : (tensor<6xf64>) -> ()
  }) : (tensor<6xf64>) -> ()
  return
}

// -----
// name: undefined_is_not_read
func.func @f(%a: f64, %i: index) -> (f64, tensor<6xf64>) {
  %e = tensor.empty() : tensor<6xf64>
  %x = tensor.insert %a into %e[%i] : tensor<6xf64>
  %p = tensor.extract %e[%i] : tensor<6xf64>
  return %p, %x : f64, tensor<6xf64>
}

// -----
// name: undefined_alloc_tensor
func.func @f(%a: f64, %i: index) -> (f64, tensor<6xf64>) {
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  %x = tensor.insert %a into %e[%i] : tensor<6xf64>
  %p = tensor.extract %e[%i] : tensor<6xf64>
  return %p, %x : f64, tensor<6xf64>
}

// -----
// name: to_buffer_may_be_written
func.func @f(%a: f64, %i: index) -> f64 {
  %t = tensor.splat %a : tensor<6xf64>
  %m = bufferization.to_buffer %t : tensor<6xf64> to memref<6xf64>
  memref.store %a, %m[%i] : memref<6xf64>
  %p = tensor.extract %t[%i] : tensor<6xf64>
  return %p : f64
}

// -----
// name: to_buffer_read_only
func.func @f(%a: f64, %i: index) -> f64 {
  %t = tensor.splat %a : tensor<6xf64>
  %m = bufferization.to_buffer %t {read_only} : tensor<6xf64> to memref<6xf64>
  %q = memref.load %m[%i] : memref<6xf64>
  %p = tensor.extract %t[%i] : tensor<6xf64>
  %r = arith.addf %p, %q : f64
  return %r : f64
}

// -----
// name: materialize_overlapping
func.func @f(%t: tensor<?xf64>, %i: index, %j: index) -> tensor<3xf64> {
  %s = tensor.extract_slice %t[%i] [3] [1] : tensor<?xf64> to tensor<3xf64>
  %d = tensor.extract_slice %t[%j] [3] [1] : tensor<?xf64> to tensor<3xf64>
  %r = bufferization.materialize_in_destination %s in %d : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  return %r : tensor<3xf64>
}

// -----
// name: materialize_in_itself
func.func @f(%n: index) -> tensor<?xf64> {
  %e = tensor.empty(%n) : tensor<?xf64>
  %r = bufferization.materialize_in_destination %e in %e : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: from_elements_and_insert
func.func @f(%a: f64, %b: f64, %i: index) -> tensor<2xf64> {
  %t = tensor.from_elements %a, %a : tensor<2xf64>
  %r = tensor.insert %b into %t[%i] : tensor<2xf64>
  return %r : tensor<2xf64>
}

// -----
// name: argument_read_through_to_buffer; with: no-boundaries
func.func @f(%t: tensor<?xf64>) -> vector<2xf64> {
  %c = arith.constant 0 : index
  %z = arith.constant 0.0 : f64
  %r = vector.transfer_read %t[%c], %z : tensor<?xf64>, vector<2xf64>
  return %r : vector<2xf64>
}

// -----
// name: argument_is_read_only; with: no-boundaries
func.func @f(%t: tensor<?xf64>, %v: vector<2xf64>) -> tensor<?xf64> {
  %c = arith.constant 0 : index
  %r = vector.transfer_write %v, %t[%c] : vector<2xf64>, tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: vector_round_trip
func.func @f(%v: vector<6xf64>) -> vector<7xf64> {
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  %c = arith.constant 0 : index
  %z = arith.constant 0.0 : f64
  %w = vector.transfer_write %v, %e[%c] : vector<6xf64>, tensor<6xf64>
  %r = vector.transfer_read %w[%c], %z : tensor<6xf64>, vector<7xf64>
  return %r : vector<7xf64>
}

// -----
// name: unknown_result_read_after_write; with: no-boundaries
func.func @f(%a: f64, %i: index) -> (f64, f64) {
  %t = "lab.make"() : () -> tensor<6xf64>
  %w = tensor.insert %a into %t[%i] : tensor<6xf64>
  %p = "lab.use"(%t) : (tensor<6xf64>) -> f64
  %q = tensor.extract %w[%i] : tensor<6xf64>
  return %p, %q : f64, f64
}

// -----
// name: alloc_returned; with: no-boundaries
func.func @f() -> tensor<6xf64> {
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  return %e : tensor<6xf64>
}

// -----
// name: select_of_two_layouts; with: no-boundaries
func.func @f(%t: tensor<?xf64>, %n: index, %i: index, %c: i1) -> f64 {
  %e = bufferization.alloc_tensor(%n) : tensor<?xf64>
  %s = arith.select %c, %t, %e : tensor<?xf64>
  %r = tensor.extract %s[%i] : tensor<?xf64>
  return %r : f64
}

// -----
// name: alloc_tensor_with_copy; with: no-boundaries
func.func @f(%t: tensor<6xf64>) -> tensor<6xf64> {
  %e = bufferization.alloc_tensor() copy(%t) : tensor<6xf64>
  return %e : tensor<6xf64>
}

// -----
// name: alloc_tensor_in_a_memory_space; with: no-boundaries
func.func @f() -> tensor<6xf64> {
  %e = bufferization.alloc_tensor() {memory_space = 3 : i64} : tensor<6xf64>
  return %e : tensor<6xf64>
}

// -----
// name: read_through_a_slice
func.func @f(%t: tensor<30xf64>, %i: index, %n: index, %a: f64) -> (f64, f64) {
  %w = tensor.insert %a into %t[%i] : tensor<30xf64>
  %s = tensor.extract_slice %t[%i] [%n] [1] : tensor<30xf64> to tensor<?xf64>
  %p = tensor.extract %s[%i] : tensor<?xf64>
  %q = tensor.extract %w[%i] : tensor<30xf64>
  return %p, %q : f64, f64
}

// -----
// name: unranked_cast; with: no-boundaries
func.func @f(%t: tensor<*xi64>) -> tensor<*xi64> {
  %r = tensor.cast %t : tensor<*xi64> to tensor<*xi64>
  return %r : tensor<*xi64>
}

// -----
// name: materialize_is_a_copy; with: no-boundaries
func.func @f(%t: tensor<6xf64>) -> tensor<6xf64> {
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  %r = bufferization.materialize_in_destination %t in %e : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  return %r : tensor<6xf64>
}

// -----
// name: materialize_in_a_buffer
func.func @f(%t: tensor<6xf64>, %m: memref<6xf64>) {
  bufferization.materialize_in_destination %t in restrict writable %m : (tensor<6xf64>, memref<6xf64>) -> ()
  return
}

// -----
// name: materialize_in_a_read_only_argument; with: no-boundaries
func.func @f(%t: tensor<?xf64>, %d: tensor<?xf64>) -> tensor<?xf64> {
  %r = bufferization.materialize_in_destination %t in %d : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: materialize_over_what_is_read
func.func @f(%a: f64, %b: f64, %i: index) -> (tensor<6xf64>, f64) {
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  %d = linalg.fill ins(%a : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  %g = bufferization.alloc_tensor() : tensor<6xf64>
  %s = linalg.fill ins(%b : f64) outs(%g : tensor<6xf64>) -> tensor<6xf64>
  %r = bufferization.materialize_in_destination %s in %d : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  %p = tensor.extract %d[%i] : tensor<6xf64>
  return %r, %p : tensor<6xf64>, f64
}

// -----
// name: copy_before_write; with: copy-before-write
func.func @f(%a: f64, %b: f64, %i: index) -> tensor<2xf64> {
  %t = tensor.from_elements %a, %a : tensor<2xf64>
  %r = tensor.insert %b into %t[%i] : tensor<2xf64>
  return %r : tensor<2xf64>
}

// -----
// name: partial_unknown_result; with: no-boundaries
func.func @f(%t: tensor<?xf64>) -> vector<2xf64> {
  %u = "lab.view"(%t) : (tensor<?xf64>) -> tensor<?xf64>
  %c = arith.constant 0 : index
  %z = arith.constant 0.0 : f64
  %r = vector.transfer_read %u[%c], %z : tensor<?xf64>, vector<2xf64>
  return %r : vector<2xf64>
}

// -----
// name: partial_identity_layout; with: no-boundaries unknown-type-conversion=identity-layout-map
func.func @f(%t: tensor<?xf64>) -> vector<2xf64> {
  %u = "lab.view"(%t) : (tensor<?xf64>) -> tensor<?xf64>
  %c = arith.constant 0 : index
  %z = arith.constant 0.0 : f64
  %r = vector.transfer_read %u[%c], %z : tensor<?xf64>, vector<2xf64>
  return %r : vector<2xf64>
}

// -----
// name: partial_chain_of_unknown; with: no-boundaries
func.func @f(%t: tensor<?xf64>) -> tensor<?xf64> {
  %u = "lab.view"(%t) : (tensor<?xf64>) -> tensor<?xf64>
  %v = "lab.other"(%u) : (tensor<?xf64>) -> tensor<?xf64>
  return %v : tensor<?xf64>
}

// -----
// name: partial_slice_for_unknown; with: no-boundaries
func.func @f(%t: tensor<?xf64>, %o: index, %n: index) -> (tensor<?xf64>, tensor<?xf64>) {
  %s = tensor.extract_slice %t[%o] [%n] [1] : tensor<?xf64> to tensor<?xf64>
  %u = "lab.view"(%s) : (tensor<?xf64>) -> tensor<?xf64>
  return %s, %u : tensor<?xf64>, tensor<?xf64>
}

// -----
// name: partial_unknown_may_read; with: no-boundaries
func.func @f(%v: vector<2xf64>) -> (tensor<6xf64>, tensor<6xf64>) {
  %c = arith.constant 0 : index
  %z = arith.constant 1.0 : f64
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  %x = linalg.fill ins(%z : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  %w = vector.transfer_write %v, %x[%c] : vector<2xf64>, tensor<6xf64>
  %u = "lab.view"(%x) : (tensor<6xf64>) -> tensor<6xf64>
  return %w, %u : tensor<6xf64>, tensor<6xf64>
}

// -----
// name: partial_result_not_writable; with: no-boundaries
func.func @f(%t: tensor<?xf64>, %v: vector<2xf64>, %i: index) -> tensor<?xf64> {
  %u = "lab.view"(%t) : (tensor<?xf64>) -> tensor<?xf64>
  %w = vector.transfer_write %v, %u[%i] : vector<2xf64>, tensor<?xf64>
  return %w : tensor<?xf64>
}

// -----
// name: dialect_filter_tensor; with: no-boundaries dialect-filter=tensor,bufferization
func.func @f(%t: tensor<?xf64>, %a: f64) -> tensor<?xf64> {
  %c = arith.constant 0 : index
  %w = tensor.insert %a into %t[%c] : tensor<?xf64>
  return %w : tensor<?xf64>
}

// -----
// name: dialect_filter_scf; with: no-boundaries dialect-filter=scf,bufferization
func.func @f(%t: tensor<?xf64> {bufferization.writable = true}, %c: i1, %i: index, %a: f64) -> (tensor<?xf64>, index) {
  %r:2 = scf.if %c -> (tensor<?xf64>, index) {
    scf.yield %t, %i : tensor<?xf64>, index
  } else {
    %w = tensor.insert %a into %t[%i] : tensor<?xf64>
    scf.yield %w, %i : tensor<?xf64>, index
  }
  return %r#0, %r#1 : tensor<?xf64>, index
}

// -----
// name: alloc_or_argument; with: no-boundaries
func.func @f(%t: tensor<?xf64>, %c: i1, %n: index) -> tensor<?xf64> {
  %r = scf.if %c -> tensor<?xf64> {
    %e = bufferization.alloc_tensor(%n) : tensor<?xf64>
    scf.yield %e : tensor<?xf64>
  } else {
    scf.yield %t : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: scalar_array_written_or_argument; with: no-boundaries
func.func @f(%t: tensor<i64>, %c: i1, %a: i64) -> tensor<i64> {
  %r = scf.if %c -> tensor<i64> {
    scf.yield %t : tensor<i64>
  } else {
    %e = bufferization.alloc_tensor() : tensor<i64>
    %w = tensor.insert %a into %e[] : tensor<i64>
    scf.yield %w : tensor<i64>
  }
  return %r : tensor<i64>
}

// -----
// name: from_terminators_yielded_second; with: analysis-heuristic=bottom-up-from-terminators
func.func @f(%n: index, %a: f64, %b: f64) -> tensor<6xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<6xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %e) -> tensor<6xf64> {
    %x = linalg.fill ins(%a : f64) outs(%t : tensor<6xf64>) -> tensor<6xf64>
    %y = linalg.fill ins(%b : f64) outs(%t : tensor<6xf64>) -> tensor<6xf64>
    %p = tensor.extract %x[%c0] : tensor<6xf64>
    "lab.print"(%p) : (f64) -> ()
    scf.yield %y : tensor<6xf64>
  }
  return %r : tensor<6xf64>
}

// -----
// name: from_terminators_yielded_first; with: analysis-heuristic=bottom-up-from-terminators
func.func @f(%n: index, %a: f64, %b: f64) -> tensor<6xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<6xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %e) -> tensor<6xf64> {
    %x = linalg.fill ins(%a : f64) outs(%t : tensor<6xf64>) -> tensor<6xf64>
    %y = linalg.fill ins(%b : f64) outs(%t : tensor<6xf64>) -> tensor<6xf64>
    %p = tensor.extract %y[%c0] : tensor<6xf64>
    "lab.print"(%p) : (f64) -> ()
    scf.yield %x : tensor<6xf64>
  }
  return %r : tensor<6xf64>
}

// -----
// name: empty_for_two_inserts; with: eliminate
func.func @f(%t: tensor<?xf64>, %n: index) -> (tensor<?xf64>, tensor<?xf64>) {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty(%n) : tensor<?xf64>
  %x = linalg.fill ins(%z : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %p = tensor.insert_slice %x into %t[0] [%n] [1] : tensor<?xf64> into tensor<?xf64>
  %q = tensor.insert_slice %x into %t[9] [%n] [1] : tensor<?xf64> into tensor<?xf64>
  return %p, %q : tensor<?xf64>, tensor<?xf64>
}

// -----
// name: empty_for_one_insert; with: eliminate
func.func @f(%t: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty(%n) : tensor<?xf64>
  %x = linalg.fill ins(%z : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %p = tensor.insert_slice %x into %t[9] [%n] [1] : tensor<?xf64> into tensor<?xf64>
  return %p : tensor<?xf64>
}

// -----
// name: empty_outside_offset_inside; with: eliminate
func.func @f(%t: tensor<?xf64>, %n: index, %a: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4xf64>
  %r = scf.for %i = %c0 to %n step %c4 iter_args(%b = %t) -> tensor<?xf64> {
    %x = linalg.fill ins(%a : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
    %p = tensor.insert_slice %x into %b[%i] [4] [1] : tensor<4xf64> into tensor<?xf64>
    scf.yield %p : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: empty_outside_offset_outside; with: eliminate
func.func @f(%t: tensor<?xf64>, %n: index, %j: index, %a: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4xf64>
  %r = scf.for %i = %c0 to %n step %c4 iter_args(%b = %t) -> tensor<?xf64> {
    %x = linalg.fill ins(%a : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
    %p = tensor.insert_slice %x into %b[%j] [4] [1] : tensor<4xf64> into tensor<?xf64>
    scf.yield %p : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: empty_behind_a_reshape; with: eliminate
func.func @f(%t: tensor<3x4x10xf64>, %a: f64) -> tensor<3x4x10xf64> {
  %e = tensor.empty() : tensor<10xf64>
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<10xf64>) -> tensor<10xf64>
  %y = tensor.expand_shape %x [[0, 1, 2]] output_shape [1, 1, 10] : tensor<10xf64> into tensor<1x1x10xf64>
  %p = tensor.insert_slice %y into %t[1, 2, 0] [1, 1, 10] [1, 1, 1] : tensor<1x1x10xf64> into tensor<3x4x10xf64>
  return %p : tensor<3x4x10xf64>
}

// -----
// name: empty_behind_a_cast; with: eliminate
func.func @f(%t: tensor<20xf64>, %a: f64) -> tensor<20xf64> {
  %c = arith.constant 8 : index
  %e = tensor.empty(%c) : tensor<?xf64>
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %y = tensor.cast %x : tensor<?xf64> to tensor<8xf64>
  %p = tensor.insert_slice %y into %t[3] [8] [1] : tensor<8xf64> into tensor<20xf64>
  return %p : tensor<20xf64>
}

// -----
// name: empty_in_a_parallel_loop; with: eliminate
func.func @f(%t: tensor<?xf64>, %n: index, %a: f64) -> tensor<?xf64> {
  %c = arith.constant 5 : index
  %r = scf.forall (%i) in (%c) shared_outs(%o = %t) -> tensor<?xf64> {
    %e = tensor.empty(%n) : tensor<?xf64>
    %x = linalg.fill ins(%a : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[7] [%n] [1] : tensor<?xf64> into tensor<?xf64>
    }
  }
  return %r : tensor<?xf64>
}

// -----
// name: empty_on_both_sides; with: eliminate
func.func @f(%t: tensor<?xf64>, %n: index, %c: i1, %a: f64, %b: f64) -> tensor<?xf64> {
  %s = scf.if %c -> tensor<?xf64> {
    %e = tensor.empty(%n) : tensor<?xf64>
    %x = linalg.fill ins(%a : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
    scf.yield %x : tensor<?xf64>
  } else {
    %e = tensor.empty(%n) : tensor<?xf64>
    %x = linalg.fill ins(%b : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
    scf.yield %x : tensor<?xf64>
  }
  %p = tensor.insert_slice %s into %t[9] [%n] [1] : tensor<?xf64> into tensor<?xf64>
  return %p : tensor<?xf64>
}

// -----
// name: empty_only_is_replaced; with: eliminate
func.func @f(%t: tensor<9xf64>, %u: tensor<9xf64>) -> tensor<9xf64> {
  %s = tensor.extract_slice %t[0] [4] [1] : tensor<9xf64> to tensor<4xf64>
  %p = tensor.insert_slice %s into %u[2] [4] [1] : tensor<4xf64> into tensor<9xf64>
  return %p : tensor<9xf64>
}

// -----
// name: empty_is_not_an_argument; with: eliminate
func.func @f(%s: tensor<4xf64>, %u: tensor<9xf64>) -> tensor<9xf64> {
  %p = tensor.insert_slice %s into %u[2] [4] [1] : tensor<4xf64> into tensor<9xf64>
  return %p : tensor<9xf64>
}

// -----
// name: empty_behind_a_slice; with: eliminate
func.func @f(%n: index, %k: index, %t: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %e = tensor.empty(%n) : tensor<?x8xf64>
  %s = tensor.extract_slice %e[0, 0] [%k, 8] [1, 1] : tensor<?x8xf64> to tensor<?x8xf64>
  %p = tensor.insert_slice %s into %e[0, 0] [%k, 8] [1, 1] : tensor<?x8xf64> into tensor<?x8xf64>
  %q = tensor.insert_slice %p into %t[1, 0] [%n, 8] [1, 1] : tensor<?x8xf64> into tensor<?x8xf64>
  return %q : tensor<?x8xf64>
}

// -----
// name: empty_before_its_offsets; with: eliminate
func.func @f(%t: tensor<?x?xf64>, %a: f64) -> tensor<?x?xf64> {
  %e = tensor.empty() : tensor<2x3xf64>
  %i = "lab.index"() : () -> index
  %j = "lab.index"() : () -> index
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<2x3xf64>) -> tensor<2x3xf64>
  %p = tensor.insert_slice %x into %t[%i, %j] [2, 3] [1, 1] : tensor<2x3xf64> into tensor<?x?xf64>
  return %p : tensor<?x?xf64>
}

// -----
// name: empty_materialized; with: eliminate
func.func @f(%t: tensor<6xf64>, %a: f64) -> tensor<6xf64> {
  %e = tensor.empty() : tensor<6xf64>
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  %r = bufferization.materialize_in_destination %x in %t : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  return %r : tensor<6xf64>
}

// -----
// name: empty_materialized_in_a_buffer; with: eliminate
func.func @f(%m: memref<6xf64>, %a: f64) {
  %e = tensor.empty() : tensor<6xf64>
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  bufferization.materialize_in_destination %x in restrict writable %m : (tensor<6xf64>, memref<6xf64>) -> ()
  return
}

// -----
// name: empty_copied_by_linalg; with: eliminate
func.func @f(%t: tensor<6xf64>, %a: f64) -> tensor<6xf64> {
  %e = tensor.empty() : tensor<6xf64>
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  %r = linalg.copy ins(%x : tensor<6xf64>) outs(%t : tensor<6xf64>) -> tensor<6xf64>
  return %r : tensor<6xf64>
}

// -----
// name: empty_copied_onto_itself; with: eliminate
func.func @f() -> tensor<6xf64> {
  %e = tensor.empty() : tensor<6xf64>
  %r = linalg.copy ins(%e : tensor<6xf64>) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  return %r : tensor<6xf64>
}

// -----
// name: disjoint_read_through_nested_slices
func.func @f(%t: tensor<12xf64>, %s: tensor<6xf64>) -> (tensor<12xf64>, tensor<3xf64>) {
  %w = tensor.insert_slice %s into %t[0] [6] [1] : tensor<6xf64> into tensor<12xf64>
  %o = tensor.extract_slice %t[6] [6] [1] : tensor<12xf64> to tensor<6xf64>
  %i = tensor.extract_slice %o[1] [3] [1] : tensor<6xf64> to tensor<3xf64>
  return %w, %i : tensor<12xf64>, tensor<3xf64>
}

// -----
// name: disjoint_write_through_nested_slices
func.func @f(%t: tensor<12xf64>, %a: f64) -> (tensor<3xf64>, tensor<6xf64>) {
  %o = tensor.extract_slice %t[0] [6] [1] : tensor<12xf64> to tensor<6xf64>
  %i = tensor.extract_slice %o[1] [3] [1] : tensor<6xf64> to tensor<3xf64>
  %u = tensor.extract_slice %t[6] [6] [1] : tensor<12xf64> to tensor<6xf64>
  %w = linalg.fill ins(%a : f64) outs(%i : tensor<3xf64>) -> tensor<3xf64>
  return %w, %u : tensor<3xf64>, tensor<6xf64>
}

// -----
// name: overlapping_nested_slices
func.func @f(%t: tensor<12xf64>, %a: f64) -> (tensor<3xf64>, tensor<6xf64>) {
  %o = tensor.extract_slice %t[0] [6] [1] : tensor<12xf64> to tensor<6xf64>
  %i = tensor.extract_slice %o[1] [3] [1] : tensor<6xf64> to tensor<3xf64>
  %u = tensor.extract_slice %t[2] [6] [1] : tensor<12xf64> to tensor<6xf64>
  %w = linalg.fill ins(%a : f64) outs(%i : tensor<3xf64>) -> tensor<3xf64>
  return %w, %u : tensor<3xf64>, tensor<6xf64>
}

// -----
// name: disjoint_in_one_round_only
func.func @f(%t: tensor<5xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant 0.0 : f64
  %v = arith.constant 7.0 : f64
  %r = scf.for %i = %c1 to %c5 step %c1 iter_args(%s = %z) -> f64 {
    %j = arith.subi %i, %c1 : index
    %x = tensor.extract_slice %t[%i] [1] [1] : tensor<5xf64> to tensor<1xf64>
    %y = tensor.extract_slice %t[%j] [1] [1] : tensor<5xf64> to tensor<1xf64>
    %w = linalg.fill ins(%v : f64) outs(%x : tensor<1xf64>) -> tensor<1xf64>
    %p = tensor.extract %w[%c0] : tensor<1xf64>
    %q = tensor.extract %y[%c0] : tensor<1xf64>
    %d = arith.subf %p, %q : f64
    %n = arith.addf %s, %d : f64
    scf.yield %n : f64
  }
  return %r : f64
}

// -----
// name: disjoint_inserts_in_one_round_only
func.func @f(%t: tensor<5xf64>, %u: tensor<1xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant 0.0 : f64
  %r = scf.for %i = %c1 to %c5 step %c1 iter_args(%s = %z) -> f64 {
    %j = arith.subi %i, %c1 : index
    %w = tensor.insert_slice %u into %t[%i] [1] [1] : tensor<1xf64> into tensor<5xf64>
    %y = tensor.extract_slice %t[%j] [1] [1] : tensor<5xf64> to tensor<1xf64>
    %p = tensor.extract %w[%i] : tensor<5xf64>
    %q = tensor.extract %y[%c0] : tensor<1xf64>
    %d = arith.subf %p, %q : f64
    %n = arith.addf %s, %d : f64
    scf.yield %n : f64
  }
  return %r : f64
}

// -----
// name: disjoint_in_one_round_of_blocks
func.func @f(%t: tensor<5xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant 0.0 : f64
  %v = arith.constant 7.0 : f64
  cf.br ^body(%c1, %z : index, f64)
^body(%i: index, %s: f64):
  %j = arith.subi %i, %c1 : index
  %x = tensor.extract_slice %t[%i] [1] [1] : tensor<5xf64> to tensor<1xf64>
  %y = tensor.extract_slice %t[%j] [1] [1] : tensor<5xf64> to tensor<1xf64>
  %w = linalg.fill ins(%v : f64) outs(%x : tensor<1xf64>) -> tensor<1xf64>
  %p = tensor.extract %w[%c0] : tensor<1xf64>
  %q = tensor.extract %y[%c0] : tensor<1xf64>
  %d = arith.subf %p, %q : f64
  %n = arith.addf %s, %d : f64
  %k = arith.addi %i, %c1 : index
  %more = arith.cmpi ult, %k, %c5 : index
  cf.cond_br %more, ^body(%k, %n : index, f64), ^end(%n : f64)
^end(%r: f64):
  return %r : f64
}

// -----
// name: disjoint_of_a_value_made_in_the_round
func.func @f(%a: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant 0.0 : f64
  %r = scf.for %i = %c1 to %c5 step %c1 iter_args(%s = %z) -> f64 {
    %t = tensor.from_elements %a, %a, %a, %a : tensor<4xf64>
    %x = tensor.extract_slice %t[0] [2] [1] : tensor<4xf64> to tensor<2xf64>
    %y = tensor.extract_slice %t[2] [2] [1] : tensor<4xf64> to tensor<2xf64>
    %w = linalg.fill ins(%z : f64) outs(%x : tensor<2xf64>) -> tensor<2xf64>
    %p = tensor.extract %w[%c0] : tensor<2xf64>
    %q = tensor.extract %y[%c0] : tensor<2xf64>
    %d = arith.subf %p, %q : f64
    %n = arith.addf %s, %d : f64
    scf.yield %n : f64
  }
  return %r : f64
}

// -----
// name: slices_of_arguments
func.func @f(%a: tensor<?xf64> {bufferization.writable = false}, %b: tensor<?xf64>) -> (tensor<3xf64>, tensor<5xf64>) {
  %p = tensor.extract_slice %a[0] [3] [1] : tensor<?xf64> to tensor<3xf64>
  %q = tensor.extract_slice %b[0] [5] [1] : tensor<?xf64> to tensor<5xf64>
  return %p, %q : tensor<3xf64>, tensor<5xf64>
}

// -----
// name: inserts_into_arguments
func.func @f(%a: tensor<?xf64> {bufferization.writable = false}, %b: tensor<?xf64>, %c: tensor<3xf64>)
    -> (tensor<?xf64>, tensor<?xf64>) {
  %p = tensor.insert_slice %c into %a[0] [3] [1] : tensor<3xf64> into tensor<?xf64>
  %q = tensor.insert_slice %c into %b[0] [3] [1] : tensor<3xf64> into tensor<?xf64>
  return %p, %q : tensor<?xf64>, tensor<?xf64>
}

// -----
// name: products_onto_a_factor
func.func @f(%a: tensor<3x3xf64>, %b: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>) {
  %p = linalg.matmul ins(%a, %b : tensor<3x3xf64>, tensor<3x3xf64>) outs(%b : tensor<3x3xf64>) -> tensor<3x3xf64>
  %q = linalg.matmul ins(%a, %a : tensor<3x3xf64>, tensor<3x3xf64>) outs(%b : tensor<3x3xf64>) -> tensor<3x3xf64>
  return %p, %q : tensor<3x3xf64>, tensor<3x3xf64>
}

// -----
// name: slices_of_slices
func.func @f(%a: tensor<?xf64>) -> tensor<2xf64> {
  %p = tensor.extract_slice %a[1] [4] [1] : tensor<?xf64> to tensor<4xf64>
  %q = tensor.extract_slice %p[1] [2] [1] : tensor<4xf64> to tensor<2xf64>
  return %q : tensor<2xf64>
}

// -----
// name: inserts_of_inserts
func.func @f(%a: tensor<?xf64>, %b: tensor<4xf64>, %c: tensor<2xf64>) -> tensor<?xf64> {
  %p = tensor.insert_slice %c into %b[1] [2] [1] : tensor<2xf64> into tensor<4xf64>
  %q = tensor.insert_slice %p into %a[1] [4] [1] : tensor<4xf64> into tensor<?xf64>
  return %q : tensor<?xf64>
}

// -----
// name: slice_put_elsewhere
func.func @f(%a: tensor<?xf64>, %i: index) -> tensor<?xf64> {
  %p = tensor.extract_slice %a[0] [3] [1] : tensor<?xf64> to tensor<3xf64>
  %q = tensor.insert_slice %p into %a[%i] [3] [1] : tensor<3xf64> into tensor<?xf64>
  return %q : tensor<?xf64>
}

// -----
// name: slice_put_back
func.func @f(%a: tensor<?xf64>, %b: tensor<?xf64> {bufferization.writable = false}) -> (tensor<?xf64>, tensor<?xf64>) {
  %p = tensor.extract_slice %a[2] [3] [1] : tensor<?xf64> to tensor<3xf64>
  %q = tensor.insert_slice %p into %a[2] [3] [1] : tensor<3xf64> into tensor<?xf64>
  %s = tensor.extract_slice %b[2] [3] [1] : tensor<?xf64> to tensor<3xf64>
  %t = tensor.insert_slice %s into %b[2] [3] [1] : tensor<3xf64> into tensor<?xf64>
  return %q, %t : tensor<?xf64>, tensor<?xf64>
}

// -----
// name: read_after_put_back
func.func @f(%a: tensor<?xf64>, %i: index) -> (tensor<?xf64>, f64) {
  %z = arith.constant 0.0 : f64
  %p = tensor.extract_slice %a[%i] [%i] [1] : tensor<?xf64> to tensor<?xf64>
  %x = linalg.fill ins(%z : f64) outs(%p : tensor<?xf64>) -> tensor<?xf64>
  %q = tensor.insert_slice %x into %a[%i] [%i] [1] : tensor<?xf64> into tensor<?xf64>
  %r = tensor.extract %x[%i] : tensor<?xf64>
  return %q, %r : tensor<?xf64>, f64
}

// -----
// name: read_after_another_write
func.func @f(%a: tensor<?xf64>, %i: index, %j: index) -> (tensor<?xf64>, f64) {
  %z = arith.constant 0.0 : f64
  %p = tensor.extract_slice %a[%i] [%i] [1] : tensor<?xf64> to tensor<?xf64>
  %x = linalg.fill ins(%z : f64) outs(%p : tensor<?xf64>) -> tensor<?xf64>
  %q = tensor.insert_slice %x into %a[%i] [%i] [1] : tensor<?xf64> into tensor<?xf64>
  %s = tensor.extract_slice %q[%j] [%j] [1] : tensor<?xf64> to tensor<?xf64>
  %y = linalg.fill ins(%z : f64) outs(%s : tensor<?xf64>) -> tensor<?xf64>
  %r = tensor.extract %x[%i] : tensor<?xf64>
  %t = tensor.insert_slice %y into %q[%j] [%j] [1] : tensor<?xf64> into tensor<?xf64>
  return %t, %r : tensor<?xf64>, f64
}

// -----
// name: slice_only_read_by_products
func.func @f(%a: tensor<?x?xf64> {bufferization.writable = false}, %b: tensor<3x3xf64> {bufferization.writable = false},
             %c: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>) {
  %s = tensor.extract_slice %a[0, 0] [3, 3] [1, 1] : tensor<?x?xf64> to tensor<3x3xf64>
  %p = linalg.matmul ins(%s, %b : tensor<3x3xf64>, tensor<3x3xf64>) outs(%b : tensor<3x3xf64>) -> tensor<3x3xf64>
  %q = linalg.matmul ins(%s, %b : tensor<3x3xf64>, tensor<3x3xf64>) outs(%c : tensor<3x3xf64>) -> tensor<3x3xf64>
  return %p, %q : tensor<3x3xf64>, tensor<3x3xf64>
}

// -----
// name: slice_written_by_a_product
func.func @f(%a: tensor<3x3xf64>, %b: tensor<?x?xf64> {bufferization.writable = false}, %c: tensor<?x?xf64>)
    -> (tensor<3x3xf64>, tensor<3x3xf64>) {
  %s = tensor.extract_slice %b[0, 0] [3, 3] [1, 1] : tensor<?x?xf64> to tensor<3x3xf64>
  %p = linalg.matmul ins(%a, %a : tensor<3x3xf64>, tensor<3x3xf64>) outs(%s : tensor<3x3xf64>) -> tensor<3x3xf64>
  %t = tensor.extract_slice %c[0, 0] [3, 3] [1, 1] : tensor<?x?xf64> to tensor<3x3xf64>
  %q = linalg.matmul ins(%a, %s : tensor<3x3xf64>, tensor<3x3xf64>) outs(%t : tensor<3x3xf64>) -> tensor<3x3xf64>
  return %p, %q : tensor<3x3xf64>, tensor<3x3xf64>
}

// -----
// name: slice_of_all_of_a_slice_put_back
func.func @f(%m: index, %n: index, %i: index, %j: index, %a: f64, %c: tensor<9x7xf64>) -> tensor<9x7xf64> {
  %s = tensor.extract_slice %c[%i, %j] [%m, %n] [1, 1] : tensor<9x7xf64> to tensor<?x?xf64>
  %x = linalg.fill ins(%a : f64) outs(%s : tensor<?x?xf64>) -> tensor<?x?xf64>
  %t = tensor.extract_slice %x[0, 0] [%m, %n] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
  %r = tensor.insert_slice %t into %c[%i, %j] [%m, %n] [1, 1] : tensor<?x?xf64> into tensor<9x7xf64>
  return %r : tensor<9x7xf64>
}

// -----
// name: nested_slices_put_back
func.func @f(%b: tensor<?x?xf64>, %n: index, %a: f64) -> tensor<?x?xf64> {
  %s = tensor.extract_slice %b[0, 0] [%n, %n] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
  %t = tensor.extract_slice %s[0, 0] [3, 3] [1, 1] : tensor<?x?xf64> to tensor<3x3xf64>
  %x = linalg.fill ins(%a : f64) outs(%t : tensor<3x3xf64>) -> tensor<3x3xf64>
  %p = tensor.insert_slice %x into %s[0, 0] [3, 3] [1, 1] : tensor<3x3xf64> into tensor<?x?xf64>
  %q = tensor.insert_slice %p into %b[0, 0] [%n, %n] [1, 1] : tensor<?x?xf64> into tensor<?x?xf64>
  return %q : tensor<?x?xf64>
}

// -----
// name: nested_slices_of_a_read_only_argument
func.func @f(%b: tensor<?x?xf64> {bufferization.writable = false}, %n: index, %a: f64) -> tensor<?x?xf64> {
  %s = tensor.extract_slice %b[0, 0] [%n, %n] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
  %t = tensor.extract_slice %s[0, 0] [3, 3] [1, 1] : tensor<?x?xf64> to tensor<3x3xf64>
  %x = linalg.fill ins(%a : f64) outs(%t : tensor<3x3xf64>) -> tensor<3x3xf64>
  %p = tensor.insert_slice %x into %s[0, 0] [3, 3] [1, 1] : tensor<3x3xf64> into tensor<?x?xf64>
  %q = tensor.insert_slice %p into %b[0, 0] [%n, %n] [1, 1] : tensor<?x?xf64> into tensor<?x?xf64>
  return %q : tensor<?x?xf64>
}

// -----
// name: nested_slices_of_other_sizes
func.func @f(%b: tensor<?x?xf64>, %n: index, %k: index, %l: index, %a: f64) -> tensor<?x?xf64> {
  %s = tensor.extract_slice %b[0, 0] [%n, %n] [1, 1] : tensor<?x?xf64> to tensor<?x?xf64>
  %t = tensor.extract_slice %s[0, 0] [%k, 3] [1, 1] : tensor<?x?xf64> to tensor<?x3xf64>
  %x = linalg.fill ins(%a : f64) outs(%t : tensor<?x3xf64>) -> tensor<?x3xf64>
  %p = tensor.insert_slice %x into %s[0, 0] [%l, 3] [1, 1] : tensor<?x3xf64> into tensor<?x?xf64>
  %q = tensor.insert_slice %p into %b[0, 0] [%n, %n] [1, 1] : tensor<?x?xf64> into tensor<?x?xf64>
  return %q : tensor<?x?xf64>
}

// -----
// name: two_fills_for_external_calls
func.func private @look(tensor<9xf64>)
func.func @f(%t: tensor<9xf64>) {
  %p = arith.constant 1.0 : f64
  %q = arith.constant 2.0 : f64
  %a = linalg.fill ins(%p : f64) outs(%t : tensor<9xf64>) -> tensor<9xf64>
  %b = linalg.fill ins(%q : f64) outs(%t : tensor<9xf64>) -> tensor<9xf64>
  call @look(%a) : (tensor<9xf64>) -> ()
  call @look(%b) : (tensor<9xf64>) -> ()
  return
}

// -----
// name: two_fills_through_a_loop_and_a_call
func.func private @look(tensor<9xf64>)
func.func private @pass(%t: tensor<9xf64>) {
  call @look(%t) : (tensor<9xf64>) -> ()
  return
}
func.func @f(%t: tensor<9xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = arith.constant 1.0 : f64
  %q = arith.constant 2.0 : f64
  %a = linalg.fill ins(%p : f64) outs(%t : tensor<9xf64>) -> tensor<9xf64>
  %b = linalg.fill ins(%q : f64) outs(%t : tensor<9xf64>) -> tensor<9xf64>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<9xf64>, tensor<9xf64>) {
    scf.yield %x, %y : tensor<9xf64>, tensor<9xf64>
  }
  call @pass(%r#0) : (tensor<9xf64>) -> ()
  call @pass(%r#1) : (tensor<9xf64>) -> ()
  return
}

// -----
// name: constant_written_through_a_slice
func.func @f(%v: vector<2xi64>, %i: index, %n: index) -> tensor<?xi64> {
  %a = arith.constant dense<[5, 6, 7, 8]> : tensor<4xi64>
  %s = tensor.extract_slice %a[%i] [%n] [1] : tensor<4xi64> to tensor<?xi64>
  %r = vector.transfer_write %v, %s[%i] : vector<2xi64>, tensor<?xi64>
  return %r : tensor<?xi64>
}

// -----
// name: two_factors_from_one_allocation
func.func @f(%c: tensor<6x6xf64>) -> tensor<6x6xf64> {
  %p = arith.constant 1.0 : f64
  %q = arith.constant 2.0 : f64
  %e = bufferization.alloc_tensor() : tensor<6x6xf64>
  %a = linalg.fill ins(%p : f64) outs(%e : tensor<6x6xf64>) -> tensor<6x6xf64>
  %b = linalg.fill ins(%q : f64) outs(%e : tensor<6x6xf64>) -> tensor<6x6xf64>
  %s = tensor.extract_slice %a[0, 0] [6, 2] [1, 1] : tensor<6x6xf64> to tensor<6x2xf64>
  %t = tensor.extract_slice %b[0, 0] [2, 6] [1, 1] : tensor<6x6xf64> to tensor<2x6xf64>
  %r = linalg.matmul ins(%s, %t : tensor<6x2xf64>, tensor<2x6xf64>) outs(%c : tensor<6x6xf64>) -> tensor<6x6xf64>
  return %r : tensor<6x6xf64>
}

// -----
// name: parts_one_after_another
func.func @f(%a: f64, %b: f64, %c: tensor<9x5xf64>, %u: tensor<9x5xf64>) -> tensor<9x5xf64> {
  %z = arith.constant 0.0 : f64
  %x = linalg.fill ins(%z : f64) outs(%c : tensor<9x5xf64>) -> tensor<9x5xf64>
  %s = tensor.extract_slice %x[0, 0] [4, 5] [1, 1] : tensor<9x5xf64> to tensor<4x5xf64>
  %p = linalg.fill ins(%a : f64) outs(%s : tensor<4x5xf64>) -> tensor<4x5xf64>
  %y = tensor.insert_slice %p into %x[0, 0] [4, 5] [1, 1] : tensor<4x5xf64> into tensor<9x5xf64>
  %t = tensor.extract_slice %y[4, 0] [5, 5] [1, 1] : tensor<9x5xf64> to tensor<5x5xf64>
  %q = linalg.fill ins(%b : f64) outs(%t : tensor<5x5xf64>) -> tensor<5x5xf64>
  %r = tensor.insert_slice %q into %y[4, 0] [5, 5] [1, 1] : tensor<5x5xf64> into tensor<9x5xf64>
  return %r : tensor<9x5xf64>
}

// -----
// name: slices_put_back_in_a_loop
func.func @f(%t: tensor<8x9xf64>, %n: index, %a: f64) -> tensor<8x9xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<8x9xf64> {
    %s = tensor.extract_slice %b[%i, 0] [3, %n] [1, 1] : tensor<8x9xf64> to tensor<3x?xf64>
    %u = tensor.extract_slice %s[0, 0] [3, %n] [1, 1] : tensor<3x?xf64> to tensor<3x?xf64>
    %x = linalg.fill ins(%a : f64) outs(%u : tensor<3x?xf64>) -> tensor<3x?xf64>
    %p = tensor.insert_slice %x into %b[%i, 0] [3, %n] [1, 1] : tensor<3x?xf64> into tensor<8x9xf64>
    scf.yield %p : tensor<8x9xf64>
  }
  return %r : tensor<8x9xf64>
}

// -----
// name: two_results_one_destination
#id = affine_map<(i) -> (i)>
func.func @f(%t: tensor<?xf64>, %u: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%t : tensor<?xf64>) outs(%u, %u : tensor<?xf64>, tensor<?xf64>) {
    ^bb0(%a: f64, %b: f64, %c: f64):
      %n = arith.negf %a : f64
      linalg.yield %a, %n : f64, f64
  } -> (tensor<?xf64>, tensor<?xf64>)
  return %r#0, %r#1 : tensor<?xf64>, tensor<?xf64>
}

// -----
// name: parts_of_two_versions
func.func @f(%c: tensor<9x5xf64>, %a: f64, %b: f64, %i: index, %n: index) -> (tensor<9x5xf64>, tensor<?x?xf64>) {
  %e = tensor.extract_slice %c[%i, %i] [%n, %n] [1, 1] : tensor<9x5xf64> to tensor<?x?xf64>
  %s = tensor.extract_slice %c[0, 0] [4, 5] [1, 1] : tensor<9x5xf64> to tensor<4x5xf64>
  %p = linalg.fill ins(%a : f64) outs(%s : tensor<4x5xf64>) -> tensor<4x5xf64>
  %y = tensor.insert_slice %p into %c[0, 0] [4, 5] [1, 1] : tensor<4x5xf64> into tensor<9x5xf64>
  %t = tensor.extract_slice %e[0, 0] [2, 2] [1, 1] : tensor<?x?xf64> to tensor<2x2xf64>
  %q = linalg.fill ins(%b : f64) outs(%t : tensor<2x2xf64>) -> tensor<2x2xf64>
  %r = tensor.insert_slice %q into %e[0, 0] [2, 2] [1, 1] : tensor<2x2xf64> into tensor<?x?xf64>
  return %y, %r : tensor<9x5xf64>, tensor<?x?xf64>
}

// -----
// name: both_parts_before_both_inserts
func.func @f(%c: tensor<9x5xf64>) -> tensor<9x5xf64> {
  %s = tensor.extract_slice %c[0, 0] [4, 5] [1, 1] : tensor<9x5xf64> to tensor<4x5xf64>
  %t = tensor.extract_slice %c[4, 0] [5, 5] [1, 1] : tensor<9x5xf64> to tensor<5x5xf64>
  %x = tensor.insert_slice %s into %c[0, 0] [4, 5] [1, 1] : tensor<4x5xf64> into tensor<9x5xf64>
  %y = tensor.insert_slice %t into %x[4, 0] [5, 5] [1, 1] : tensor<5x5xf64> into tensor<9x5xf64>
  return %y : tensor<9x5xf64>
}

// -----
// name: both_parts_overlap
func.func @f(%c: tensor<9x5xf64>, %a: f64) -> tensor<9x5xf64> {
  %s = tensor.extract_slice %c[0, 0] [4, 5] [1, 1] : tensor<9x5xf64> to tensor<4x5xf64>
  %t = tensor.extract_slice %c[3, 0] [5, 5] [1, 1] : tensor<9x5xf64> to tensor<5x5xf64>
  %p = linalg.fill ins(%a : f64) outs(%s : tensor<4x5xf64>) -> tensor<4x5xf64>
  %x = tensor.insert_slice %p into %c[0, 0] [4, 5] [1, 1] : tensor<4x5xf64> into tensor<9x5xf64>
  %y = tensor.insert_slice %t into %x[3, 0] [5, 5] [1, 1] : tensor<5x5xf64> into tensor<9x5xf64>
  return %y : tensor<9x5xf64>
}

// -----
// name: one_part_inserted_twice
func.func @f(%c: tensor<9x5xf64>) -> tensor<9x5xf64> {
  %s = tensor.extract_slice %c[0, 0] [4, 5] [1, 1] : tensor<9x5xf64> to tensor<4x5xf64>
  %x = tensor.insert_slice %s into %c[0, 0] [4, 5] [1, 1] : tensor<4x5xf64> into tensor<9x5xf64>
  %y = tensor.insert_slice %s into %x[3, 0] [4, 5] [1, 1] : tensor<4x5xf64> into tensor<9x5xf64>
  return %y : tensor<9x5xf64>
}

// -----
// name: call_of_a_writer
func.func private @put(%t: tensor<?xf64>, %a: f64) -> tensor<?xf64> {
  %c = arith.constant 0 : index
  %r = tensor.insert %a into %t[%c] : tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func @f(%t: tensor<?xf64>, %a: f64) -> tensor<?xf64> {
  %r = call @put(%t, %a) : (tensor<?xf64>, f64) -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: to_tensor_not_writable
func.func @f(%m: memref<?xf64>, %a: f64, %i: index) -> f64 {
  %t = bufferization.to_tensor %m restrict : memref<?xf64> to tensor<?xf64>
  %w = tensor.insert %a into %t[%i] : tensor<?xf64>
  %r = tensor.extract %w[%i] : tensor<?xf64>
  return %r : f64
}

// -----
// name: equivalent_result_of_a_call_yielded
func.func private @same(%t: tensor<?xf64>) -> tensor<?xf64> {
  return %t : tensor<?xf64>
}
func.func @f(%n: index, %t: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?xf64> {
    %p = func.call @same(%b) : (tensor<?xf64>) -> tensor<?xf64>
    scf.yield %p : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: written_result_of_a_call_yielded
func.func private @put(%t: tensor<?xf64>) -> tensor<?xf64> {
  %a = arith.constant 3.0 : f64
  %c = arith.constant 0 : index
  %r = tensor.insert %a into %t[%c] : tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func @f(%n: index, %t: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?xf64> {
    %p = func.call @put(%b) : (tensor<?xf64>) -> tensor<?xf64>
    scf.yield %p : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: select_written_one_read
func.func @f(%t: tensor<?xf64>, %u: tensor<?xf64>, %c: i1, %i: index, %a: f64) -> (f64, tensor<?xf64>) {
  %s = arith.select %c, %t, %u : tensor<?xf64>
  %w = tensor.insert %a into %s[%i] : tensor<?xf64>
  %r = tensor.extract %t[%i] : tensor<?xf64>
  return %r, %w : f64, tensor<?xf64>
}

// -----
// name: select_written_both_read
func.func @f(%t: tensor<?xf64>, %u: tensor<?xf64>, %c: i1, %i: index, %a: f64) -> (f64, f64, tensor<?xf64>) {
  %s = arith.select %c, %t, %u : tensor<?xf64>
  %w = tensor.insert %a into %s[%i] : tensor<?xf64>
  %r = tensor.extract %t[%i] : tensor<?xf64>
  %q = tensor.extract %u[%i] : tensor<?xf64>
  return %r, %q, %w : f64, f64, tensor<?xf64>
}

// -----
// name: select_written_none_read
func.func @f(%t: tensor<?xf64>, %u: tensor<?xf64>, %c: i1, %i: index, %a: f64) -> (f64, tensor<?xf64>) {
  %s = arith.select %c, %t, %u : tensor<?xf64>
  %w = tensor.insert %a into %s[%i] : tensor<?xf64>
  %r = tensor.extract %w[%i] : tensor<?xf64>
  return %r, %w : f64, tensor<?xf64>
}

// -----
// name: outer_argument_written_each_round
func.func @f(%t: tensor<?xf64>, %u: tensor<?xf64>, %n: index, %a: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?xf64> {
    %w = tensor.insert %a into %u[%i] : tensor<?xf64>
    %p = tensor.insert_slice %w into %b[%i] [%n] [1] : tensor<?xf64> into tensor<?xf64>
    scf.yield %p : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: outer_allocation_written_each_round
func.func @f(%t: tensor<?xf64>, %n: index, %k: index, %a: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %u = bufferization.alloc_tensor(%k) : tensor<?xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?xf64> {
    %w = tensor.insert %a into %u[%i] : tensor<?xf64>
    %p = tensor.insert_slice %w into %b[%i] [%k] [1] : tensor<?xf64> into tensor<?xf64>
    scf.yield %p : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: outer_contents_written_each_round
func.func @f(%t: tensor<?xf64>, %n: index, %k: index, %a: f64, %d: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = bufferization.alloc_tensor(%k) : tensor<?xf64>
  %u = tensor.insert %d into %e[%n] : tensor<?xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?xf64> {
    %w = tensor.insert %a into %u[%i] : tensor<?xf64>
    %p = tensor.insert_slice %w into %b[%i] [%k] [1] : tensor<?xf64> into tensor<?xf64>
    scf.yield %p : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: cast_for_an_external_function
func.func private @out(tensor<?xf64>)
func.func @f(%t: tensor<6xf64>, %i: index) -> f64 {
  %u = tensor.cast %t : tensor<6xf64> to tensor<?xf64>
  call @out(%u) : (tensor<?xf64>) -> ()
  %r = tensor.extract %t[%i] : tensor<6xf64>
  return %r : f64
}

// -----
// name: declared_access_of_an_external_function
func.func private @show(tensor<*xf64> {bufferization.access = "read"})
func.func @f(%t: tensor<6xf64>, %i: index) -> f64 {
  %u = tensor.cast %t : tensor<6xf64> to tensor<*xf64>
  call @show(%u) : (tensor<*xf64>) -> ()
  %r = tensor.extract %t[%i] : tensor<6xf64>
  return %r : f64
}

// -----
// name: one_tensor_twice_to_an_external_function
func.func private @two(tensor<?xf64>, tensor<?xf64>)
func.func @f(%t: tensor<?xf64>) {
  call @two(%t, %t) : (tensor<?xf64>, tensor<?xf64>) -> ()
  return
}

// -----
// name: external_result_may_alias
func.func private @split(tensor<?xf64>) -> (tensor<2xf64>, tensor<3xf64>)
func.func @f(%t: tensor<?xf64>, %i: index) -> f64 {
  %a, %b = call @split(%t) : (tensor<?xf64>) -> (tensor<2xf64>, tensor<3xf64>)
  %r = tensor.extract %b[%i] : tensor<3xf64>
  return %r : f64
}

// -----
// name: recursion
func.func @f(%a: tensor<?xf64>, %b: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %r:2 = call @f(%a, %b) : (tensor<?xf64>, tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  return %r#0, %r#1 : tensor<?xf64>, tensor<?xf64>
}

// -----
// name: two_returns_of_two_arguments
func.func private @one(%c: i1, %t: tensor<6xf64>, %u: tensor<6xf64>) -> tensor<6xf64> {
  cf.cond_br %c, ^a, ^b
^a:
  return %t : tensor<6xf64>
^b:
  return %u : tensor<6xf64>
}
func.func @f(%c: i1, %t: tensor<6xf64>, %u: tensor<6xf64>) -> tensor<6xf64> {
  %r = call @one(%c, %t, %u) : (i1, tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  return %r : tensor<6xf64>
}

// -----
// name: two_returns_of_one_argument
func.func private @one(%c: i1, %t: tensor<6xf64>, %u: tensor<6xf64>) -> tensor<6xf64> {
  cf.cond_br %c, ^a, ^b
^a:
  return %t : tensor<6xf64>
^b:
  return %t : tensor<6xf64>
}
func.func @f(%c: i1, %t: tensor<6xf64>, %u: tensor<6xf64>) -> tensor<6xf64> {
  %r = call @one(%c, %t, %u) : (i1, tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  return %r : tensor<6xf64>
}

// -----
// name: external_functions_get_memrefs
func.func private @a(tensor<?x?xf64>) -> f64
func.func private @b(tensor<5xi64>)
func.func @f() {
  return
}

// -----
// name: external_functions_get_plain_memrefs; with: function-boundary-type-conversion=identity-layout-map
func.func private @a(tensor<?x?xf64>) -> f64
func.func @f(%t: tensor<?x?xf64>) -> f64 {
  %r = call @a(%t) : (tensor<?x?xf64>) -> f64
  return %r : f64
}

// -----
// name: slice_returned
func.func @f(%i: index, %n: index) -> tensor<2x?xf64> {
  %e = bufferization.alloc_tensor() : tensor<9x7xf64>
  %s = tensor.extract_slice %e[%i, %i] [2, %n] [1, 1] : tensor<9x7xf64> to tensor<2x?xf64>
  return %s : tensor<2x?xf64>
}

// -----
// name: slice_returned_dense; with: function-boundary-type-conversion=identity-layout-map
func.func @f(%i: index, %n: index) -> tensor<2x?xf64> {
  %e = bufferization.alloc_tensor() : tensor<9x7xf64>
  %s = tensor.extract_slice %e[%i, %i] [2, %n] [1, 1] : tensor<9x7xf64> to tensor<2x?xf64>
  return %s : tensor<2x?xf64>
}

// -----
// name: slice_returned_dynamic; with: function-boundary-type-conversion=fully-dynamic-layout-map
func.func @f(%i: index, %n: index) -> tensor<2x?xf64> {
  %e = bufferization.alloc_tensor() : tensor<9x7xf64>
  %s = tensor.extract_slice %e[%i, %i] [2, %n] [1, 1] : tensor<9x7xf64> to tensor<2x?xf64>
  return %s : tensor<2x?xf64>
}

// -----
// name: argument_for_an_external_function
func.func private @out(tensor<?xf64>) -> f64
func.func @f(%t: tensor<?xf64>, %u: tensor<?xf64> {bufferization.writable = false}) -> (f64, f64) {
  %p = call @out(%t) : (tensor<?xf64>) -> f64
  %q = call @out(%u) : (tensor<?xf64>) -> f64
  return %p, %q : f64, f64
}

// -----
// name: call_with_a_read_only_argument
func.func private @put(%t: tensor<?xf64>) -> (tensor<?xf64>, f64) {
  %a = arith.constant 3.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = tensor.insert %a into %t[%c0] : tensor<?xf64>
  %r = tensor.extract %w[%c1] : tensor<?xf64>
  return %w, %r : tensor<?xf64>, f64
}
func.func @f(%t: tensor<?xf64> {bufferization.writable = false}) -> (tensor<?xf64>, f64) {
  %r, %s = call @put(%t) : (tensor<?xf64>) -> (tensor<?xf64>, f64)
  return %r, %s : tensor<?xf64>, f64
}

// -----
// name: chain_of_calls_to_an_external_function
func.func private @out(tensor<?xf64>) -> f64
func.func private @a(%t: tensor<?xf64>) -> f64 {
  %r = call @out(%t) : (tensor<?xf64>) -> f64
  return %r : f64
}
func.func private @b(%t: tensor<?xf64>) -> f64 {
  %r = call @a(%t) : (tensor<?xf64>) -> f64
  return %r : f64
}
func.func @f(%t: tensor<?xf64> {bufferization.writable = false}) -> f64 {
  %r = call @b(%t) : (tensor<?xf64>) -> f64
  return %r : f64
}

// -----
// name: callee_only_writes
func.func private @clear(%t: tensor<?xf64>) -> tensor<?xf64> {
  %z = arith.constant 0.0 : f64
  %r = linalg.fill ins(%z : f64) outs(%t : tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func @f(%t: tensor<?xf64> {bufferization.writable = false}, %i: index) -> f64 {
  %r = call @clear(%t) : (tensor<?xf64>) -> tensor<?xf64>
  %p = tensor.extract %r[%i] : tensor<?xf64>
  return %p : f64
}

// -----
// name: constant_for_an_external_function
func.func private @out(tensor<4xi64>)
func.func @f() {
  %a = arith.constant dense<[5, 6, 7, 8]> : tensor<4xi64>
  call @out(%a) : (tensor<4xi64>) -> ()
  scf.execute_region {
    func.call @out(%a) : (tensor<4xi64>) -> ()
    scf.yield
  }
  return
}

// -----
// name: execute_region_writes
func.func @f(%t: tensor<?xf64>, %a: f64, %i: index) -> (f64, tensor<?xf64>) {
  %p, %q = scf.execute_region -> (f64, tensor<?xf64>) {
    %w = tensor.insert %a into %t[%i] : tensor<?xf64>
    scf.yield %a, %w : f64, tensor<?xf64>
  }
  return %p, %q : f64, tensor<?xf64>
}

// -----
// name: results_swapped
func.func private @out(tensor<?xf64>)
func.func private @both(%a: tensor<?xf64>, %b: tensor<?xf64>, %c: tensor<3xf64>, %n: index) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<?xf64>, tensor<?xf64>) {
    %p = tensor.insert_slice %c into %x[%i] [3] [1] : tensor<3xf64> into tensor<?xf64>
    %q = tensor.insert_slice %c into %y[%i] [3] [1] : tensor<3xf64> into tensor<?xf64>
    scf.yield %p, %q : tensor<?xf64>, tensor<?xf64>
  }
  return %r#1, %r#0 : tensor<?xf64>, tensor<?xf64>
}
func.func @f(%a: tensor<?xf64>, %b: tensor<?xf64>, %c: tensor<3xf64>, %n: index) -> (tensor<?xf64>, tensor<?xf64>) {
  %r:2 = call @both(%a, %b, %c, %n) : (tensor<?xf64>, tensor<?xf64>, tensor<3xf64>, index) -> (tensor<?xf64>, tensor<?xf64>)
  call @out(%r#0) : (tensor<?xf64>) -> ()
  return %r#0, %r#1 : tensor<?xf64>, tensor<?xf64>
}

// -----
// name: scalar_product_of_filled
func.func private @show(tensor<*xf64>)
func.func private @dot(%a: tensor<9xf64>, %b: tensor<9xf64>, %c: tensor<f64>) -> tensor<f64> {
  %z = arith.constant 0.0 : f64
  %d = linalg.fill ins(%z : f64) outs(%c : tensor<f64>) -> tensor<f64>
  %r = linalg.dot ins(%a, %b : tensor<9xf64>, tensor<9xf64>) outs(%d : tensor<f64>) -> tensor<f64>
  return %r : tensor<f64>
}
func.func @f(%p: f64, %q: f64) {
  %a = bufferization.alloc_tensor() : tensor<9xf64>
  %b = bufferization.alloc_tensor() : tensor<9xf64>
  %c = bufferization.alloc_tensor() : tensor<f64>
  %x = linalg.fill ins(%p : f64) outs(%a : tensor<9xf64>) -> tensor<9xf64>
  %y = linalg.fill ins(%q : f64) outs(%b : tensor<9xf64>) -> tensor<9xf64>
  %r = call @dot(%x, %y, %c) : (tensor<9xf64>, tensor<9xf64>, tensor<f64>) -> tensor<f64>
  %u = tensor.cast %r : tensor<f64> to tensor<*xf64>
  call @show(%u) : (tensor<*xf64>) -> ()
  return
}

// -----
// name: layout_given_for_an_argument
func.func private @out(tensor<?xf64>)
func.func @f(%a: tensor<?xf64> {bufferization.buffer_layout = affine_map<(i) -> (i)>}, %b: tensor<?xf64>) {
  call @out(%a) : (tensor<?xf64>) -> ()
  call @out(%b) : (tensor<?xf64>) -> ()
  return
}

// -----
// name: call_writes_but_old_is_yielded
func.func private @put(%t: tensor<?xf64>) -> tensor<?xf64> {
  %a = arith.constant 3.0 : f64
  %c = arith.constant 0 : index
  %r = tensor.insert %a into %t[%c] : tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func private @out(tensor<?xf64>)
func.func @f(%n: index, %t: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?xf64> {
    %p = func.call @put(%b) : (tensor<?xf64>) -> tensor<?xf64>
    func.call @out(%p) : (tensor<?xf64>) -> ()
    scf.yield %b : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: constant_cast_to_unranked
func.func private @out(tensor<*xf64>)
func.func @f() {
  %t = arith.constant dense<[1.0, 4.0]> : tensor<2xf64>
  %u = tensor.cast %t : tensor<2xf64> to tensor<*xf64>
  call @out(%u) : (tensor<*xf64>) -> ()
  return
}

// -----
// name: other_functions_are_left_alone
llvm.func @g()
func.func @f() {
  llvm.call @g() : () -> ()
  return
}

// -----
// name: to_buffer_for_an_unknown_op
func.func @f(%t: tensor<?xf64>, %i: index) -> f64 {
  %m = bufferization.to_buffer %t : tensor<?xf64> to memref<?xf64>
  "lab.touch"(%m) : (memref<?xf64>) -> ()
  %r = tensor.extract %t[%i] : tensor<?xf64>
  return %r : f64
}

// -----
// name: returned_cast_keeps_the_shape
func.func private @make() -> tensor<?xf64>
func.func @f() -> tensor<6xf64> {
  %t = call @make() : () -> tensor<?xf64>
  %r = tensor.cast %t : tensor<?xf64> to tensor<6xf64>
  return %r : tensor<6xf64>
}

// -----
// name: returned_cast_from_unranked
func.func private @make() -> tensor<*xf64>
func.func @f() -> tensor<6xf64> {
  %t = call @make() : () -> tensor<*xf64>
  %r = tensor.cast %t : tensor<*xf64> to tensor<6xf64>
  return %r : tensor<6xf64>
}

// -----
// name: fresh_result_of_a_call
func.func private @make() -> tensor<6xf64> {
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  return %e : tensor<6xf64>
}
func.func @f(%i: index) -> f64 {
  %t = call @make() : () -> tensor<6xf64>
  %r = tensor.extract %t[%i] : tensor<6xf64>
  return %r : f64
}

// -----
// name: slice_returned_by_a_call_and_its_base_overwritten
func.func private @part(%t: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %s = tensor.extract_slice %t[2] [%n] [1] : tensor<?xf64> to tensor<?xf64>
  return %s : tensor<?xf64>
}
func.func @f(%t: tensor<?xf64>, %n: index, %a: f64) -> (f64, f64) {
  %s = call @part(%t, %n) : (tensor<?xf64>, index) -> tensor<?xf64>
  %x = linalg.fill ins(%a : f64) outs(%t : tensor<?xf64>) -> tensor<?xf64>
  %p = tensor.extract %s[%n] : tensor<?xf64>
  %q = tensor.extract %x[%n] : tensor<?xf64>
  return %p, %q : f64, f64
}

// -----
// name: argument_returned; with: drop
func.func private @same(%t: tensor<?xf64>) -> tensor<?xf64> {
  return %t : tensor<?xf64>
}
func.func @f(%t: tensor<?xf64>, %i: index) -> f64 {
  %r = call @same(%t) : (tensor<?xf64>) -> tensor<?xf64>
  %p = tensor.extract %r[%i] : tensor<?xf64>
  return %p : f64
}

// -----
// name: no_analysis_of_some_functions; with: no-analysis-func-filter=g
func.func private @g(%t: tensor<?xf64>, %a: f64, %i: index) -> tensor<?xf64> {
  %r = tensor.insert %a into %t[%i] : tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func @f(%t: tensor<?xf64>, %a: f64, %i: index) -> tensor<?xf64> {
  %r = tensor.insert %a into %t[%i] : tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: copy_before_write_around_a_call; with: copy-before-write
func.func private @out(tensor<9xf64>)
func.func @f(%t: tensor<9xf64>) {
  call @out(%t) : (tensor<9xf64>) -> ()
  return
}

// -----
// name: loops_that_only_yield
func.func @f(%a: tensor<?xf64> {bufferization.writable = false}, %b: tensor<?xf64>, %n: index) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<?xf64> {
    scf.yield %t : tensor<?xf64>
  }
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> tensor<?xf64> {
    scf.yield %t : tensor<?xf64>
  }
  return %p, %q : tensor<?xf64>, tensor<?xf64>
}

// -----
// name: loop_inserts_into_arguments
func.func @f(%a: tensor<?xf64> {bufferization.writable = false}, %b: tensor<?xf64>, %c: tensor<3xf64>, %n: index)
    -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<?xf64>, tensor<?xf64>) {
    %p = tensor.insert_slice %c into %x[0] [3] [1] : tensor<3xf64> into tensor<?xf64>
    %q = tensor.insert_slice %c into %y[0] [3] [1] : tensor<3xf64> into tensor<?xf64>
    scf.yield %p, %q : tensor<?xf64>, tensor<?xf64>
  }
  return %r#0, %r#1 : tensor<?xf64>, tensor<?xf64>
}

// -----
// name: loops_with_an_external_reader
func.func private @out(tensor<?xf64>)
func.func @f(%a: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<?xf64> {
    func.call @out(%t) : (tensor<?xf64>) -> ()
    scf.yield %t : tensor<?xf64>
  }
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<?xf64> {
    func.call @out(%t) : (tensor<?xf64>) -> ()
    scf.yield %t : tensor<?xf64>
  }
  return %q : tensor<?xf64>
}

// -----
// name: loop_reads_the_old_value
func.func @f(%t: tensor<?xf64>, %n: index, %a: f64) -> (tensor<?xf64>, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = tensor.insert %a into %t[%n] : tensor<?xf64>
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t, %x = %a) -> (tensor<?xf64>, f64) {
    %e = tensor.extract_slice %b[%i] [%n] [1] : tensor<?xf64> to tensor<?xf64>
    %y = tensor.extract %e[%c0] : tensor<?xf64>
    scf.yield %b, %y : tensor<?xf64>, f64
  }
  return %w, %s : tensor<?xf64>, f64
}

// -----
// name: loop_overwrites_without_reading
func.func @f(%t: tensor<?xf64>, %n: index, %a: f64) -> (tensor<?xf64>, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = tensor.insert %a into %t[%n] : tensor<?xf64>
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t, %x = %a) -> (tensor<?xf64>, f64) {
    %o = linalg.fill ins(%a : f64) outs(%b : tensor<?xf64>) -> tensor<?xf64>
    %y = tensor.extract %o[%c0] : tensor<?xf64>
    scf.yield %o, %y : tensor<?xf64>, f64
  }
  %v = linalg.fill ins(%a : f64) outs(%w : tensor<?xf64>) -> tensor<?xf64>
  return %v, %s : tensor<?xf64>, f64
}

// -----
// name: if_of_two_arguments
func.func @f(%t: tensor<?xf64>, %u: tensor<?xf64>, %c: i1) -> tensor<?xf64> {
  %r = scf.if %c -> tensor<?xf64> {
    scf.yield %t : tensor<?xf64>
  } else {
    scf.yield %u : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: if_writes_on_one_side
func.func @f(%t: tensor<?xf64>, %c: i1, %i: index, %a: f64) -> tensor<?xf64> {
  %r = scf.if %c -> tensor<?xf64> {
    scf.yield %t : tensor<?xf64>
  } else {
    %w = tensor.insert %a into %t[%i] : tensor<?xf64>
    scf.yield %w : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: if_writes_a_slice_or_the_whole
func.func @f(%t: tensor<?xf64>, %c: i1, %i: index, %a: f64) -> tensor<?xf64> {
  %e = tensor.extract_slice %t[%i] [%i] [1] : tensor<?xf64> to tensor<?xf64>
  %r = scf.if %c -> tensor<?xf64> {
    %w = tensor.insert %a into %e[%i] : tensor<?xf64>
    scf.yield %w : tensor<?xf64>
  } else {
    %w = tensor.insert %a into %t[%i] : tensor<?xf64>
    scf.yield %w : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: if_result_passed_through_another
func.func @f(%t: tensor<?xf64>, %c: i1, %d: i1, %i: index, %a: f64) -> (tensor<?xf64>, f64) {
  %r = scf.if %c -> tensor<?xf64> {
    scf.yield %t : tensor<?xf64>
  } else {
    %w = tensor.insert %a into %t[%i] : tensor<?xf64>
    scf.yield %w : tensor<?xf64>
  }
  %s = scf.if %d -> tensor<?xf64> {
    scf.yield %r : tensor<?xf64>
  } else {
    scf.yield %r : tensor<?xf64>
  }
  %p = tensor.extract %s[%i] : tensor<?xf64>
  return %s, %p : tensor<?xf64>, f64
}

// -----
// name: if_slices_put_back
func.func @f(%t: tensor<?xf64>, %i: index, %c: i1) -> tensor<?xf64> {
  %s = scf.if %c -> tensor<?xf64> {
    %e = tensor.extract_slice %t[%i] [%i] [1] : tensor<?xf64> to tensor<?xf64>
    scf.yield %e : tensor<?xf64>
  } else {
    %e = tensor.extract_slice %t[%i] [%i] [1] : tensor<?xf64> to tensor<?xf64>
    scf.yield %e : tensor<?xf64>
  }
  %r = tensor.insert_slice %s into %t[%i] [%i] [1] : tensor<?xf64> into tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: if_in_if_writes_everywhere
func.func @f(%t: tensor<?xf64>, %c: i1, %d: i1, %i: index, %a: f64, %b: f64) -> tensor<?xf64> {
  %r = scf.if %c -> tensor<?xf64> {
    %s = scf.if %d -> tensor<?xf64> {
      %w = tensor.insert %a into %t[%i] : tensor<?xf64>
      scf.yield %w : tensor<?xf64>
    } else {
      %w = tensor.insert %b into %t[%i] : tensor<?xf64>
      scf.yield %w : tensor<?xf64>
    }
    scf.yield %s : tensor<?xf64>
  } else {
    %w = tensor.insert %b into %t[%i] : tensor<?xf64>
    scf.yield %w : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: if_reads_the_old_on_one_side
func.func @f(%t: tensor<?xf64>, %c: i1, %i: index, %j: index, %a: f64) -> (tensor<?xf64>, f64) {
  %r, %s = scf.if %c -> (tensor<?xf64>, f64) {
    %w = tensor.insert %a into %t[%i] : tensor<?xf64>
    scf.yield %w, %a : tensor<?xf64>, f64
  } else {
    %w = tensor.insert %a into %t[%j] : tensor<?xf64>
    "lab.wait"() : () -> ()
    %p = tensor.extract %t[%i] : tensor<?xf64>
    scf.yield %w, %p : tensor<?xf64>, f64
  }
  return %r, %s : tensor<?xf64>, f64
}

// -----
// name: if_of_a_slice_or_the_whole_inserted
func.func @f(%t: tensor<?xf64>, %i: index, %j: index, %c: i1) -> tensor<?xf64> {
  %s = scf.if %c -> tensor<?xf64> {
    %e = tensor.extract_slice %t[%i] [%i] [1] : tensor<?xf64> to tensor<?xf64>
    scf.yield %e : tensor<?xf64>
  } else {
    scf.yield %t : tensor<?xf64>
  }
  %r = tensor.insert_slice %s into %t[%j] [%j] [1] : tensor<?xf64> into tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: if_of_two_slices_inserted_elsewhere
func.func @f(%t: tensor<?xf64>, %i: index, %j: index, %k: index, %c: i1) -> tensor<?xf64> {
  %s = scf.if %c -> tensor<?xf64> {
    %e = tensor.extract_slice %t[%i] [%i] [1] : tensor<?xf64> to tensor<?xf64>
    scf.yield %e : tensor<?xf64>
  } else {
    %e = tensor.extract_slice %t[%j] [%j] [1] : tensor<?xf64> to tensor<?xf64>
    scf.yield %e : tensor<?xf64>
  }
  %r = tensor.insert_slice %s into %t[%k] [%k] [1] : tensor<?xf64> into tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: if_of_two_slices_one_put_back
func.func @f(%t: tensor<?xf64>, %i: index, %j: index, %c: i1) -> tensor<?xf64> {
  %s = scf.if %c -> tensor<?xf64> {
    %e = tensor.extract_slice %t[%i] [%i] [1] : tensor<?xf64> to tensor<?xf64>
    scf.yield %e : tensor<?xf64>
  } else {
    %e = tensor.extract_slice %t[%j] [%j] [1] : tensor<?xf64> to tensor<?xf64>
    scf.yield %e : tensor<?xf64>
  }
  %r = tensor.insert_slice %s into %t[%j] [%j] [1] : tensor<?xf64> into tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: if_writes_and_the_old_is_read_later
func.func @f(%t: tensor<?xf64>, %c: i1, %i: index, %a: f64) -> (tensor<?xf64>, f64) {
  %r = scf.if %c -> tensor<?xf64> {
    scf.yield %t : tensor<?xf64>
  } else {
    %w = tensor.insert %a into %t[%i] : tensor<?xf64>
    scf.yield %w : tensor<?xf64>
  }
  %p = tensor.extract %t[%i] : tensor<?xf64>
  return %r, %p : tensor<?xf64>, f64
}

// -----
// name: if_writes_and_the_old_is_read_through_another
func.func @f(%t: tensor<?xf64>, %c: i1, %d: i1, %i: index, %a: f64) -> (tensor<?xf64>, f64) {
  %r = scf.if %c -> tensor<?xf64> {
    scf.yield %t : tensor<?xf64>
  } else {
    %w = tensor.insert %a into %t[%i] : tensor<?xf64>
    scf.yield %w : tensor<?xf64>
  }
  %s = scf.if %d -> tensor<?xf64> {
    scf.yield %t : tensor<?xf64>
  } else {
    scf.yield %t : tensor<?xf64>
  }
  %p = tensor.extract %s[%i] : tensor<?xf64>
  return %r, %p : tensor<?xf64>, f64
}

// -----
// name: allocation_made_in_the_round
func.func @f(%t: tensor<?xf64>, %n: index, %k: index, %a: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?xf64> {
    %u = bufferization.alloc_tensor(%k) : tensor<?xf64>
    %w = tensor.insert %a into %u[%i] : tensor<?xf64>
    %p = tensor.insert_slice %w into %b[%i] [%k] [1] : tensor<?xf64> into tensor<?xf64>
    scf.yield %p : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: two_fills_in_one_parallel_region
func.func @f(%t: tensor<9xf64>, %a: f64) -> tensor<9xf64> {
  %r = scf.forall (%i) in (9) shared_outs(%o = %t) -> tensor<9xf64> {
    %s = tensor.extract_slice %o[%i] [1] [1] : tensor<9xf64> to tensor<1xf64>
    %x = linalg.fill ins(%a : f64) outs(%s : tensor<1xf64>) -> tensor<1xf64>
    %y = linalg.fill ins(%a : f64) outs(%x : tensor<1xf64>) -> tensor<1xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i] [1] [1] : tensor<1xf64> into tensor<9xf64>
    }
  }
  return %r : tensor<9xf64>
}

// -----
// name: outer_value_read_while_its_buffer_is_written
func.func @f(%u: tensor<5xf64>, %n: index, %a: f64, %b: f64) -> tensor<5xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = bufferization.alloc_tensor() : tensor<5xf64>
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<5xf64>) -> tensor<5xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %u) -> tensor<5xf64> {
    %p = tensor.extract %x[%i] : tensor<5xf64>
    "lab.print"(%p) : (f64) -> ()
    %y = linalg.fill ins(%b : f64) outs(%e : tensor<5xf64>) -> tensor<5xf64>
    scf.yield %y : tensor<5xf64>
  }
  return %r : tensor<5xf64>
}

// -----
// name: written_after_the_loop_that_reads
func.func @f(%u: tensor<5xf64>, %n: index, %a: f64, %b: f64, %c: f64) -> (tensor<5xf64>, tensor<5xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = bufferization.alloc_tensor() : tensor<5xf64>
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<5xf64>) -> tensor<5xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %u) -> tensor<5xf64> {
    %p = tensor.extract %x[%i] : tensor<5xf64>
    "lab.print"(%p) : (f64) -> ()
    %y = linalg.fill ins(%b : f64) outs(%x : tensor<5xf64>) -> tensor<5xf64>
    scf.yield %y : tensor<5xf64>
  }
  %q = tensor.extract %x[%c0] : tensor<5xf64>
  "lab.print"(%q) : (f64) -> ()
  %z = linalg.fill ins(%c : f64) outs(%x : tensor<5xf64>) -> tensor<5xf64>
  return %r, %z : tensor<5xf64>, tensor<5xf64>
}

// -----
// name: loop_fills_and_yields_another
func.func @f(%a: tensor<?xf64>, %b: tensor<?xf64>, %n: index, %z: f64) -> (f64, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<?xf64> {
    %x = linalg.fill ins(%z : f64) outs(%t : tensor<?xf64>) -> tensor<?xf64>
    "lab.use"(%x) : (tensor<?xf64>) -> ()
    scf.yield %b : tensor<?xf64>
  }
  %p = tensor.extract %r[%c1] : tensor<?xf64>
  %q = tensor.extract %a[%c1] : tensor<?xf64>
  return %p, %q : f64, f64
}

// -----
// name: loop_in_loop
func.func @f(%t: tensor<?xf64>, %n: index, %a: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?xf64> {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%c = %b) -> tensor<?xf64> {
      %w = tensor.insert %a into %c[%j] : tensor<?xf64>
      scf.yield %w : tensor<?xf64>
    }
    scf.yield %s : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: execute_region_with_a_conflict
func.func @f(%t: tensor<?xf64>, %a: f64, %i: index) -> (tensor<?xf64>, f64) {
  %q = scf.execute_region -> tensor<?xf64> {
    %w = tensor.insert %a into %t[%i] : tensor<?xf64>
    scf.yield %w : tensor<?xf64>
  }
  "lab.wait"() : () -> ()
  %p = tensor.extract %t[%i] : tensor<?xf64>
  return %q, %p : tensor<?xf64>, f64
}

// -----
// name: if_in_a_loop
func.func @f(%t: tensor<?xf64>, %n: index, %c: i1, %a: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?xf64> {
    %s = scf.if %c -> tensor<?xf64> {
      scf.yield %b : tensor<?xf64>
    } else {
      %w = tensor.insert %a into %b[%i] : tensor<?xf64>
      scf.yield %w : tensor<?xf64>
    }
    scf.yield %s : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: execute_region_yields_an_allocation
func.func @f(%n: index, %i: index) -> f64 {
  %t = scf.execute_region -> tensor<?xf64> {
    %e = bufferization.alloc_tensor(%n) : tensor<?xf64>
    scf.yield %e : tensor<?xf64>
  }
  %r = tensor.extract %t[%i] : tensor<?xf64>
  return %r : f64
}

// -----
// name: loop_yields_an_outer_value
func.func @f(%t: tensor<?xf64>, %u: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %u) -> tensor<?xf64> {
    scf.yield %t : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: loop_yields_an_allocation
func.func @f(%t: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?xf64> {
    %e = bufferization.alloc_tensor(%i) : tensor<?xf64>
    scf.yield %e : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: loop_swaps
func.func @f(%a: tensor<?xf64>, %b: tensor<?xf64>, %c: tensor<3xf64>, %n: index) -> (f64, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<?xf64>, tensor<?xf64>) {
    %p = tensor.insert_slice %c into %x[0] [3] [1] : tensor<3xf64> into tensor<?xf64>
    %q = tensor.insert_slice %c into %y[0] [3] [1] : tensor<3xf64> into tensor<?xf64>
    scf.yield %q, %p : tensor<?xf64>, tensor<?xf64>
  }
  %s = tensor.extract %r#0[%c0] : tensor<?xf64>
  %t = tensor.extract %r#1[%c0] : tensor<?xf64>
  return %s, %t : f64, f64
}

// -----
// name: loop_swaps_refused; with: no-loop-allocs
func.func @f(%a: tensor<?xf64>, %b: tensor<?xf64>, %c: tensor<3xf64>, %n: index) -> (f64, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<?xf64>, tensor<?xf64>) {
    %p = tensor.insert_slice %c into %x[0] [3] [1] : tensor<3xf64> into tensor<?xf64>
    %q = tensor.insert_slice %c into %y[0] [3] [1] : tensor<3xf64> into tensor<?xf64>
    scf.yield %q, %p : tensor<?xf64>, tensor<?xf64>
  }
  %s = tensor.extract %r#0[%c0] : tensor<?xf64>
  %t = tensor.extract %r#1[%c0] : tensor<?xf64>
  return %s, %t : f64, f64
}

// -----
// name: while_in_place
func.func @f(%t: tensor<?xi1>, %i: index) -> tensor<?xi1> {
  %r = scf.while (%a = %t) : (tensor<?xi1>) -> tensor<?xi1> {
    %c = tensor.extract %a[%i] : tensor<?xi1>
    scf.condition(%c) %a : tensor<?xi1>
  } do {
  ^bb0(%a: tensor<?xi1>):
    %j = "lab.index"() : () -> index
    %v = "lab.bit"() : () -> i1
    %w = tensor.insert %v into %a[%j] : tensor<?xi1>
    scf.yield %w : tensor<?xi1>
  }
  return %r : tensor<?xi1>
}

// -----
// name: while_condition_swaps
func.func @f(%t: tensor<6xi1>, %u: tensor<6xi1>, %i: index) -> (tensor<6xi1>, tensor<6xi1>) {
  %r:2 = scf.while (%a = %t, %b = %u) : (tensor<6xi1>, tensor<6xi1>) -> (tensor<6xi1>, tensor<6xi1>) {
    %c = tensor.extract %a[%i] : tensor<6xi1>
    scf.condition(%c) %b, %a : tensor<6xi1>, tensor<6xi1>
  } do {
  ^bb0(%a: tensor<6xi1>, %b: tensor<6xi1>):
    %v = "lab.bit"() : () -> i1
    %w = tensor.insert %v into %a[%i] : tensor<6xi1>
    scf.yield %w, %b : tensor<6xi1>, tensor<6xi1>
  }
  return %r#0, %r#1 : tensor<6xi1>, tensor<6xi1>
}

// -----
// name: while_condition_and_body_swap
func.func @f(%t: tensor<6xi1>, %u: tensor<6xi1>, %i: index) -> (tensor<6xi1>, tensor<6xi1>) {
  %r:2 = scf.while (%a = %t, %b = %u) : (tensor<6xi1>, tensor<6xi1>) -> (tensor<6xi1>, tensor<6xi1>) {
    %c = tensor.extract %a[%i] : tensor<6xi1>
    scf.condition(%c) %b, %a : tensor<6xi1>, tensor<6xi1>
  } do {
  ^bb0(%a: tensor<6xi1>, %b: tensor<6xi1>):
    %v = "lab.bit"() : () -> i1
    %w = tensor.insert %v into %a[%i] : tensor<6xi1>
    scf.yield %b, %w : tensor<6xi1>, tensor<6xi1>
  }
  return %r#0, %r#1 : tensor<6xi1>, tensor<6xi1>
}

// -----
// name: while_swap_refused; with: no-loop-allocs
func.func @f(%t: tensor<6xi1>, %u: tensor<6xi1>, %i: index) -> i1 {
  %r:2 = scf.while (%a = %t, %b = %u) : (tensor<6xi1>, tensor<6xi1>) -> (tensor<6xi1>, tensor<6xi1>) {
    %c = tensor.extract %a[%i] : tensor<6xi1>
    scf.condition(%c) %b, %a : tensor<6xi1>, tensor<6xi1>
  } do {
  ^bb0(%a: tensor<6xi1>, %b: tensor<6xi1>):
    %v = "lab.bit"() : () -> i1
    %w = tensor.insert %v into %a[%i] : tensor<6xi1>
    scf.yield %w, %b : tensor<6xi1>, tensor<6xi1>
  }
  %p = tensor.extract %r#0[%i] : tensor<6xi1>
  return %p : i1
}

// -----
// name: while_arguments_without_results
func.func @f(%t: tensor<6xi1>, %u: tensor<6xi1>, %i: index) {
  scf.while (%a = %u) : (tensor<6xi1>) -> () {
    %c = tensor.extract %t[%i] : tensor<6xi1>
    scf.condition(%c)
  } do {
    %v = "lab.bit"() : () -> i1
    %w = tensor.insert %v into %t[%i] : tensor<6xi1>
    scf.yield %w : tensor<6xi1>
  }
  return
}

// -----
// name: while_other_arguments_after
func.func @f(%c: i1) -> tensor<f64> {
  %k = arith.constant dense<2.0> : tensor<f64>
  %r = scf.while (%a = %c) : (i1) -> tensor<f64> {
    scf.condition(%a) %k : tensor<f64>
  } do {
  ^bb0(%t: tensor<f64>):
    %d = "lab.bit"() : () -> i1
    scf.yield %d : i1
  }
  return %r : tensor<f64>
}

// -----
// name: parallel_insert
func.func @f(%n: index, %k: index, %t: tensor<?xf64>, %a: f64) -> (tensor<?xf64>, f64) {
  %c0 = arith.constant 0 : index
  %r = scf.forall (%i) in (%n) shared_outs(%o = %t) -> tensor<?xf64> {
    %s = tensor.extract_slice %o[%i] [%k] [1] : tensor<?xf64> to tensor<?xf64>
    %x = linalg.fill ins(%a : f64) outs(%s : tensor<?xf64>) -> tensor<?xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i] [%k] [1] : tensor<?xf64> into tensor<?xf64>
    }
  }
  %p = tensor.extract %r[%c0] : tensor<?xf64>
  return %r, %p : tensor<?xf64>, f64
}

// -----
// name: parallel_insert_with_a_conflict
func.func @f(%n: index, %k: index, %t: tensor<?xf64>, %a: f64) -> (f64, f64) {
  %c0 = arith.constant 0 : index
  %r = scf.forall (%i) in (%n) shared_outs(%o = %t) -> tensor<?xf64> {
    %s = tensor.extract_slice %o[%i] [%k] [1] : tensor<?xf64> to tensor<?xf64>
    %x = linalg.fill ins(%a : f64) outs(%s : tensor<?xf64>) -> tensor<?xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i] [%k] [1] : tensor<?xf64> into tensor<?xf64>
    }
  }
  "lab.wait"() : () -> ()
  %p = tensor.extract %t[%c0] : tensor<?xf64>
  %q = tensor.extract %r[%c0] : tensor<?xf64>
  return %p, %q : f64, f64
}

// -----
// name: parallel_product
func.func @f(%a: tensor<6x6xf64>, %b: tensor<6x6xf64>, %c: tensor<6x6xf64>) -> tensor<6x6xf64> {
  %c3 = arith.constant 3 : index
  %r = scf.forall (%i, %j) in (2, 2) shared_outs(%o = %c) -> tensor<6x6xf64> {
    %m = arith.muli %i, %c3 : index
    %n = arith.muli %j, %c3 : index
    %x = tensor.extract_slice %a[%m, 0] [3, 6] [1, 1] : tensor<6x6xf64> to tensor<3x6xf64>
    %y = tensor.extract_slice %b[0, %n] [6, 3] [1, 1] : tensor<6x6xf64> to tensor<6x3xf64>
    %z = tensor.extract_slice %o[%m, %n] [3, 3] [1, 1] : tensor<6x6xf64> to tensor<3x3xf64>
    %p = linalg.matmul ins(%x, %y : tensor<3x6xf64>, tensor<6x3xf64>) outs(%z : tensor<3x3xf64>) -> tensor<3x3xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %o[%m, %n] [3, 3] [1, 1] : tensor<3x3xf64> into tensor<6x6xf64>
    }
  }
  return %r : tensor<6x6xf64>
}

// -----
// name: parallel_reads_what_is_shared
func.func @f(%t: tensor<8xf64>) -> f64 {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.forall (%i) in (2) shared_outs(%o = %t) -> tensor<8xf64> {
    %m = arith.muli %i, %c4 : index
    %s = tensor.extract_slice %o[%m] [4] [1] : tensor<8xf64> to tensor<4xf64>
    %v = tensor.extract %t[%i] : tensor<8xf64>
    %w = tensor.insert %v into %s[%c1] : tensor<4xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %w into %o[%m] [4] [1] : tensor<4xf64> into tensor<8xf64>
    }
  }
  %p = tensor.extract %r[%c1] : tensor<8xf64>
  return %p : f64
}

// -----
// name: parallel_reads_another
func.func @f(%t: tensor<8xf64>, %u: tensor<8xf64>) -> f64 {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.forall (%i) in (2) shared_outs(%o = %t) -> tensor<8xf64> {
    %m = arith.muli %i, %c4 : index
    %s = tensor.extract_slice %o[%m] [4] [1] : tensor<8xf64> to tensor<4xf64>
    %v = tensor.extract %u[%i] : tensor<8xf64>
    %w = tensor.insert %v into %s[%c1] : tensor<4xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %w into %o[%m] [4] [1] : tensor<4xf64> into tensor<8xf64>
    }
  }
  %p = tensor.extract %r[%c1] : tensor<8xf64>
  return %p : f64
}

// -----
// name: if_in_a_memory_space
func.func @f(%c: i1, %a: f64, %i: index) -> (f64, f64) {
  %e = bufferization.alloc_tensor() {memory_space = 1 : i64} : tensor<6xf64>
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  %r = scf.if %c -> tensor<6xf64> {
    scf.yield %x : tensor<6xf64>
  } else {
    %w = tensor.insert %a into %x[%i] : tensor<6xf64>
    scf.yield %w : tensor<6xf64>
  }
  "lab.wait"() : () -> ()
  %p = tensor.extract %x[%i] : tensor<6xf64>
  %q = tensor.extract %r[%i] : tensor<6xf64>
  return %p, %q : f64, f64
}

// -----
// name: loop_swaps_in_a_memory_space
func.func @f(%k: index, %c: tensor<3xf64>, %n: index) -> (f64, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = bufferization.alloc_tensor(%k) {memory_space = 1 : i64} : tensor<?xf64>
  %b = bufferization.alloc_tensor(%k) {memory_space = 1 : i64} : tensor<?xf64>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<?xf64>, tensor<?xf64>) {
    %p = tensor.insert_slice %c into %x[0] [3] [1] : tensor<3xf64> into tensor<?xf64>
    %q = tensor.insert_slice %c into %y[0] [3] [1] : tensor<3xf64> into tensor<?xf64>
    scf.yield %q, %p : tensor<?xf64>, tensor<?xf64>
  }
  %s = tensor.extract %r#0[%c0] : tensor<?xf64>
  %t = tensor.extract %r#1[%c0] : tensor<?xf64>
  return %s, %t : f64, f64
}

// -----
// name: if_of_two_memory_spaces
func.func @f(%c: i1) -> tensor<6xf64> {
  %a = bufferization.alloc_tensor() {memory_space = 0 : ui64} : tensor<6xf64>
  %b = bufferization.alloc_tensor() {memory_space = 1 : ui64} : tensor<6xf64>
  %r = scf.if %c -> tensor<6xf64> {
    scf.yield %a : tensor<6xf64>
  } else {
    scf.yield %b : tensor<6xf64>
  }
  return %r : tensor<6xf64>
}

// -----
// name: loop_reads_a_slice_of_the_outer_value
func.func @f(%n: index, %a: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.splat %a[%n] : tensor<?xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?xf64> {
    %s = tensor.extract_slice %t[%i] [%n] [1] : tensor<?xf64> to tensor<?xf64>
    %p = tensor.extract %s[%c0] : tensor<?xf64>
    %w = tensor.insert %p into %b[%i] : tensor<?xf64>
    scf.yield %w : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// -----
// name: loop_of_narrowing_slices
func.func @f(%n: index, %k: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = bufferization.alloc_tensor(%n) : tensor<?xf64>
  %t = tensor.extract_slice %e[1] [%k] [1] : tensor<?xf64> to tensor<?xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?xf64> {
    %j = "lab.index"() : () -> index
    %s = tensor.extract_slice %b[1] [%j] [1] : tensor<?xf64> to tensor<?xf64>
    scf.yield %s : tensor<?xf64>
  }
  %p = tensor.extract %r[%c0] : tensor<?xf64>
  return %p : f64
}

// -----
// name: loop_carries_an_index_too
func.func @f(%t: tensor<?xf64>, %n: index, %a: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%j = %c1, %b = %t) -> (index, tensor<?xf64>) {
    %w = tensor.insert %a into %b[%j] : tensor<?xf64>
    scf.yield %j, %w : index, tensor<?xf64>
  }
  return %r#1 : tensor<?xf64>
}

// -----
// name: while_casts_an_outer_value
func.func @f(%c: i1, %k: index) -> tensor<3xindex> {
  %t = bufferization.alloc_tensor() : tensor<3xindex>
  %r = scf.while (%a = %t) : (tensor<3xindex>) -> tensor<3xindex> {
    scf.condition(%c) %a : tensor<3xindex>
  } do {
  ^bb0(%a: tensor<3xindex>):
    %u = tensor.cast %t : tensor<3xindex> to tensor<?xindex>
    %w = tensor.insert %k into %u[%k] : tensor<?xindex>
    %v = tensor.cast %w : tensor<?xindex> to tensor<3xindex>
    scf.yield %v : tensor<3xindex>
  }
  return %r : tensor<3xindex>
}

// -----
// name: if_of_undefined_contents
func.func @f(%c: i1, %i: index, %a: f64) -> (tensor<6xf64>, f64) {
  %r = scf.if %c -> tensor<6xf64> {
    %t = bufferization.alloc_tensor() : tensor<6xf64>
    scf.yield %t : tensor<6xf64>
  } else {
    %t = bufferization.alloc_tensor() : tensor<6xf64>
    scf.yield %t : tensor<6xf64>
  }
  %w = tensor.insert %a into %r[%i] : tensor<6xf64>
  %p = tensor.extract %r[%i] : tensor<6xf64>
  return %w, %p : tensor<6xf64>, f64
}

// -----
// name: inserts_into_one_argument_twice
func.func @f(%a: tensor<?xf64>, %s: tensor<4xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %p = tensor.insert_slice %s into %a[0] [4] [1] : tensor<4xf64> into tensor<?xf64>
  %q = tensor.insert_slice %s into %a[0] [4] [1] : tensor<4xf64> into tensor<?xf64>
  return %p, %q : tensor<?xf64>, tensor<?xf64>
}

// -----
// name: insert_then_fill
func.func @f(%a: tensor<?xf64>, %s: tensor<4xf64>, %z: f64) -> tensor<?xf64> {
  %p = tensor.insert_slice %s into %a[0] [4] [1] : tensor<4xf64> into tensor<?xf64>
  %q = linalg.fill ins(%z : f64) outs(%p : tensor<?xf64>) -> tensor<?xf64>
  return %q : tensor<?xf64>
}

// -----
// name: fill_then_insert
func.func @f(%a: tensor<?xf64>, %s: tensor<4xf64>, %z: f64) -> tensor<?xf64> {
  %p = linalg.fill ins(%z : f64) outs(%a : tensor<?xf64>) -> tensor<?xf64>
  %q = tensor.insert_slice %s into %p[0] [4] [1] : tensor<4xf64> into tensor<?xf64>
  return %q : tensor<?xf64>
}

// -----
// name: cast_inserted_into_itself
func.func @f(%a: tensor<?xf64>, %i: index) -> tensor<?xf64> {
  %c = tensor.cast %a : tensor<?xf64> to tensor<4xf64>
  %r = tensor.insert_slice %c into %a[%i] [4] [1] : tensor<4xf64> into tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: slices_of_fewer_dimensions
func.func @f(%a: tensor<6x7x8xf64>, %i: index, %n: index) -> tensor<?x3xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = bufferization.alloc_tensor() : tensor<4x3xf64>
  %t = tensor.cast %e : tensor<4x3xf64> to tensor<?x3xf64>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%b = %t) -> tensor<?x3xf64> {
    %s = tensor.extract_slice %a[%i, %j, 0] [1, 1, 3] [1, 1, 1] : tensor<6x7x8xf64> to tensor<3xf64>
    %p = tensor.insert_slice %s into %b[%j, 0] [1, 3] [1, 1] : tensor<3xf64> into tensor<?x3xf64>
    scf.yield %p : tensor<?x3xf64>
  }
  return %r : tensor<?x3xf64>
}

// -----
// name: parallel_insert_of_fewer_dimensions
func.func @f(%a: tensor<9xf64>, %o: tensor<4x9xf64>) -> tensor<4x9xf64> {
  %r = scf.forall (%i) in (9) shared_outs(%b = %o) -> tensor<4x9xf64> {
    %s = tensor.extract_slice %a[%i] [1] [1] : tensor<9xf64> to tensor<1xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %b[2, %i] [1, 1] [1, 1] : tensor<1xf64> into tensor<4x9xf64>
    }
  }
  return %r : tensor<4x9xf64>
}

// -----
// name: generated
func.func @f(%t: tensor<*xf64>, %n: index, %i: index) -> index {
  %g = tensor.generate %n {
  ^bb0(%k: index):
    %d = tensor.dim %t, %k : tensor<*xf64>
    tensor.yield %d : index
  } : tensor<?xindex>
  %r = tensor.extract %g[%i] : tensor<?xindex>
  return %r : index
}

// -----
// name: padded
func.func @f(%t: tensor<?x4xindex>, %l: index, %h: index, %i: index) -> index {
  %p = tensor.pad %t low[2, %l] high[%h, 1] {
  ^bb0(%j: index, %k: index):
    %m = arith.addi %j, %k : index
    tensor.yield %m : index
  } : tensor<?x4xindex> to tensor<?x?xindex>
  %r = tensor.extract %p[%i, %i] : tensor<?x?xindex>
  return %r : index
}

// -----
// name: slice_written_and_base_returned
func.func @f(%t: tensor<?xf64>, %i: index, %a: f64) -> (tensor<6xf64>, tensor<?xf64>) {
  %s = tensor.extract_slice %t[3] [6] [1] : tensor<?xf64> to tensor<6xf64>
  %w = tensor.insert %a into %s[%i] : tensor<6xf64>
  return %w, %t : tensor<6xf64>, tensor<?xf64>
}

// -----
// name: new_value_and_old_returned
func.func @f(%t: tensor<?xf64>, %i: index, %a: f64) -> (tensor<?xf64>, tensor<?xf64>) {
  %w = tensor.insert %a into %t[%i] : tensor<?xf64>
  return %w, %t : tensor<?xf64>, tensor<?xf64>
}

// -----
// name: undefined_is_not_copied
func.func @f(%i: index, %a: f64) -> (tensor<6xf64>, tensor<6xf64>) {
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  %w = tensor.insert %a into %e[%i] : tensor<6xf64>
  return %e, %w : tensor<6xf64>, tensor<6xf64>
}

// -----
// name: overwritten_is_not_copied
#id = affine_map<(i) -> (i)>
func.func @f(%t: tensor<6xf64>, %a: f64) -> (tensor<6xf64>, tensor<6xf64>) {
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%t : tensor<6xf64>) {
    ^bb0(%o: f64):
      linalg.yield %a : f64
  } -> tensor<6xf64>
  return %t, %r : tensor<6xf64>, tensor<6xf64>
}

// -----
// name: slice_not_read_is_not_copied; with: no-boundaries
#id = affine_map<(i) -> (i)>
func.func @f(%t: tensor<6xf64>, %a: f64) -> tensor<4xf64> {
  %s = tensor.extract_slice %t[1] [4] [1] : tensor<6xf64> to tensor<4xf64>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%s : tensor<4xf64>) {
    ^bb0(%o: f64):
      linalg.yield %a : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// -----
// name: fill_in_place
func.func @f(%t: tensor<?xf64>, %a: f64) -> tensor<?xf64> {
  %r = linalg.fill ins(%a : f64) outs(%t : tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: fill_of_a_read_only_argument
func.func @f(%t: tensor<?xf64> {bufferization.writable = false}, %a: f64) -> tensor<?xf64> {
  %r = linalg.fill ins(%a : f64) outs(%t : tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: filled_factor_of_its_own_destination
func.func @f(%t: tensor<?x?xf64>, %a: f64) -> tensor<?x?xf64> {
  %x = linalg.fill ins(%a : f64) outs(%t : tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = linalg.matmul ins(%x, %x : tensor<?x?xf64>, tensor<?x?xf64>) outs(%t : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----
// name: square_of_its_own_destination
func.func @f(%t: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %r = linalg.matmul ins(%t, %t : tensor<?x?xf64>, tensor<?x?xf64>) outs(%t : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----
// name: tiled_product
func.func @f(%a: tensor<8x8xf64>, %b: tensor<8x8xf64>, %c: tensor<8x8xf64>) -> tensor<8x8xf64> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f64
  %r = scf.for %i = %c0 to %c8 step %c4 iter_args(%x = %c) -> tensor<8x8xf64> {
    %p = tensor.extract_slice %a[%i, 0] [4, 8] [1, 1] : tensor<8x8xf64> to tensor<4x8xf64>
    %s = scf.for %j = %c0 to %c8 step %c4 iter_args(%y = %x) -> tensor<8x8xf64> {
      %q = tensor.extract_slice %b[0, %j] [8, 4] [1, 1] : tensor<8x8xf64> to tensor<8x4xf64>
      %t = tensor.extract_slice %c[%i, %j] [4, 4] [1, 1] : tensor<8x8xf64> to tensor<4x4xf64>
      %u = linalg.fill ins(%z : f64) outs(%t : tensor<4x4xf64>) -> tensor<4x4xf64>
      %v = linalg.matmul ins(%p, %q : tensor<4x8xf64>, tensor<8x4xf64>) outs(%u : tensor<4x4xf64>) -> tensor<4x4xf64>
      %w = tensor.insert_slice %v into %y[%i, %j] [4, 4] [1, 1] : tensor<4x4xf64> into tensor<8x8xf64>
      scf.yield %w : tensor<8x8xf64>
    }
    scf.yield %s : tensor<8x8xf64>
  }
  return %r : tensor<8x8xf64>
}

// -----
// name: gathered
func.func @f(%t: tensor<?x?xf64> {bufferization.writable = false}, %k: tensor<?xi64>, %o: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%k : tensor<?xi64>) outs(%o : tensor<?x?xf64>) {
    ^bb0(%a: i64, %b: f64):
      %j = linalg.index 1 : index
      %i = arith.index_cast %a : i64 to index
      %v = tensor.extract %t[%i, %j] : tensor<?x?xf64>
      linalg.yield %v : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----
// name: destination_not_an_operand
func.func @f(%t: tensor<?x?xf64>, %u: tensor<?xf64>, %o: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t, %u : tensor<?x?xf64>, tensor<?xf64>) outs(%o : tensor<?x?xf64>) {
    ^bb0(%a: f64, %b: f64, %c: f64):
      %v = arith.mulf %a, %b : f64
      linalg.yield %v : f64
  } -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----
// name: read_then_overwritten
#id = affine_map<(i) -> (i)>
func.func @f(%t: tensor<?xf64> {bufferization.writable = false}, %a: f64) -> tensor<?xf64> {
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%t : tensor<?xf64>) {
    ^bb0(%o: f64):
      %v = arith.mulf %o, %a : f64
      linalg.yield %v : f64
  } -> tensor<?xf64>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%p : tensor<?xf64>) {
    ^bb0(%o: f64):
      linalg.yield %a : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: map_of_two
func.func @f(%a: tensor<9xf64>, %b: tensor<9xf64>, %o: tensor<9xf64>) -> tensor<9xf64> {
  %r = linalg.map { arith.mulf } ins(%a, %b : tensor<9xf64>, tensor<9xf64>) outs(%o : tensor<9xf64>)
  return %r : tensor<9xf64>
}

// -----
// name: reduced
func.func @f(%a: tensor<2x3x4xf64>, %o: tensor<2x4xf64>) -> tensor<2x4xf64> {
  %r = linalg.reduce { arith.addf } ins(%a : tensor<2x3x4xf64>) outs(%o : tensor<2x4xf64>) dimensions = [1]
  return %r : tensor<2x4xf64>
}

// -----
// name: transposed
func.func @f(%a: tensor<2x3x4xf64>, %o: tensor<4x2x3xf64>) -> tensor<4x2x3xf64> {
  %r = linalg.transpose ins(%a : tensor<2x3x4xf64>) outs(%o : tensor<4x2x3xf64>) permutation = [2, 0, 1]
  return %r : tensor<4x2x3xf64>
}

// -----
// name: broadcast
func.func @f(%a: tensor<2x4xf64>, %o: tensor<2x3x4xf64>) -> tensor<2x3x4xf64> {
  %r = linalg.broadcast ins(%a : tensor<2x4xf64>) outs(%o : tensor<2x3x4xf64>) dimensions = [1]
  return %r : tensor<2x3x4xf64>
}

// -----
// name: elementwise_onto_an_operand
func.func @f(%a: tensor<7xf64>, %b: tensor<7xf64>) -> tensor<7xf64> {
  %r = linalg.sub ins(%a, %b : tensor<7xf64>, tensor<7xf64>) outs(%a : tensor<7xf64>) -> tensor<7xf64>
  return %r : tensor<7xf64>
}

// -----
// name: elementwise_onto_both_operands
func.func @f(%a: tensor<7xf64>) -> tensor<7xf64> {
  %r = linalg.mul ins(%a, %a : tensor<7xf64>, tensor<7xf64>) outs(%a : tensor<7xf64>) -> tensor<7xf64>
  return %r : tensor<7xf64>
}

// -----
// name: row_of_the_destination
func.func @f(%a: tensor<4x7xf64>) -> tensor<4x7xf64> {
  %s = tensor.extract_slice %a[1, 0] [1, 7] [1, 1] : tensor<4x7xf64> to tensor<7xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%s : tensor<7xf64>) outs(%a : tensor<4x7xf64>) {
    ^bb0(%p: f64, %q: f64):
      %v = arith.subf %q, %p : f64
      linalg.yield %v : f64
  } -> tensor<4x7xf64>
  return %r : tensor<4x7xf64>
}

// -----
// name: elementwise_chain_on_a_part
#id = affine_map<(i) -> (i)>
func.func @f(%t: tensor<8x7xf64>, %a: f64) -> tensor<8x7xf64> {
  %r = scf.forall (%i) in (8) shared_outs(%o = %t) -> tensor<8x7xf64> {
    %s = tensor.extract_slice %o[%i, 0] [1, 7] [1, 1] : tensor<8x7xf64> to tensor<7xf64>
    %x = linalg.fill ins(%a : f64) outs(%s : tensor<7xf64>) -> tensor<7xf64>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%x : tensor<7xf64>) outs(%s : tensor<7xf64>) {
      ^bb0(%p: f64, %q: f64):
        %v = arith.negf %p : f64
        linalg.yield %v : f64
    } -> tensor<7xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [1, 7] [1, 1] : tensor<7xf64> into tensor<8x7xf64>
    }
  }
  return %r : tensor<8x7xf64>
}

// -----
// name: elementwise_of_an_outer_value_each_round
func.func private @out(tensor<4x1xf64>)
func.func @f(%n: index, %b: tensor<4x1xf64>, %a: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4x1xf64>
  %x = linalg.fill ins(%a : f64) outs(%e : tensor<4x1xf64>) -> tensor<4x1xf64>
  scf.for %i = %c0 to %n step %c1 {
    %y = linalg.map { arith.mulf } ins(%x, %b : tensor<4x1xf64>, tensor<4x1xf64>) outs(%e : tensor<4x1xf64>)
    func.call @out(%y) : (tensor<4x1xf64>) -> ()
  }
  return
}

// -----
// name: source_of_a_select_written
func.func @f(%t: tensor<?xf64>, %u: tensor<?xf64>, %c: i1, %i: index, %a: f64) -> (tensor<?xf64>, tensor<?xf64>) {
  %w = tensor.insert %a into %t[%i] : tensor<?xf64>
  %s = arith.select %c, %t, %u : tensor<?xf64>
  return %s, %w : tensor<?xf64>, tensor<?xf64>
}

// -----
// name: branch_to_a_block; with: no-boundaries
func.func @f(%t: tensor<6xf64>, %i: index) -> f64 {
  %r = scf.execute_region -> tensor<6xf64> {
    cf.br ^a(%t : tensor<6xf64>)
  ^a(%x: tensor<6xf64>):
    scf.yield %x : tensor<6xf64>
  }
  %p = tensor.extract %r[%i] : tensor<6xf64>
  return %p : f64
}

// -----
// name: branch_with_two_layouts; with: no-boundaries
func.func @f(%t: tensor<6xf64>, %c: i1, %i: index) -> f64 {
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  %r = scf.execute_region -> tensor<6xf64> {
    cf.cond_br %c, ^a(%t : tensor<6xf64>), ^b(%e : tensor<6xf64>)
  ^a(%x: tensor<6xf64>):
    scf.yield %x : tensor<6xf64>
  ^b(%y: tensor<6xf64>):
    cf.br ^a(%y : tensor<6xf64>)
  }
  %p = tensor.extract %r[%i] : tensor<6xf64>
  return %p : f64
}

// -----
// name: loop_of_blocks
func.func @f(%a: f64) -> tensor<6xf64> {
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  cf.br ^body(%e : tensor<6xf64>)
^body(%x: tensor<6xf64>):
  %i = "lab.index"() : () -> index
  %w = tensor.insert %a into %x[%i] : tensor<6xf64>
  %c = "lab.bit"() : () -> i1
  cf.cond_br %c, ^body(%w : tensor<6xf64>), ^end(%w : tensor<6xf64>)
^end(%y: tensor<6xf64>):
  return %y : tensor<6xf64>
}

// -----
// name: branches_that_join
func.func @f(%c: i1, %t: tensor<6xf64>, %u: tensor<6xf64>) -> tensor<6xf64> {
  cf.cond_br %c, ^a(%t : tensor<6xf64>), ^b(%u : tensor<6xf64>)
^a(%x: tensor<6xf64>):
  cf.br ^end(%x : tensor<6xf64>)
^b(%y: tensor<6xf64>):
  cf.br ^end(%y : tensor<6xf64>)
^end(%z: tensor<6xf64>):
  return %z : tensor<6xf64>
}

// -----
// name: old_value_read_after_a_loop_of_blocks
func.func @f(%a: f64) -> (tensor<6xf64>, f64) {
  %e = tensor.empty() : tensor<6xf64>
  %t = linalg.fill ins(%a : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  cf.br ^body(%t : tensor<6xf64>)
^end(%y: tensor<6xf64>):
  %j = "lab.index"() : () -> index
  %p = tensor.extract %t[%j] : tensor<6xf64>
  return %y, %p : tensor<6xf64>, f64
^body(%x: tensor<6xf64>):
  %i = "lab.index"() : () -> index
  %w = tensor.insert %a into %x[%i] : tensor<6xf64>
  %c = "lab.bit"() : () -> i1
  cf.cond_br %c, ^body(%w : tensor<6xf64>), ^end(%w : tensor<6xf64>)
}

// -----
// name: outer_value_written_in_a_loop_of_blocks
func.func @f(%a: f64, %b: f64) {
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  %t = linalg.fill ins(%a : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  cf.br ^body
^body:
  %i = "lab.index"() : () -> index
  %w = tensor.insert %b into %t[%i] : tensor<6xf64>
  %p = tensor.extract %w[%i] : tensor<6xf64>
  %c = "lab.decide"(%p) : (f64) -> i1
  cf.cond_br %c, ^body, ^end
^end:
  return
}

// -----
// name: outer_value_handed_round_unchanged
func.func @f(%a: f64, %b: f64) {
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  %t = linalg.fill ins(%a : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  cf.br ^body(%t : tensor<6xf64>)
^body(%x: tensor<6xf64>):
  %i = "lab.index"() : () -> index
  %w = tensor.insert %b into %x[%i] : tensor<6xf64>
  %p = tensor.extract %w[%i] : tensor<6xf64>
  %c = "lab.decide"(%p) : (f64) -> i1
  cf.cond_br %c, ^body(%x : tensor<6xf64>), ^end
^end:
  return
}

// -----
// name: value_made_in_a_loop_of_blocks
func.func @f(%a: f64, %b: f64) {
  cf.br ^body
^body:
  %e = bufferization.alloc_tensor() : tensor<6xf64>
  %t = linalg.fill ins(%a : f64) outs(%e : tensor<6xf64>) -> tensor<6xf64>
  %i = "lab.index"() : () -> index
  %w = tensor.insert %b into %t[%i] : tensor<6xf64>
  cf.br ^next
^next:
  %p = tensor.extract %w[%i] : tensor<6xf64>
  %c = "lab.decide"(%p) : (f64) -> i1
  cf.cond_br %c, ^body, ^end
^end:
  return
}

// -----
// name: block_of_two_memory_spaces
func.func @f(%c: i1) -> tensor<6xf64> {
  %a = bufferization.alloc_tensor() {memory_space = 0 : ui64} : tensor<6xf64>
  %b = bufferization.alloc_tensor() {memory_space = 1 : ui64} : tensor<6xf64>
  cf.cond_br %c, ^x(%a : tensor<6xf64>), ^x(%b : tensor<6xf64>)
^x(%t: tensor<6xf64>):
  return %t : tensor<6xf64>
}

// -----
// name: block_that_nothing_leads_to
func.func @f() {
  return
^a(%t: tensor<6xf64>):
  cf.br ^a(%t : tensor<6xf64>)
}

// -----
// name: masked_write
func.func @f(%t: tensor<?xf64>, %v: vector<8xf64>, %i: index, %m: vector<8xi1>) -> tensor<?xf64> {
  %r = vector.mask %m { vector.transfer_write %v, %t[%i] : vector<8xf64>, tensor<?xf64> } : vector<8xi1> -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: masked_write_of_scalable_vectors
func.func @f(%t: tensor<?xf64>, %v: vector<[8]xf64>, %i: index, %m: vector<[8]xi1>) -> tensor<?xf64> {
  %r = vector.mask %m { vector.transfer_write %v, %t[%i] : vector<[8]xf64>, tensor<?xf64> } : vector<[8]xi1> -> tensor<?xf64>
  return %r : tensor<?xf64>
}

// -----
// name: write_of_the_whole_by_a_vector
func.func @f(%t: tensor<3x4xf64>, %v: vector<4x5xf64>) -> tensor<3x4xf64> {
  %c = arith.constant 0 : index
  %r = vector.transfer_write %v, %t[%c, %c] : vector<4x5xf64>, tensor<3x4xf64>
  return %r : tensor<3x4xf64>
}

// -----
// name: write_of_a_part_by_a_vector
func.func @f(%t: tensor<3x4xf64>, %v: vector<2x5xf64>) -> tensor<3x4xf64> {
  %c = arith.constant 0 : index
  %r = vector.transfer_write %v, %t[%c, %c] : vector<2x5xf64>, tensor<3x4xf64>
  return %r : tensor<3x4xf64>
}

// -----
// name: to_tensor_without_restrict
func.func @f(%m: memref<?xf64>, %i: index) -> f64 {
  %t = bufferization.to_tensor %m : memref<?xf64> to tensor<?xf64>
  %r = tensor.extract %t[%i] : tensor<?xf64>
  return %r : f64
}

// -----
// name: unranked_is_never_copied
func.func private @out(tensor<*xf64>)
func.func @f(%t: tensor<*xf64>) -> tensor<*xf64> {
  call @out(%t) : (tensor<*xf64>) -> ()
  return %t : tensor<*xf64>
}

// -----
// name: execute_region_of_two_yields
func.func @f(%c: i1, %t: tensor<6xf64>, %u: tensor<6xf64>) -> tensor<6xf64> {
  %r = scf.execute_region -> tensor<6xf64> {
    cf.cond_br %c, ^a, ^b
  ^a:
    scf.yield %t : tensor<6xf64>
  ^b:
    scf.yield %u : tensor<6xf64>
  }
  return %r : tensor<6xf64>
}

// -----
// name: unknown_op_refused; with: no-unknown
func.func @f(%t: tensor<6xf64>) -> tensor<6xf64> {
  %r = "lab.view"(%t) : (tensor<6xf64>) -> tensor<6xf64>
  return %r : tensor<6xf64>
}

// -----
// name: indirect_call
func.func private @g(tensor<?xf64>) -> tensor<?xf64>
func.func @f(%t: tensor<?xf64>) -> tensor<?xf64> {
  %g = func.constant @g : (tensor<?xf64>) -> tensor<?xf64>
  %r = func.call_indirect %g(%t) : (tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}
