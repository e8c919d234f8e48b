// Halved until the first element is small enough; the test reads the tensor.
func.func @f(%x: tensor<8xf64>, %tol: f64) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %r = scf.while (%t = %x) : (tensor<8xf64>) -> tensor<8xf64> {
    %e = tensor.extract %t[%c0] : tensor<8xf64>
    %go = arith.cmpf ogt, %e, %tol : f64
    scf.condition(%go) %t : tensor<8xf64>
  } do {
  ^bb0(%t: tensor<8xf64>):
    %w = linalg.sqrt ins(%t : tensor<8xf64>) outs(%t : tensor<8xf64>) -> tensor<8xf64>
    scf.yield %w : tensor<8xf64>
  }
  return %r : tensor<8xf64>
}
