// X[1:] = x[:-1]: source and destination overlap.
func.func @f(%x: tensor<10xf64>) -> tensor<10xf64> {
  %s = tensor.extract_slice %x[0] [9] [1] : tensor<10xf64> to tensor<9xf64>
  %r = tensor.insert_slice %s into %x[1] [9] [1] : tensor<9xf64> into tensor<10xf64>
  return %r : tensor<10xf64>
}
