// X[2:6] += y[2:6]: the slice is stored back where it was taken.
func.func @f(%x: tensor<8xf64>, %y: tensor<8xf64> {bufferization.writable = false}) -> tensor<8xf64> {
  %a = tensor.extract_slice %x[2] [4] [1] : tensor<8xf64> to tensor<4xf64>
  %b = tensor.extract_slice %y[2] [4] [1] : tensor<8xf64> to tensor<4xf64>
  %s = linalg.add ins(%a, %b : tensor<4xf64>, tensor<4xf64>) outs(%a : tensor<4xf64>) -> tensor<4xf64>
  %r = tensor.insert_slice %s into %x[2] [4] [1] : tensor<4xf64> into tensor<8xf64>
  return %r : tensor<8xf64>
}
