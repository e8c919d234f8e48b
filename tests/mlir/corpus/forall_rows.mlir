// Each thread negates its own row.
func.func @f(%m: tensor<8x16xf64>, %d: tensor<8x16xf64>) -> tensor<8x16xf64> {
  %r = scf.forall (%i) in (8) shared_outs(%o = %d) -> (tensor<8x16xf64>) {
    %a = tensor.extract_slice %m[%i, 0] [1, 16] [1, 1] : tensor<8x16xf64> to tensor<16xf64>
    %b = tensor.extract_slice %o[%i, 0] [1, 16] [1, 1] : tensor<8x16xf64> to tensor<16xf64>
    %w = linalg.negf ins(%a : tensor<16xf64>) outs(%b : tensor<16xf64>) -> tensor<16xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %w into %o[%i, 0] [1, 16] [1, 1] : tensor<16xf64> into tensor<8x16xf64>
    }
  }
  return %r : tensor<8x16xf64>
}
