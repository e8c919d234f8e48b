// X is filled, and a maximum over the old x is taken afterwards.
func.func @f(%x: tensor<10xf64>, %e: tensor<f64>) -> (tensor<10xf64>, tensor<f64>) {
  %z = arith.constant 0.0 : f64
  %w = linalg.fill ins(%z : f64) outs(%x : tensor<10xf64>) -> tensor<10xf64>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<10xf64>) outs(%e : tensor<f64>) dimensions = [0]
  return %w, %m : tensor<10xf64>, tensor<f64>
}
