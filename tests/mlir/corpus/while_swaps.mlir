// Two tensors change places between the two regions of a while loop.
func.func @f(%x: tensor<8xf64>, %y: tensor<8xf64>, %v: f64, %tol: f64) -> (tensor<8xf64>, tensor<8xf64>) {
  %c0 = arith.constant 0 : index
  %r:2 = scf.while (%a = %x, %b = %y) : (tensor<8xf64>, tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>) {
    %e = tensor.extract %a[%c0] : tensor<8xf64>
    %go = arith.cmpf olt, %e, %tol : f64
    scf.condition(%go) %b, %a : tensor<8xf64>, tensor<8xf64>
  } do {
  ^bb0(%a: tensor<8xf64>, %b: tensor<8xf64>):
    %w = tensor.insert %v into %a[%c0] : tensor<8xf64>
    scf.yield %w, %b : tensor<8xf64>, tensor<8xf64>
  }
  return %r#0, %r#1 : tensor<8xf64>, tensor<8xf64>
}
