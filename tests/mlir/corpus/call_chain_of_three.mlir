// What the innermost function writes is known two calls above it.
func.func private @inner(%t: tensor<8xf64>, %v: f64) -> tensor<8xf64> {
  %w = linalg.fill ins(%v : f64) outs(%t : tensor<8xf64>) -> tensor<8xf64>
  return %w : tensor<8xf64>
}
func.func private @middle(%t: tensor<8xf64>, %v: f64) -> tensor<8xf64> {
  %w = call @inner(%t, %v) : (tensor<8xf64>, f64) -> tensor<8xf64>
  return %w : tensor<8xf64>
}
func.func @f(%x: tensor<8xf64> {bufferization.writable = false}, %v: f64) -> tensor<8xf64> {
  %w = call @middle(%x, %v) : (tensor<8xf64>, f64) -> tensor<8xf64>
  return %w : tensor<8xf64>
}
