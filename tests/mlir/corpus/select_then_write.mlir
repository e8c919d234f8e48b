// One of two tensors is chosen and written, the other is read afterwards.
func.func @f(%p: i1, %x: tensor<8xf64>, %y: tensor<8xf64>, %v: f64, %i: index) -> (tensor<8xf64>, f64) {
  %s = arith.select %p, %x, %y : tensor<8xf64>
  %w = tensor.insert %v into %s[%i] : tensor<8xf64>
  %o = tensor.extract %y[%i] : tensor<8xf64>
  return %w, %o : tensor<8xf64>, f64
}
