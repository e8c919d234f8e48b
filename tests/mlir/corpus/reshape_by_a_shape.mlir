// Tensor.reshape with the new sizes in a tensor.
func.func @f(%x: tensor<?xf64>, %s: tensor<2xindex>, %v: f64, %i: index) -> tensor<?x?xf64> {
  %r = tensor.reshape %x(%s) : (tensor<?xf64>, tensor<2xindex>) -> tensor<?x?xf64>
  %w = tensor.insert %v into %r[%i, %i] : tensor<?x?xf64>
  return %w : tensor<?x?xf64>
}
