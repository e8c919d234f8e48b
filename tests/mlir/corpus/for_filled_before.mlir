// A tensor filled before the loop gets one element set in every round, starting from the filled one.
func.func @f(%n: index, %v: f64, %a: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf64>
  %f = linalg.fill ins(%v : f64) outs(%e : tensor<8xf64>) -> tensor<8xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (f64) {
    %g = tensor.insert %s into %f[%i] : tensor<8xf64>
    %h = tensor.extract %g[%c1] : tensor<8xf64>
    scf.yield %h : f64
  }
  return %r : f64
}
