// A scratch tensor made before the loop is filled anew in every round.
func.func @f(%x: tensor<8xf64>, %n: index, %v: f64) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<8xf64>) {
    %f = linalg.fill ins(%v : f64) outs(%e : tensor<8xf64>) -> tensor<8xf64>
    %g = tensor.insert %v into %f[%i] : tensor<8xf64>
    %w = linalg.max ins(%t, %g : tensor<8xf64>, tensor<8xf64>) outs(%t : tensor<8xf64>) -> tensor<8xf64>
    scf.yield %w : tensor<8xf64>
  }
  return %r : tensor<8xf64>
}
