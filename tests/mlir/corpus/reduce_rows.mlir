// The sums of the rows of a matrix, in a vector filled with zeros.
func.func @f(%m: tensor<5x8xf64>) -> tensor<5xf64> {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<5xf64>
  %i = linalg.fill ins(%z : f64) outs(%e : tensor<5xf64>) -> tensor<5xf64>
  %r = linalg.reduce ins(%m : tensor<5x8xf64>) outs(%i : tensor<5xf64>) dimensions = [1]
    (%in: f64, %acc: f64) {
      %s = arith.addf %in, %acc : f64
      linalg.yield %s : f64
    }
  return %r : tensor<5xf64>
}
