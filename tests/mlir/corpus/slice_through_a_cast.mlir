// The slice is of x, the store into a cast of x at the same place.
func.func @f(%x: tensor<?xf64>, %v: f64) -> tensor<16xf64> {
  %s = tensor.extract_slice %x[4] [4] [1] : tensor<?xf64> to tensor<4xf64>
  %w = linalg.fill ins(%v : f64) outs(%s : tensor<4xf64>) -> tensor<4xf64>
  %y = tensor.cast %x : tensor<?xf64> to tensor<16xf64>
  %r = tensor.insert_slice %w into %y[4] [4] [1] : tensor<4xf64> into tensor<16xf64>
  return %r : tensor<16xf64>
}
