// The carried tensor is replaced by one from outside.
func.func @f(%x: tensor<8xf64>, %y: tensor<8xf64>, %n: index, %v: f64) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<8xf64>) {
    %w = tensor.insert %v into %t[%i] : tensor<8xf64>
    scf.yield %y : tensor<8xf64>
  }
  return %r : tensor<8xf64>
}
