// What the callee returns is fresh, so its argument stays as it is.
func.func private @double(%t: tensor<8xf64>) -> tensor<8xf64> {
  %e = tensor.empty() : tensor<8xf64>
  %w = linalg.add ins(%t, %t : tensor<8xf64>, tensor<8xf64>) outs(%e : tensor<8xf64>) -> tensor<8xf64>
  return %w : tensor<8xf64>
}
func.func @f(%x: tensor<8xf64>, %v: f64, %i: index) -> tensor<8xf64> {
  %d = call @double(%x) : (tensor<8xf64>) -> tensor<8xf64>
  %w = tensor.insert %v into %x[%i] : tensor<8xf64>
  %r = linalg.sub ins(%d, %w : tensor<8xf64>, tensor<8xf64>) outs(%w : tensor<8xf64>) -> tensor<8xf64>
  return %r : tensor<8xf64>
}
