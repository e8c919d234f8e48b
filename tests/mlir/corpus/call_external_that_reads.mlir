// The declaration says that the argument is only read.
func.func private @look(tensor<8xf64> {bufferization.access = "read"}) -> f64
func.func @f(%x: tensor<8xf64>, %i: index) -> tensor<8xf64> {
  %a = call @look(%x) : (tensor<8xf64>) -> f64
  %w = tensor.insert %a into %x[%i] : tensor<8xf64>
  %b = call @look(%x) : (tensor<8xf64>) -> f64
  %u = tensor.insert %b into %w[%i] : tensor<8xf64>
  return %u : tensor<8xf64>
}
