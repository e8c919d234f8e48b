// A column seen as a matrix cannot be a view.
func.func @f(%m: tensor<6x5xf64>, %e: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %c = tensor.extract_slice %m[0, 1] [6, 2] [1, 2] : tensor<6x5xf64> to tensor<6x2xf64>
  %k = tensor.collapse_shape %c [[0, 1]] : tensor<6x2xf64> into tensor<12xf64>
  %h = tensor.extract_slice %k[0] [6] [1] : tensor<12xf64> to tensor<6xf64>
  %x = tensor.expand_shape %h [[0, 1]] output_shape [2, 3] : tensor<6xf64> into tensor<2x3xf64>
  %r = linalg.copy ins(%x : tensor<2x3xf64>) outs(%e : tensor<2x3xf64>) -> tensor<2x3xf64>
  return %r : tensor<2x3xf64>
}
