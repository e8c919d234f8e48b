// A constant is only the destination of a fill, so nothing of it is needed.
func.func @f(%v: f64) -> tensor<4xf64> {
  %t = arith.constant dense<0.0> : tensor<4xf64>
  %r = linalg.fill ins(%v : f64) outs(%t : tensor<4xf64>) -> tensor<4xf64>
  return %r : tensor<4xf64>
}
