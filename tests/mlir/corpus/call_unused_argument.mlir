// A tensor the callee does not look at, one it gives back, one it changes.
func.func private @three(%a: tensor<4xf64>, %b: tensor<4xf64>, %c: tensor<4xf64>, %v: f64)
    -> (tensor<4xf64>, tensor<4xf64>) {
  %w = linalg.fill ins(%v : f64) outs(%c : tensor<4xf64>) -> tensor<4xf64>
  return %b, %w : tensor<4xf64>, tensor<4xf64>
}
func.func @f(%x: tensor<4xf64>, %v: f64) -> (tensor<4xf64>, tensor<4xf64>) {
  %r:2 = call @three(%x, %x, %x, %v)
    : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, f64) -> (tensor<4xf64>, tensor<4xf64>)
  return %r#0, %r#1 : tensor<4xf64>, tensor<4xf64>
}
