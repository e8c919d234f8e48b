// The place to store is computed after the fresh tensor is used.
func.func @f(%x: tensor<16xf64>, %t: tensor<1xindex>, %v: f64) -> tensor<16xf64> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<4xf64>
  %w = linalg.fill ins(%v : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %i = tensor.extract %t[%c0] : tensor<1xindex>
  %r = tensor.insert_slice %w into %x[%i] [4] [1] : tensor<4xf64> into tensor<16xf64>
  return %r : tensor<16xf64>
}
