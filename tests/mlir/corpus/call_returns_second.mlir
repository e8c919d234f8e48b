// The callee gives back its second argument unchanged.
func.func private @second(%a: tensor<8xf64>, %b: tensor<8xf64>) -> tensor<8xf64> {
  return %b : tensor<8xf64>
}
func.func @f(%x: tensor<8xf64>, %y: tensor<8xf64>, %v: f64, %i: index) -> (tensor<8xf64>, tensor<8xf64>) {
  %r = call @second(%x, %y) : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
  %w = tensor.insert %v into %r[%i] : tensor<8xf64>
  return %w, %x : tensor<8xf64>, tensor<8xf64>
}
