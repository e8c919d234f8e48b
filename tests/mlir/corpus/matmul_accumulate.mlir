// C += a @ b twice, both into c.
func.func @f(%a: tensor<4x5xf64>, %b: tensor<5x6xf64>, %c: tensor<4x6xf64>) -> tensor<4x6xf64> {
  %p = linalg.matmul ins(%a, %b : tensor<4x5xf64>, tensor<5x6xf64>) outs(%c : tensor<4x6xf64>) -> tensor<4x6xf64>
  %q = linalg.matmul ins(%a, %b : tensor<4x5xf64>, tensor<5x6xf64>) outs(%p : tensor<4x6xf64>) -> tensor<4x6xf64>
  return %q : tensor<4x6xf64>
}
