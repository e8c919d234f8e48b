// A small vector written out by element, then changed in one place.
func.func @f(%a: f64, %b: f64, %i: index) -> (tensor<3xf64>, tensor<3xf64>) {
  %t = tensor.from_elements %a, %b, %a : tensor<3xf64>
  %w = tensor.insert %b into %t[%i] : tensor<3xf64>
  return %w, %t : tensor<3xf64>, tensor<3xf64>
}
