// Both choices are one tensor.
func.func @f(%p: i1, %x: tensor<8xf64>, %v: f64, %i: index) -> tensor<8xf64> {
  %s = arith.select %p, %x, %x : tensor<8xf64>
  %w = tensor.insert %v into %s[%i] : tensor<8xf64>
  return %w : tensor<8xf64>
}
