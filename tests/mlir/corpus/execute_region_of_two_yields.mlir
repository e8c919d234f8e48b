// A region of three blocks that gives x or a changed x: MLIR refuses it, because there are two yields.
func.func @f(%x: tensor<8xf64>, %p: i1, %v: f64, %i: index) -> (tensor<8xf64>, f64) {
  %r = scf.execute_region -> tensor<8xf64> {
    cf.cond_br %p, ^a, ^b
  ^a:
    %w = tensor.insert %v into %x[%i] : tensor<8xf64>
    scf.yield %w : tensor<8xf64>
  ^b:
    scf.yield %x : tensor<8xf64>
  }
  %o = tensor.extract %r[%i] : tensor<8xf64>
  return %r, %o : tensor<8xf64>, f64
}
