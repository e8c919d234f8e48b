// One choice may not be written to.
func.func @f(%p: i1, %x: tensor<8xf64>,
    %y: tensor<8xf64> {bufferization.writable = false},
    %v: f64, %i: index) -> tensor<8xf64> {
  %s = arith.select %p, %x, %y : tensor<8xf64>
  %w = tensor.insert %v into %s[%i] : tensor<8xf64>
  return %w : tensor<8xf64>
}
