// A square matrix transposed with itself as destination.
func.func @f(%m: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %t = linalg.transpose ins(%m : tensor<4x4xf64>) outs(%m : tensor<4x4xf64>) permutation = [1, 0]
  return %t : tensor<4x4xf64>
}
