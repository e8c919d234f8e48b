// The callee overwrites all of its argument, so a copy without contents is enough.
func.func private @clear(%t: tensor<8xf64>) -> tensor<8xf64> {
  %z = arith.constant 0.0 : f64
  %w = linalg.fill ins(%z : f64) outs(%t : tensor<8xf64>) -> tensor<8xf64>
  return %w : tensor<8xf64>
}
func.func @f(%x: tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>) {
  %r = call @clear(%x) : (tensor<8xf64>) -> tensor<8xf64>
  return %r, %x : tensor<8xf64>, tensor<8xf64>
}
