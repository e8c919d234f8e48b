// The column sums of a matrix are put in its first row.
func.func @f(%m: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %row = tensor.extract_slice %m[0, 0] [1, 8] [1, 1] : tensor<4x8xf64> to tensor<8xf64>
  %s = linalg.reduce { arith.addf } ins(%m : tensor<4x8xf64>) outs(%row : tensor<8xf64>) dimensions = [0]
  %r = tensor.insert_slice %s into %m[0, 0] [1, 8] [1, 1] : tensor<8xf64> into tensor<4x8xf64>
  return %r : tensor<4x8xf64>
}
