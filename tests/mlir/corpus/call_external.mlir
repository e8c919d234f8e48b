// Nothing is known of a function without a body.
func.func private @outside(tensor<8xf64>) -> tensor<8xf64>
func.func @f(%x: tensor<8xf64>, %i: index) -> (tensor<8xf64>, f64) {
  %r = call @outside(%x) : (tensor<8xf64>) -> tensor<8xf64>
  %o = tensor.extract %x[%i] : tensor<8xf64>
  return %r, %o : tensor<8xf64>, f64
}
