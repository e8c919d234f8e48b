// Nothing is written, but the tensor is carried and may not be written.
func.func @f(%x: tensor<8xf64> {bufferization.writable = false}, %tol: f64) -> (f64, tensor<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%i = %c0, %t = %x) : (index, tensor<8xf64>) -> (index, tensor<8xf64>) {
    %e = tensor.extract %t[%i] : tensor<8xf64>
    %go = arith.cmpf olt, %e, %tol : f64
    scf.condition(%go) %i, %t : index, tensor<8xf64>
  } do {
  ^bb0(%i: index, %t: tensor<8xf64>):
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %t : index, tensor<8xf64>
  }
  %o = tensor.extract %r#1[%c0] : tensor<8xf64>
  return %o, %r#1 : f64, tensor<8xf64>
}
