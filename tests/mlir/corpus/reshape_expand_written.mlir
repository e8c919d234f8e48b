// A vector seen as a matrix, one element of which is set.
func.func @f(%x: tensor<12xf64>, %v: f64) -> tensor<12xf64> {
  %c1 = arith.constant 1 : index
  %m = tensor.expand_shape %x [[0, 1]] output_shape [3, 4] : tensor<12xf64> into tensor<3x4xf64>
  %w = tensor.insert %v into %m[%c1, %c1] : tensor<3x4xf64>
  %r = tensor.collapse_shape %w [[0, 1]] : tensor<3x4xf64> into tensor<12xf64>
  return %r : tensor<12xf64>
}
