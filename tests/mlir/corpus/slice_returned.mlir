// A row of a matrix is returned next to the matrix.
func.func @f(%m: tensor<4x6xf64>, %i: index) -> (tensor<6xf64>, tensor<4x6xf64>) {
  %row = tensor.extract_slice %m[%i, 0] [1, 6] [1, 1] : tensor<4x6xf64> to tensor<6xf64>
  return %row, %m : tensor<6xf64>, tensor<4x6xf64>
}
