// All threads would share the scratch tensor that was made outside.
func.func @f(%d: tensor<16xf64>, %v: f64) -> tensor<16xf64> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<1xf64>
  %r = scf.forall (%i) in (16) shared_outs(%o = %d) -> (tensor<16xf64>) {
    %x = tensor.extract %o[%i] : tensor<16xf64>
    %f = linalg.fill ins(%x : f64) outs(%e : tensor<1xf64>) -> tensor<1xf64>
    %g = tensor.extract %f[%c0] : tensor<1xf64>
    %h = tensor.from_elements %g : tensor<1xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %h into %o[%i] [1] [1] : tensor<1xf64> into tensor<16xf64>
    }
  }
  return %r : tensor<16xf64>
}
