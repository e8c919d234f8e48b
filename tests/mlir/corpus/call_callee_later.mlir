// The same where the callee stands after the caller, and the old value is not needed.
func.func @f(%x: tensor<8xf64>, %v: f64, %i: index) -> tensor<8xf64> {
  %r = call @set(%x, %v, %i) : (tensor<8xf64>, f64, index) -> tensor<8xf64>
  %s = call @set(%r, %v, %i) : (tensor<8xf64>, f64, index) -> tensor<8xf64>
  return %s : tensor<8xf64>
}
func.func private @set(%t: tensor<8xf64>, %v: f64, %i: index) -> tensor<8xf64> {
  %w = tensor.insert %v into %t[%i] : tensor<8xf64>
  return %w : tensor<8xf64>
}
