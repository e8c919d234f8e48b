// Named ops: only what the region uses of its arguments is read.
func.func @named(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>, %c: tensor<4x6xf32>, %v: tensor<4x5xf32>, %f: f32, %p: i1) -> (tensor<4x6xf32>, tensor<4x5xf32>, tensor<5x4xf32>, tensor<4x5xf32>) {
  %0 = linalg.matmul ins(%a, %b: tensor<4x5xf32>, tensor<5x6xf32>) outs(%c: tensor<4x6xf32>) -> tensor<4x6xf32>
  %e = tensor.empty() : tensor<4x5xf32>
  %1 = linalg.map { arith.addf } ins(%a, %v: tensor<4x5xf32>, tensor<4x5xf32>) outs(%e: tensor<4x5xf32>)
  %2 = linalg.map ins(%a : tensor<4x5xf32>) outs(%e: tensor<4x5xf32>) (%x: f32, %y: f32) {
    %z = arith.addf %x, %f : f32
    linalg.yield %z : f32
  }
  %et = tensor.empty() : tensor<5x4xf32>
  %3 = linalg.transpose ins(%a: tensor<4x5xf32>) outs(%et: tensor<5x4xf32>) permutation = [1, 0]
  %cst = arith.constant dense<1.0> : tensor<4xf32>
  %4 = linalg.broadcast ins(%cst: tensor<4xf32>) outs(%e: tensor<4x5xf32>) dimensions = [1]
  %5 = linalg.reduce { arith.addf } ins(%a: tensor<4x5xf32>) outs(%cst: tensor<4xf32>) dimensions = [1]
  %6 = linalg.copy ins(%a: tensor<4x5xf32>) outs(%e: tensor<4x5xf32>) -> tensor<4x5xf32>
  %7 = linalg.exp ins(%a: tensor<4x5xf32>) outs(%e: tensor<4x5xf32>) -> tensor<4x5xf32>
  %8 = linalg.add ins(%a, %7: tensor<4x5xf32>, tensor<4x5xf32>) outs(%e: tensor<4x5xf32>) -> tensor<4x5xf32>
  %9 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a, %7: tensor<4x5xf32>, tensor<4x5xf32>) outs(%e: tensor<4x5xf32>) -> tensor<4x5xf32>
  %10 = arith.select %p, %a, %8 : tensor<4x5xf32>
  %11 = linalg.softmax dimension(1) ins(%a: tensor<4x5xf32>) outs(%e: tensor<4x5xf32>) -> tensor<4x5xf32>
  %12 = linalg.fill ins(%f: f32) outs(%e: tensor<4x5xf32>) -> tensor<4x5xf32>
  %13 = linalg.add ins(%11, %12: tensor<4x5xf32>, tensor<4x5xf32>) outs(%4: tensor<4x5xf32>) -> tensor<4x5xf32>
  %14 = linalg.contract indexing_maps = [affine_map<(m,n,k)->(m,k)>, affine_map<(m,n,k)->(k,n)>, affine_map<(m,n,k)->(m,n)>] ins(%a, %b: tensor<4x5xf32>, tensor<5x6xf32>) outs(%0: tensor<4x6xf32>) -> tensor<4x6xf32>
  return %14, %10, %3, %13 : tensor<4x6xf32>, tensor<4x5xf32>, tensor<5x4xf32>, tensor<4x5xf32>
}
// -----
// Elementwise named ops may work in place; a transposition and a row of the destination may not.
func.func @in_place(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>, %r: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %0 = linalg.add ins(%a, %a: tensor<4x4xf32>, tensor<4x4xf32>) outs(%a: tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.transpose ins(%b: tensor<4x4xf32>) outs(%b: tensor<4x4xf32>) permutation = [1, 0]
  %2 = linalg.transpose ins(%c: tensor<4x4xf32>) outs(%c: tensor<4x4xf32>) permutation = [0, 1]
  %3 = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%r: tensor<4xf32>) outs(%r: tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}
// -----
// Windows accumulate into their destination; of the window of a pooling only the shape matters.
func.func @windows(%t: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x4xf32>, %w: tensor<3x3xf32>, %o : tensor<1x6x6x4xf32>) -> (tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>) {
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%t, %k : tensor<1x8x8x4xf32>, tensor<3x3x4x4xf32>) outs(%o: tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %p = linalg.pooling_nhwc_max ins(%t, %w : tensor<1x8x8x4xf32>, tensor<3x3xf32>) outs(%o: tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %r, %p : tensor<1x6x6x4xf32>, tensor<1x6x6x4xf32>
}
// -----
// Tensors made of scalars and of other tensors, unranked ones, and what stands between tensors and buffers.
func.func @made(%a: tensor<4x5xf32>, %i: index, %n: index, %s: tensor<2xindex>, %f: f32, %u: tensor<*xf32>, %d: tensor<?x?xf32>, %g: tensor<?xi32>, %dm : memref<?x?xf32>) -> (tensor<2xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<8x5xf32>, tensor<?x?xf32>) {
  %0 = tensor.from_elements %f, %f : tensor<2xf32>
  %1 = tensor.generate %n, %n {
  ^bb0(%x: index, %y: index):
    tensor.yield %f : f32
  } : tensor<?x?xf32>
  %2 = tensor.pad %d low[1, %n] high[0, 2] {
  ^bb0(%x: index, %y: index):
    tensor.yield %f : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  %3 = tensor.splat %f[%n, %n] : tensor<?x?xf32>
  %4 = tensor.reshape %d(%s) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %5 = tensor.cast %u : tensor<*xf32> to tensor<?x?xf32>
  %6 = tensor.rank %u : tensor<*xf32>
  %7 = tensor.concat dim(0) %a, %a : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  %8 = arith.index_cast %g : tensor<?xi32> to tensor<?xindex>
  %c = tensor.extract %8[%i] : tensor<?xindex>
  %9 = bufferization.alloc_tensor(%n, %n) : tensor<?x?xf32>
  %10 = bufferization.alloc_tensor() copy(%d) : tensor<?x?xf32>
  %11 = bufferization.to_tensor %dm restrict : memref<?x?xf32> to tensor<?x?xf32>
  %12 = bufferization.to_tensor %dm restrict writable : memref<?x?xf32> to tensor<?x?xf32>
  %13 = bufferization.to_buffer %d : tensor<?x?xf32> to memref<?x?xf32>
  %14 = bufferization.to_buffer %d read_only : tensor<?x?xf32> to memref<?x?xf32>
  %z = tensor.insert %f into %10[%i, %6] : tensor<?x?xf32>
  "lab.use"(%13, %14): (memref<?x?xf32>, memref<?x?xf32>) -> ()
  bufferization.materialize_in_destination %z in restrict writable %dm : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  bufferization.dealloc_tensor %12 : tensor<?x?xf32>
  return %0, %1, %2, %3, %4, %7, %5 : tensor<2xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<8x5xf32>, tensor<?x?xf32>
}
// -----
// What ops read whose results nobody uses.
func.func @unused(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<16xf32>, %d: tensor<4x4xf32>, %s: tensor<2xindex>, %e: tensor<4x4xf32>, %u: tensor<*xf32>, %p: i1, %g: tensor<?xi32>, %i: index, %h: tensor<?xf32>, %k: tensor<?xf32>, %l: tensor<4xf32>, %m: tensor<4xf32>, %n: tensor<?xf32>,%f: f32, %o: tensor<4xf32>, %q: tensor<4xf32>) {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %1 = tensor.extract_slice %b[0, 0] [2, 2] [1, 1] : tensor<4x4xf32> to tensor<2x2xf32>
  %2 = tensor.expand_shape %c [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  %3 = tensor.reshape %d(%s) : (tensor<4x4xf32>, tensor<2xindex>) -> tensor<2x8xf32>
  %4 = tensor.cast %e : tensor<4x4xf32> to tensor<?x?xf32>
  %5 = tensor.rank %u : tensor<*xf32>
  %6 = arith.index_cast %g : tensor<?xi32> to tensor<?xindex>
  %7 = arith.select %p, %h, %k : tensor<?xf32>
  %8 = tensor.pad %l low[1] high[2] {
  ^bb0(%x: index):
    tensor.yield %f : f32
  } : tensor<4xf32> to tensor<7xf32>
  %9 = tensor.concat dim(0) %m, %m : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %10 = tensor.dim %n, %i : tensor<?xf32>
  %11 = bufferization.alloc_tensor() copy(%o) : tensor<4xf32>
  %12 = bufferization.to_buffer %q read_only : tensor<4xf32> to memref<4xf32>
  return
}
// -----
// A buffer given away, and tensors whose buffers are freed.
func.func @given_away(%a: tensor<4xf32>, %b: tensor<4xf32>, %f: f32, %i: index, %d: tensor<4xf32>) {
  %0 = bufferization.to_buffer %a : tensor<4xf32> to memref<4xf32>
  bufferization.dealloc_tensor %b : tensor<4xf32>
  %r = tensor.insert %f into %d[%i] : tensor<4xf32>
  bufferization.dealloc_tensor %r : tensor<4xf32>
  return
}
// -----
// Tensors of buffers: only a writable one is stored to.
func.func @of_buffers(%f: f32, %m: memref<?xf32>, %m2: memref<?xf32>, %i: index, %a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, f32) {
  %t = bufferization.to_tensor %m restrict : memref<?xf32> to tensor<?xf32>
  %t2 = bufferization.to_tensor %m2 restrict writable : memref<?xf32> to tensor<?xf32>
  %r = tensor.insert %f into %t[%i] : tensor<?xf32>
  %r2 = tensor.insert %f into %t2[%i] : tensor<?xf32>
  %b = bufferization.to_buffer %a : tensor<?xf32> to memref<?xf32>
  %x = memref.load %b[%i] : memref<?xf32>
  return %r, %r2, %x : tensor<?xf32>, tensor<?xf32>, f32
}
// -----
// Selects: of writable tensors, of a read-only one, of the same twice.
func.func @selects(%p: i1, %a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32> {bufferization.writable = false}, %f: f32, %i: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = arith.select %p, %a, %b : tensor<?xf32>
  %1 = tensor.insert %f into %0[%i] : tensor<?xf32>
  %2 = arith.select %p, %1, %c : tensor<?xf32>
  %3 = tensor.insert %f into %2[%i] : tensor<?xf32>
  %4 = arith.select %p, %3, %3 : tensor<?xf32>
  return %4, %a : tensor<?xf32>, tensor<?xf32>
}
// -----
// What is made has a buffer of its own, which is copied where it is needed twice.
func.func @made_twice(%f: f32, %i: index, %t: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<7xf32>, tensor<4xf32>) {
  %2 = tensor.splat %f : tensor<4xf32>
  %3 = tensor.insert %f into %2[%i] : tensor<4xf32>
  %4 = tensor.from_elements %f, %f : tensor<2xf32>
  %5 = tensor.insert %f into %4[%i] : tensor<2xf32>
  %6 = tensor.from_elements %f : tensor<f32>
  %7 = tensor.pad %t low[1] high[2] {
  ^bb0(%x: index):
    tensor.yield %f : f32
  } : tensor<4xf32> to tensor<7xf32>
  %8 = tensor.insert %f into %t[%i] : tensor<4xf32>
  return %2, %3, %4, %5, %6, %7, %8: tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<7xf32>, tensor<4xf32>
}
// -----
// Reshapes by a shape, written through.
func.func @reshapes(%t: tensor<4xf32>, %s: tensor<2xindex>, %f: f32, %i: index, %r: tensor<4xf32> {bufferization.writable = false}) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %2 = tensor.reshape %t(%s) : (tensor<4xf32>, tensor<2xindex>) -> tensor<2x2xf32>
  %3 = tensor.insert %f into %2[%i, %i] : tensor<2x2xf32>
  %4 = tensor.reshape %r(%s) : (tensor<4xf32>, tensor<2xindex>) -> tensor<2x2xf32>
  %5 = tensor.insert %f into %4[%i, %i] : tensor<2x2xf32>
  return %3, %5 : tensor<2x2xf32>, tensor<2x2xf32>
}
// -----
// A collapsed tensor that is overwritten counts as read all the same.
func.func @collapsed(%a: tensor<4x4xf32> {bufferization.writable = false}, %f: f32, %n: index, %z: index) -> tensor<4x4xf32> {
  %r = scf.for %i = %z to %n step %n iter_args(%t = %a) -> tensor<4x4xf32> {
    %c = tensor.collapse_shape %t [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
    %g = linalg.fill ins(%f: f32) outs(%c: tensor<16xf32>) -> tensor<16xf32>
    %e = tensor.expand_shape %g [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
    scf.yield %e : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}
// -----
// A generate whose elements come from a tensor, alloc_tensor with a hint and a memory space.
func.func @generated(%t: tensor<4x?xf32> {bufferization.writable = false}, %f: f32, %i: index, %n: index) -> (tensor<4x?xf32>, tensor<4x?xf32>, index, tensor<?xf32>) {
  %0 = bufferization.alloc_tensor() copy(%t) : tensor<4x?xf32>
  %1 = bufferization.alloc_tensor(%n) size_hint=%n : tensor<4x?xf32>
  %2 = tensor.insert %f into %1[%i, %i] : tensor<4x?xf32>
  %3 = bufferization.alloc_tensor(%n) {memory_space = 1 : i64} : tensor<4x?xf32>
  %d = tensor.dim %t, %i : tensor<4x?xf32>
  %g = tensor.generate %n {
  ^bb0(%x: index):
    %q = tensor.extract %t[%x, %x] : tensor<4x?xf32>
    tensor.yield %q : f32
  } : tensor<?xf32>
  return %0, %2, %d, %g : tensor<4x?xf32>, tensor<4x?xf32>, index, tensor<?xf32>
}
// -----
// Vectors: reads, writes, masks as operands and around.
func.func @vectors(%t: tensor<8x8xf32>, %i: index, %f: f32, %m: vector<4xi1>, %x: tensor<8x8xf32> {bufferization.writable = false}, %iv: vector<4xindex>, %p: vector<4xf32>) -> (vector<4xf32>, tensor<8x8xf32>, tensor<8x8xf32>, vector<4xf32>) {
  %v = vector.transfer_read %t[%i, %i], %f {in_bounds = [true]} : tensor<8x8xf32>, vector<4xf32>
  %w = vector.transfer_write %v, %t[%i, %i] : vector<4xf32>, tensor<8x8xf32>
  %w2 = vector.transfer_write %v, %x[%i, %i], %m : vector<4xf32>, tensor<8x8xf32>
  %w3 = vector.mask %m { vector.transfer_write %v, %w2[%i, %i] : vector<4xf32>, tensor<8x8xf32> } : vector<4xi1> -> tensor<8x8xf32>
  %v2 = vector.transfer_read %t[%i, %i], %f : tensor<8x8xf32>, vector<4xf32>
  %v3 = vector.gather %t[%i, %i] [%iv], %m, %p : tensor<8x8xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return %v2, %w, %w3, %v3 : vector<4xf32>, tensor<8x8xf32>, tensor<8x8xf32>, vector<4xf32>
}
// -----
// Vectors that overwrite all, or only seem to: MLIR overlooks a mask among the operands, and a lower rank.
func.func @vectors_of_everything(%v: vector<4xf32>, %a: tensor<4xf32>, %w: vector<2xf32>, %z: index, %b: tensor<4xf32>, %c: tensor<4xf32>, %m: vector<4xi1>, %d: tensor<4xf32>, %e: tensor<4x4xf32> {bufferization.writable = false}) -> tensor<4x4xf32> {
  %z0 = arith.constant 0 : index
  %0 = vector.transfer_write %v, %a[%z0] : vector<4xf32>, tensor<4xf32>
  %1 = vector.transfer_write %w, %b[%z0] : vector<2xf32>, tensor<4xf32>
  %2 = vector.transfer_write %v, %c[%z0], %m : vector<4xf32>, tensor<4xf32>
  %3 = vector.mask %m { vector.transfer_write %v, %d[%z0] : vector<4xf32>, tensor<4xf32> } : vector<4xi1> -> tensor<4xf32>
  %4 = vector.transfer_write %v, %e[%z0, %z0] : vector<4xf32>, tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}
// -----
// Ops of which One-Shot knows nothing: gather, scatter, bitcast, pack, arithmetic on whole tensors.
func.func @unknown(%t: tensor<4x4xf32>, %i: tensor<1x2x1xindex>, %s: tensor<1x2x4xf32>, %c: tensor<8xf32>, %q: tensor<8x8xf32>, %o : tensor<4x4x2x2xf32>) -> (tensor<1x2x4xf32>, tensor<4x4xf32>, tensor<8xi32>, tensor<8xf32>, tensor<4x4x2x2xf32>) {
  %0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<4x4xf32>, tensor<1x2x1xindex>) -> tensor<1x2x4xf32>
  %1 = tensor.scatter %s into %t[%i] scatter_dims([0]) unique : (tensor<1x2x4xf32>, tensor<4x4xf32>, tensor<1x2x1xindex>) -> tensor<4x4xf32>
  %2 = tensor.bitcast %c : tensor<8xf32> to tensor<8xi32>
  %3 = arith.addf %c, %c : tensor<8xf32>
  %4 = linalg.pack %q inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %o : tensor<8x8xf32> -> tensor<4x4x2x2xf32>
  return %0, %1, %2, %3, %4 : tensor<1x2x4xf32>, tensor<4x4xf32>, tensor<8xi32>, tensor<8xf32>, tensor<4x4x2x2xf32>
}
// -----
// What iterations of a forall store: their destination counts as neither read nor written.
func.func @parallel_stores(%d: tensor<16xf64>, %n: index, %s: tensor<1xf64>, %f: f64) -> tensor<16xf64> {
  %c3 = arith.constant 3 : index
  %r = scf.forall (%i) in (%n) shared_outs(%o = %d) -> (tensor<16xf64>) {
    %w = tensor.insert %f into %o[%c3] : tensor<16xf64>
    "lab.use"(%w) : (tensor<16xf64>) -> ()
    %b = tensor.extract_slice %o[5] [1] [1] : tensor<16xf64> to tensor<1xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %b into %o[%i] [1] [1] : tensor<1xf64> into tensor<16xf64>
    }
  }
  return %r : tensor<16xf64>
}
// -----
// Constants are not written; casts between ranked and unranked tensors are the same tensor.
func.func @constants(%f: f32, %i: index, %t: tensor<4x?xf32>, %u: tensor<*xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<*xf32>, tensor<4x4xf32>) {
  %0 = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = tensor.insert %f into %0[%i] : tensor<4xf32>
  %2 = tensor.cast %t : tensor<4x?xf32> to tensor<*xf32>
  %3 = tensor.cast %u : tensor<*xf32> to tensor<4x4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<*xf32>, tensor<4x4xf32>
}
// -----
// Materialized in tensors and in memrefs.
func.func @materialized(%t: tensor<4xf32>, %d: tensor<4xf32>, %m: memref<4xf32>, %s: memref<4xf32, strided<[?], offset: ?>>) -> tensor<4xf32> {
  %0 = bufferization.materialize_in_destination %t in %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  bufferization.materialize_in_destination %0 in restrict writable %m : (tensor<4xf32>, memref<4xf32>) -> ()
  bufferization.materialize_in_destination %0 in writable %s : (tensor<4xf32>, memref<4xf32, strided<[?], offset: ?>>) -> ()
  return %0 : tensor<4xf32>
}
