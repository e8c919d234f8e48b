// The fresh tensor is filled on one of two sides and stored afterwards.
func.func @f(%p: i1, %x: tensor<16xf64>, %v: f64, %u: f64) -> tensor<16xf64> {
  %e = tensor.empty() : tensor<4xf64>
  %s = scf.if %p -> tensor<4xf64> {
    %a = linalg.fill ins(%v : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
    scf.yield %a : tensor<4xf64>
  } else {
    %b = linalg.fill ins(%u : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
    scf.yield %b : tensor<4xf64>
  }
  %r = tensor.insert_slice %s into %x[8] [4] [1] : tensor<4xf64> into tensor<16xf64>
  return %r : tensor<16xf64>
}
