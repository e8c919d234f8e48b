// The callee changes its argument, the caller reads the old one afterwards.
func.func private @set(%t: tensor<8xf64>, %v: f64, %i: index) -> tensor<8xf64> {
  %w = tensor.insert %v into %t[%i] : tensor<8xf64>
  return %w : tensor<8xf64>
}
func.func @f(%x: tensor<8xf64>, %v: f64, %i: index) -> (tensor<8xf64>, f64) {
  %r = call @set(%x, %v, %i) : (tensor<8xf64>, f64, index) -> tensor<8xf64>
  %o = tensor.extract %x[%i] : tensor<8xf64>
  return %r, %o : tensor<8xf64>, f64
}
