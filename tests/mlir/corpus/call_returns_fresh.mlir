// The callee allocates its result.
func.func private @zeros() -> tensor<8xf64> {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<8xf64>
  %w = linalg.fill ins(%z : f64) outs(%e : tensor<8xf64>) -> tensor<8xf64>
  return %w : tensor<8xf64>
}
func.func @f(%v: f64, %i: index) -> (tensor<8xf64>, tensor<8xf64>) {
  %a = call @zeros() : () -> tensor<8xf64>
  %b = call @zeros() : () -> tensor<8xf64>
  %w = tensor.insert %v into %a[%i] : tensor<8xf64>
  return %w, %b : tensor<8xf64>, tensor<8xf64>
}
