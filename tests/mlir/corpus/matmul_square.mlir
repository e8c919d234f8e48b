// A @ a with a as the accumulator.
func.func @f(%a: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %p = linalg.matmul ins(%a, %a : tensor<4x4xf64>, tensor<4x4xf64>) outs(%a : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %p : tensor<4x4xf64>
}
