// The rank is forgotten and found again.
func.func @f(%x: tensor<?x3xf64>, %v: f64, %i: index) -> tensor<?x3xf64> {
  %u = tensor.cast %x : tensor<?x3xf64> to tensor<*xf64>
  %y = tensor.cast %u : tensor<*xf64> to tensor<?x3xf64>
  %r = tensor.insert %v into %y[%i, %i] : tensor<?x3xf64>
  return %r : tensor<?x3xf64>
}
