// A step function is called on the carried tensor.
func.func private @step(%t: tensor<8xf64>) -> tensor<8xf64> {
  %w = linalg.exp ins(%t : tensor<8xf64>) outs(%t : tensor<8xf64>) -> tensor<8xf64>
  return %w : tensor<8xf64>
}
func.func @f(%x: tensor<8xf64>, %n: index) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<8xf64>) {
    %w = func.call @step(%t) : (tensor<8xf64>) -> tensor<8xf64>
    scf.yield %w : tensor<8xf64>
  }
  return %r : tensor<8xf64>
}
