// The fresh tensor is reshaped before it is stored.
func.func @f(%x: tensor<16xf64>, %v: f64) -> tensor<16xf64> {
  %e = tensor.empty() : tensor<2x2xf64>
  %w = linalg.fill ins(%v : f64) outs(%e : tensor<2x2xf64>) -> tensor<2x2xf64>
  %c = tensor.collapse_shape %w [[0, 1]] : tensor<2x2xf64> into tensor<4xf64>
  %r = tensor.insert_slice %c into %x[0] [4] [1] : tensor<4xf64> into tensor<16xf64>
  return %r : tensor<16xf64>
}
