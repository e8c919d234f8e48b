// A result is told to be in an argument's buffer.
func.func @f(%x: tensor<8xf64> {bufferization.writable = false}, %d: tensor<8xf64>) -> tensor<8xf64> {
  %e = tensor.empty() : tensor<8xf64>
  %w = linalg.exp ins(%x : tensor<8xf64>) outs(%e : tensor<8xf64>) -> tensor<8xf64>
  %r = bufferization.materialize_in_destination %w in %d : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
  return %r : tensor<8xf64>
}
