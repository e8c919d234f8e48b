// What a thread computed from its own part is stored in another one's.
func.func @f(%d: tensor<16xf64>, %n: index) -> tensor<16xf64> {
  %c15 = arith.constant 15 : index
  %r = scf.forall (%i) in (%n) shared_outs(%o = %d) -> (tensor<16xf64>) {
    %j = arith.subi %c15, %i : index
    %b = tensor.extract_slice %o[%i] [1] [1] : tensor<16xf64> to tensor<1xf64>
    %w = linalg.exp ins(%b : tensor<1xf64>) outs(%b : tensor<1xf64>) -> tensor<1xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %w into %o[%j] [1] [1] : tensor<1xf64> into tensor<16xf64>
    }
  }
  return %r : tensor<16xf64>
}
