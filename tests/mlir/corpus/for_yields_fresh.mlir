// Each round makes a new tensor from the carried one.
func.func @f(%x: tensor<16xf64>, %n: index) -> tensor<16xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<16xf64>) {
    %e = tensor.empty() : tensor<16xf64>
    %w = linalg.abs ins(%t : tensor<16xf64>) outs(%e : tensor<16xf64>) -> tensor<16xf64>
    scf.yield %w : tensor<16xf64>
  }
  return %r : tensor<16xf64>
}
