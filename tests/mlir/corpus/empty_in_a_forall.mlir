// Each thread computes its part in a tensor of its own.
func.func @f(%x: tensor<16xf64>, %v: f64) -> tensor<16xf64> {
  %r = scf.forall (%i) = (0) to (16) step (4) shared_outs(%o = %x) -> (tensor<16xf64>) {
    %e = tensor.empty() : tensor<4xf64>
    %w = linalg.fill ins(%v : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %w into %o[%i] [4] [1] : tensor<4xf64> into tensor<16xf64>
    }
  }
  return %r : tensor<16xf64>
}
