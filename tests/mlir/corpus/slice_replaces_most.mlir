// All but the last element of a read-only x is replaced.
func.func @f(%x: tensor<6xf64> {bufferization.writable = false}, %y: tensor<5xf64>) -> tensor<6xf64> {
  %r = tensor.insert_slice %y into %x[0] [5] [1] : tensor<5xf64> into tensor<6xf64>
  return %r : tensor<6xf64>
}
