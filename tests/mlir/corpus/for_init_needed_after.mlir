// The loop changes x, and the x before the loop is read after it.
func.func @f(%x: tensor<8xf64>, %n: index, %v: f64) -> (tensor<8xf64>, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<8xf64>) {
    %w = tensor.insert %v into %t[%i] : tensor<8xf64>
    scf.yield %w : tensor<8xf64>
  }
  %e = tensor.extract %x[%c0] : tensor<8xf64>
  return %r, %e : tensor<8xf64>, f64
}
