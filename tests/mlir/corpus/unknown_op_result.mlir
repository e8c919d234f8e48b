// A tensor from an op that is not known is written.
func.func @f(%x: tensor<8xf64>, %v: f64, %i: index) -> tensor<8xf64> {
  %u = "lab.shuffle"(%x) : (tensor<8xf64>) -> tensor<8xf64>
  %w = tensor.insert %v into %u[%i] : tensor<8xf64>
  return %w : tensor<8xf64>
}
