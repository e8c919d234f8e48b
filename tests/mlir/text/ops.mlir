// One of each op that the reader knows. `ops.generic.mlir` is what mlir-opt-22 makes of it with the options
// -allow-unregistered-dialect -split-input-file -mlir-print-op-generic -mlir-print-debuginfo

#id = affine_map<(d0, d1) -> (d0, d1)>
#shift = affine_map<(d0, d1) -> (d0 + d1, d1)>
#sum = affine_map<(d0, d1) -> (d0)>
module @numbers attributes {test.note = dense<[1, 2]> : tensor<2xi32>, test.unit} {
  func.func @scalars(%i: i32, %n: index, %x: f32, %b: i1, %h: bf16, %u: ui8) -> (f32, i1) {
    %0 = arith.addi %i, %i overflow<nsw> : i32
    %1 = arith.subi %0, %i : i32
    %2 = arith.muli %1, %i : i32
    %3 = arith.divsi %2, %i : i32
    %4 = arith.divui %3, %i : i32
    %5 = arith.remsi %4, %i : i32
    %6 = arith.remui %5, %i : i32
    %7 = arith.ceildivsi %6, %i : i32
    %8 = arith.floordivsi %7, %i : i32
    %9 = arith.andi %8, %i : i32
    %10 = arith.ori %9, %i : i32
    %11 = arith.xori %10, %i : i32
    %12 = arith.shli %11, %i : i32
    %13 = arith.shrsi %12, %i : i32
    %14 = arith.shrui %13, %i : i32
    %15 = arith.minsi %14, %i : i32
    %16 = arith.maxsi %15, %i : i32
    %17 = arith.minui %16, %i : i32
    %18 = arith.maxui %17, %i : i32
    %19 = arith.cmpi ult, %18, %i : i32
    %20 = arith.select %19, %x, %x : f32
    %21 = arith.index_cast %i : i32 to index
    %22 = arith.index_castui %21 : index to i64
    %23 = arith.extsi %i : i32 to i64
    %24 = arith.extui %i : i32 to i64
    %25 = arith.trunci %24 : i64 to i8
    %26 = arith.sitofp %i : i32 to f32
    %27 = arith.uitofp %i : i32 to f64
    %28 = arith.fptosi %x : f32 to i32
    %29 = arith.fptoui %x : f32 to i32
    %30 = arith.extf %x : f32 to f64
    %31 = arith.truncf %30 : f64 to f16
    %32 = arith.bitcast %x : f32 to i32
    %33 = arith.addf %x, %26 fastmath<fast> : f32
    %34 = arith.subf %33, %x : f32
    %35 = arith.mulf %34, %x : f32
    %36 = arith.divf %35, %x : f32
    %37 = arith.remf %36, %x : f32
    %38 = arith.negf %37 : f32
    %39 = arith.maximumf %38, %x : f32
    %40 = arith.minimumf %39, %x : f32
    %41 = arith.maxnumf %40, %x : f32
    %42 = arith.minnumf %41, %x : f32
    %43 = arith.cmpf uge, %42, %x : f32
    %44:2 = arith.addui_extended %i, %i : i32, i1
    %45 = arith.constant 0x7FC00000 : f32
    %46 = arith.constant -1 : i64
    %47 = arith.constant 1.5 : bf16
    %48 = arith.constant true
    %49 = arith.constant dense<[[1.0, -2.5]]> : tensor<1x2xf32>
    %50 = arith.constant dense<0> : vector<4xi8>
    %51 = math.sqrt %42 : f32
    %52 = math.exp %51 : f32
    %53 = math.absf %52 : f32
    %54 = math.absi %i : i32
    %55 = math.powf %53, %x : f32
    %56 = math.fma %55, %x, %x : f32
    %57 = math.tanh %56 fastmath<nnan> : f32
    %58 = math.floor %57 : f32
    %59 = math.roundeven %58 : f32
    %60 = math.copysign %59, %x : f32
    %61 = index.add %n, %21
    %62 = index.mul %61, %n
    %63 = index.ceildivs %62, %n
    %64 = index.cmp slt(%63, %n)
    %65 = index.constant 42
    %66 = index.casts %65 : index to i32
    %67 = index.maxs %63, %65
    %68 = index.bool.constant false
    return %60, %64 : f32, i1
  }
  func.func private @external(tensor<*xf32> {bufferization.access = "read"}, memref<?xf32, strided<[?], offset: ?>>) -> (tensor<?xf32> {test.result = 1 : i8})
  module @inner {
    func.func public @nested() attributes {test.mark = "a \22b\22 \5C"} {
      return
    }
  }
}

// -----

func.func @tensors(%yes: i1, %t: tensor<?x8xf32>, %u: tensor<*xf32>, %s: tensor<4x8xf32>, %n: index, %x: f32, %shape: tensor<2xindex>, %row: tensor<8xf32>)
    -> (tensor<?x8xf32>, tensor<*xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %t, %c0 : tensor<?x8xf32>
  %r = tensor.rank %u : tensor<*xf32>
  %0 = tensor.empty(%d) : tensor<?x8xf32>
  %1 = tensor.empty() : tensor<4x8xf32>
  %2 = tensor.extract %t[%c0, %n] : tensor<?x8xf32>
  %3 = tensor.insert %2 into %0[%n, %c1] : tensor<?x8xf32>
  %4 = tensor.extract_slice %3[%n, 0] [%d, 4] [1, 2] : tensor<?x8xf32> to tensor<?x4xf32>
  %5 = tensor.extract_slice %3[1, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
  %6 = tensor.insert_slice %5 into %3[%n, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<?x8xf32>
  %7 = tensor.insert_slice %4 into %6[0, 0] [%d, 4] [1, 2] : tensor<?x4xf32> into tensor<?x8xf32>
  %8 = tensor.cast %7 : tensor<?x8xf32> to tensor<4x8xf32>
  %9 = tensor.cast %u : tensor<*xf32> to tensor<?x?xf32>
  %10 = tensor.collapse_shape %8 [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %11 = tensor.expand_shape %7 [[0, 1], [2]] output_shape [%d, 1, 8] : tensor<?x8xf32> into tensor<?x1x8xf32>
  %12 = tensor.from_elements %x, %2 : tensor<2xf32>
  %13 = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } : tensor<?x8xf32>
  %14 = tensor.pad %t low[0, %n] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } : tensor<?x8xf32> to tensor<?x?xf32>
  %15 = tensor.splat %x[%n] : tensor<?x4xf32>
  %16 = tensor.reshape %t(%shape) : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %17 = tensor.concat dim(0) %t, %13 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %18 = tensor.bitcast %s : tensor<4x8xf32> to tensor<4x8xi32>
  %19 = tensor.cast %10 : tensor<32xf32> to tensor<*xf32>
  %20 = bufferization.alloc_tensor(%n) : tensor<?xf32>
  %21 = bufferization.alloc_tensor() copy(%s) : tensor<4x8xf32>
  %22 = bufferization.alloc_tensor(%n) size_hint=%n : tensor<?xf32>
  %23 = bufferization.materialize_in_destination %s in %21 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %24 = bufferization.to_buffer %23 : tensor<4x8xf32> to memref<4x8xf32, strided<[?, ?], offset: ?>>
  %25 = bufferization.to_buffer %s read_only : tensor<4x8xf32> to memref<4x8xf32>
  %26 = bufferization.to_tensor %25 restrict writable : memref<4x8xf32> to tensor<4x8xf32>
  bufferization.materialize_in_destination %26 in restrict writable %24 : (tensor<4x8xf32>, memref<4x8xf32, strided<[?, ?], offset: ?>>) -> ()
  bufferization.dealloc_tensor %20 : tensor<?xf32>
  %27 = arith.constant 0.0 : f32
  %28 = vector.transfer_read %t[%c0, %n], %27 {in_bounds = [true, false]} : tensor<?x8xf32>, vector<4x4xf32>
  %29 = vector.transfer_write %28, %s[%c0, %c1] : vector<4x4xf32>, tensor<4x8xf32>
  %30 = vector.transfer_read %row[%n], %27 : tensor<8xf32>, vector<4xf32>
  %31 = vector.broadcast %x : f32 to vector<4xf32>
  %32 = arith.addf %30, %31 : vector<4xf32>
  %33 = vector.reduction <add>, %32 : vector<4xf32> into f32
  %34 = arith.select %yes, %26, %26 {test.skip} : tensor<4x8xf32>
  return %17, %19 : tensor<?x8xf32>, tensor<*xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
#shift = affine_map<(d0, d1) -> (d0 + d1, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>
#zero = affine_map<(d0, d1) -> (d0, 0)>
func.func @structured(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %o: tensor<8x8xf32>, %r: tensor<8xf32>, %w: tensor<16x8xf32>, %x: f32,
    %h: tensor<8x8xf16>, %d: tensor<?x?xf32>, %m: memref<8x8xf32>, %s: tensor<f32>, %one: tensor<8x1xf32>, %bb: tensor<2x8x8xf32>, %i: tensor<8xi32>, %si: tensor<i32>) -> tensor<8x8xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #tr, #row, #none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %r, %x : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, f32) outs(%o : tensor<8x8xf32>) attrs = {test.mark = 3 : i8} {
  ^bb0(%p: f32, %q: f32, %v: f32, %y: f32, %out: f32):
    %k = linalg.index 1 : index
    %e = arith.addf %p, %q : f32
    %f = arith.mulf %e, %y : f32
    linalg.yield %f : f32
  } -> tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#shift, #zero, #id], iterator_types = ["parallel", "parallel"], doc = "windows", library_call = "f"}
      ins(%w, %one : tensor<16x8xf32>, tensor<8x1xf32>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%p: f32, %z: f32, %out: f32):
    linalg.yield %p : f32
  } -> tensor<8x8xf32>
  %2:2 = linalg.generic {indexing_maps = [#id, #row, #none], iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<8x8xf32>) outs(%r, %s : tensor<8xf32>, tensor<f32>) {
  ^bb0(%p: f32, %u: f32, %v: f32):
    %e = arith.addf %p, %u : f32
    linalg.yield %e, %v : f32, f32
  } -> (tensor<8xf32>, tensor<f32>)
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%m : memref<8x8xf32>) {
  ^bb0(%v: f32):
    linalg.yield %x : f32
  }
  %3 = linalg.fill ins(%x : f32) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%3 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = linalg.matmul ins(%h, %h : tensor<8x8xf16>, tensor<8x8xf16>) outs(%5 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
      ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%6 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %8 = linalg.matvec ins(%7, %r : tensor<8x8xf32>, tensor<8xf32>) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %9 = linalg.vecmat ins(%r, %a : tensor<8xf32>, tensor<8x8xf32>) outs(%8 : tensor<8xf32>) -> tensor<8xf32>
  %10 = linalg.dot ins(%8, %9 : tensor<8xf32>, tensor<8xf32>) outs(%s : tensor<f32>) -> tensor<f32>
  %11 = linalg.batch_matmul ins(%bb, %bb : tensor<2x8x8xf32>, tensor<2x8x8xf32>) outs(%bb : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %12 = linalg.add ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  %13 = linalg.exp ins(%12 : tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  %14 = linalg.copy ins(%13 : tensor<8x8xf32>) outs(%12 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %15 = linalg.map { arith.addf } ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%14 : tensor<8x8xf32>)
  %16 = linalg.reduce ins(%15 : tensor<8x8xf32>) outs(%r : tensor<8xf32>) dimensions = [1]
    (%in: f32, %init: f32) {
      %e = arith.maximumf %in, %init : f32
      linalg.yield %e : f32
    }
  %17 = linalg.transpose ins(%a : tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) permutation = [1, 0]
  %18 = linalg.broadcast ins(%16 : tensor<8xf32>) outs(%17 : tensor<8x8xf32>) dimensions = [0]
  %19 = linalg.softmax dimension(1) ins(%18 : tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
  %20 = linalg.dot ins(%i, %i : tensor<8xi32>, tensor<8xi32>) outs(%si : tensor<i32>) -> tensor<i32>
  return %19 : tensor<8x8xf32>
}

// -----

func.func @flow(%t: tensor<?xf32>, %n: index, %b: i1, %k: i32, %x: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.if %b -> (tensor<?xf32>) {
    %e = tensor.insert %x into %t[%c0] : tensor<?xf32>
    scf.yield %e : tensor<?xf32>
  } else {
    scf.yield %t : tensor<?xf32>
  }
  scf.if %b {
    "test.effect"(%x) : (f32) -> ()
  }
  %1:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %0, %q = %x) -> (tensor<?xf32>, f32) {
    %e = tensor.insert %q into %p[%i] : tensor<?xf32>
    scf.yield %e, %q : tensor<?xf32>, f32
  } {test.mark}
  scf.for %i = %c0 to %n step %c1 {
    "test.effect"(%i) : (index) -> ()
  }
  scf.for unsigned %i = %k to %k step %k : i32 {
  }
  %2:2 = scf.while (%p = %1#0, %i = %c0) : (tensor<?xf32>, index) -> (tensor<?xf32>, index) {
    %go = arith.cmpi slt, %i, %n : index
    scf.condition(%go) %p, %i : tensor<?xf32>, index
  } do {
  ^bb0(%p: tensor<?xf32>, %i: index):
    %j = arith.addi %i, %c1 : index
    scf.yield %p, %j : tensor<?xf32>, index
  }
  %3 = scf.forall (%i, %j) = (%c0, 0) to (%n, 4) step (%c1, 2) shared_outs(%o = %2#0) -> (tensor<?xf32>) {
    %one = tensor.extract_slice %o[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  } {mapping = [#gpu.block<x>, #gpu.block<y>]}
  scf.forall (%i) in (%n) {
    "test.effect"(%i) : (index) -> ()
  }
  %4 = scf.execute_region -> tensor<?xf32> {
    cf.cond_br %b, ^bb1(%3 : tensor<?xf32>), ^bb2
  ^bb1(%p: tensor<?xf32>):
    scf.yield %p : tensor<?xf32>
  ^bb2:
    cf.br ^bb1(%t : tensor<?xf32>)
  }
  cf.switch %k : i32, [
    default: ^bb3(%4 : tensor<?xf32>),
    7: ^bb2(%x : f32),
    9: ^bb1
  ]
^bb1:
  cf.cond_br %b, ^bb1, ^bb3(%t : tensor<?xf32>)
^bb2(%y: f32):
  %5 = call @helper(%4, %y) : (tensor<?xf32>, f32) -> tensor<?xf32>
  cf.br ^bb3(%5 : tensor<?xf32>)
^bb3(%r: tensor<?xf32>):
  cf.assert %b, "a message"
  return %r : tensor<?xf32>
}
func.func private @helper(%t: tensor<?xf32> {bufferization.writable = false}, %x: f32) -> tensor<?xf32> {
  return %t : tensor<?xf32>
}

// -----

#tile = affine_map<(d0, d1) -> (d1, d0)>
memref.global "private" constant @table : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]> {alignment = 64 : i64}
memref.global @filled : memref<4xi32> = uninitialized
func.func @memory(%m: memref<?x8xf32>, %s: memref<?x?xf32, strided<[?, ?], offset: ?>>, %n: index, %b: i1, %x: f32, %space: memref<4xf32, 1>,
    %u: memref<*xf32>, %tiled: memref<4x4xf32, #tile>) -> memref<?x8xf32> {
  %c0 = arith.constant 0 : index
  %0 = memref.alloc(%n) {alignment = 64 : i64} : memref<?x8xf32>
  %1 = memref.alloca() : memref<4xf32>
  %2 = memref.alloc(%n, %n)[%n] : memref<?x?xf32, strided<[1, ?]>>
  %3 = memref.dim %m, %c0 : memref<?x8xf32>
  %4 = memref.dim %m, %n : memref<?x8xf32>
  %5 = memref.load %m[%c0, %n] : memref<?x8xf32>
  memref.store %5, %0[%n, %c0] {nontemporal = true} : memref<?x8xf32>
  memref.copy %m, %0 : memref<?x8xf32> to memref<?x8xf32>
  %6 = memref.cast %m : memref<?x8xf32> to memref<?x8xf32, strided<[?, ?], offset: ?>>
  %7 = memref.cast %m : memref<?x8xf32> to memref<*xf32>
  %8 = memref.subview %m[1, 0] [%n, 4] [1, 2] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 2], offset: 8>>
  %9 = memref.subview %m[%n, 0] [1, 8] [1, 1] : memref<?x8xf32> to memref<8xf32, strided<[1], offset: ?>>
  %10 = memref.subview %s[0, 0] [1, 1] [1, 1] : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<1xf32, strided<[?], offset: ?>>
  %11 = memref.collapse_shape %m [[0, 1]] : memref<?x8xf32> into memref<?xf32>
  %12 = memref.expand_shape %m [[0, 1], [2]] output_shape [1, %n, 8] : memref<?x8xf32> into memref<1x?x8xf32>
  %13 = memref.reinterpret_cast %m to offset: [0], sizes: [%n, 4], strides: [8, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1]>>
  %14 = memref.get_global @table : memref<2x2xf32>
  %15 = memref.rank %u : memref<*xf32>
  %16 = memref.transpose %m (i, j) -> (j, i) : memref<?x8xf32> to memref<8x?xf32, strided<[1, 8]>>
  %17:2 = bufferization.dealloc (%0, %2 : memref<?x8xf32>, memref<?x?xf32, strided<[1, ?]>>) if (%b, %b) retain (%m, %1 : memref<?x8xf32>, memref<4xf32>)
  bufferization.dealloc (%0 : memref<?x8xf32>) if (%17#0)
  %18 = bufferization.clone %m : memref<?x8xf32> to memref<?x8xf32>
  memref.dealloc %18 : memref<?x8xf32>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m : memref<?x8xf32> -> memref<f32>, index, index, index, index, index
  %19 = memref.extract_aligned_pointer_as_index %m : memref<?x8xf32> -> index
  %20 = memref.memory_space_cast %space : memref<4xf32, 1> to memref<4xf32>
  memref.assume_alignment %m, 16 : memref<?x8xf32>
  linalg.fill ins(%x : f32) outs(%m : memref<?x8xf32>)
  %21 = "test.unknown"(%m, %7) <{count = 2 : i64}> ({
  ^bb0(%i: index, %v: !other.type<"x", [1, 2]>):
    "test.inner"(%i)[^bb1] {a = affine_set<(d0) : (d0 - 1 >= 0)>, b = #other.attr<@sym, 1 : i8>} : (index) -> ()
  ^bb1:
    "test.end"() : () -> ()
  }, {
  }) {test.list = [unit, @memory, f32, "x", [1 : i32], {k = array<i32: 1, 2>}]} : (memref<?x8xf32>, memref<*xf32>) -> memref<?x8xf32>
  return %21 : memref<?x8xf32>
}

// -----

func.func @reduced(%m: memref<1x8x1xf32>, %k: memref<4x1x1xf32, strided<[16, 4, 2]>>) -> (memref<1x8xf32>, memref<8x1xf32>) {
  %0 = memref.subview %m[0, 0, 0] [1, 8, 1] [1, 1, 1] : memref<1x8x1xf32> to memref<1x8xf32>
  %1 = memref.subview %m[0, 0, 0] [1, 8, 1] [1, 1, 1] : memref<1x8x1xf32> to memref<8x1xf32>
  %2 = memref.subview %k[0, 0, 0] [4, 1, 1] [1, 1, 1] : memref<4x1x1xf32, strided<[16, 4, 2]>> to memref<4x1xf32, strided<[16, 2]>>
  %3 = memref.subview %k[0, 0, 0] [1, 1, 1] [1, 1, 1] : memref<4x1x1xf32, strided<[16, 4, 2]>> to memref<1xf32, strided<[4]>>
  return %0, %1 : memref<1x8xf32>, memref<8x1xf32>
}
