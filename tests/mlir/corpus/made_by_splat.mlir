// A tensor of one value, an element of which is set.
func.func @f(%v: f64, %i: index) -> tensor<5xf64> {
  %z = arith.constant 0.0 : f64
  %s = tensor.splat %z : tensor<5xf64>
  %r = tensor.insert %v into %s[%i] : tensor<5xf64>
  return %r : tensor<5xf64>
}
