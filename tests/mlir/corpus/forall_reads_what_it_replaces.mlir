// The tensor shared as destination is read by the threads as it was before.
func.func @f(%x: tensor<16xf64>) -> tensor<16xf64> {
  %c15 = arith.constant 15 : index
  %r = scf.forall (%i) in (16) shared_outs(%o = %x) -> (tensor<16xf64>) {
    %j = arith.subi %c15, %i : index
    %e = tensor.extract %x[%j] : tensor<16xf64>
    %h = tensor.from_elements %e : tensor<1xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %h into %o[%i] [1] [1] : tensor<1xf64> into tensor<16xf64>
    }
  }
  return %r : tensor<16xf64>
}
