// Three changed versions of x live at once.
func.func @f(%x: tensor<8xf64>, %i: index, %v: f64) -> (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>) {
  %a = tensor.insert %v into %x[%i] : tensor<8xf64>
  %b = tensor.insert %v into %x[%i] : tensor<8xf64>
  %c = tensor.insert %v into %b[%i] : tensor<8xf64>
  return %a, %b, %c : tensor<8xf64>, tensor<8xf64>, tensor<8xf64>
}
