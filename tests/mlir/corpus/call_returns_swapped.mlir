// Two arguments come back in the other order.
func.func private @swap(%a: tensor<8xf64>, %b: tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>) {
  return %b, %a : tensor<8xf64>, tensor<8xf64>
}
func.func @f(%x: tensor<8xf64>, %y: tensor<8xf64>, %v: f64, %i: index) -> (tensor<8xf64>, f64) {
  %r:2 = call @swap(%x, %y) : (tensor<8xf64>, tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>)
  %w = tensor.insert %v into %r#0[%i] : tensor<8xf64>
  %o = tensor.extract %y[%i] : tensor<8xf64>
  %q = tensor.extract %r#1[%i] : tensor<8xf64>
  %s = arith.addf %o, %q : f64
  return %w, %s : tensor<8xf64>, f64
}
