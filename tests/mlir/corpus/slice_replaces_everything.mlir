// The old contents of x are gone, because the inserted slice is all of it.
func.func @f(%x: tensor<6xf64> {bufferization.writable = false}, %y: tensor<6xf64>) -> tensor<6xf64> {
  %r = tensor.insert_slice %y into %x[0] [6] [1] : tensor<6xf64> into tensor<6xf64>
  return %r : tensor<6xf64>
}
