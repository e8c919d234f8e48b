// X[6:] = x[:6]: source and destination do not meet.
func.func @f(%x: tensor<12xf64>) -> tensor<12xf64> {
  %s = tensor.extract_slice %x[0] [6] [1] : tensor<12xf64> to tensor<6xf64>
  %r = tensor.insert_slice %s into %x[6] [6] [1] : tensor<6xf64> into tensor<12xf64>
  return %r : tensor<12xf64>
}
