// One empty tensor is named as destination twice, its first contents are read later.
func.func @f(%x: tensor<16xf64>, %v: f64) -> (tensor<16xf64>, tensor<16xf64>) {
  %e = tensor.empty() : tensor<16xf64>
  %a = linalg.exp ins(%x : tensor<16xf64>) outs(%e : tensor<16xf64>) -> tensor<16xf64>
  %b = linalg.fill ins(%v : f64) outs(%e : tensor<16xf64>) -> tensor<16xf64>
  return %a, %b : tensor<16xf64>, tensor<16xf64>
}
