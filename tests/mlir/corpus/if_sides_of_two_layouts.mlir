// One side gives a slice, the other a fresh tensor.
func.func @f(%p: i1, %m: tensor<4x8xf64>, %v: f64) -> tensor<4xf64> {
  %r = scf.if %p -> tensor<4xf64> {
    %c = tensor.extract_slice %m[0, 3] [4, 1] [1, 1] : tensor<4x8xf64> to tensor<4xf64>
    scf.yield %c : tensor<4xf64>
  } else {
    %e = tensor.empty() : tensor<4xf64>
    %w = linalg.fill ins(%v : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
    scf.yield %w : tensor<4xf64>
  }
  return %r : tensor<4xf64>
}
