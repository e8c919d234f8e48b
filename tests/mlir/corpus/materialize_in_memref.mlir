// A result is told to be in a buffer that is given as such.
func.func @f(%x: tensor<8xf64> {bufferization.writable = false}, %m: memref<8xf64>) {
  %e = tensor.empty() : tensor<8xf64>
  %w = linalg.log ins(%x : tensor<8xf64>) outs(%e : tensor<8xf64>) -> tensor<8xf64>
  bufferization.materialize_in_destination %w in restrict writable %m : (tensor<8xf64>, memref<8xf64>) -> ()
  return
}
