// Elements of an empty tensor are read, which is no conflict because they are undefined.
func.func @f(%v: f64, %i: index) -> (tensor<4xf64>, f64) {
  %e = tensor.empty() : tensor<4xf64>
  %w = linalg.fill ins(%v : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %o = tensor.extract %e[%i] : tensor<4xf64>
  return %w, %o : tensor<4xf64>, f64
}
