// A vector is broadcast to rows, transposed, and copied over an argument.
func.func @f(%v: tensor<3xf64>, %d: tensor<4x3xf64>) -> tensor<4x3xf64> {
  %e = tensor.empty() : tensor<3x4xf64>
  %b = linalg.broadcast ins(%v : tensor<3xf64>) outs(%e : tensor<3x4xf64>) dimensions = [1]
  %e2 = tensor.empty() : tensor<4x3xf64>
  %t = linalg.transpose ins(%b : tensor<3x4xf64>) outs(%e2 : tensor<4x3xf64>) permutation = [1, 0]
  %r = linalg.copy ins(%t : tensor<4x3xf64>) outs(%d : tensor<4x3xf64>) -> tensor<4x3xf64>
  return %r : tensor<4x3xf64>
}
