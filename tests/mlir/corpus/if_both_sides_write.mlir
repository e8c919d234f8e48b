// The two sides write different things into the same tensor, which is not needed otherwise.
func.func @f(%p: i1, %x: tensor<8xf64>, %v: f64, %i: index) -> tensor<8xf64> {
  %r = scf.if %p -> tensor<8xf64> {
    %w = tensor.insert %v into %x[%i] : tensor<8xf64>
    scf.yield %w : tensor<8xf64>
  } else {
    %w = linalg.fill ins(%v : f64) outs(%x : tensor<8xf64>) -> tensor<8xf64>
    scf.yield %w : tensor<8xf64>
  }
  return %r : tensor<8xf64>
}
