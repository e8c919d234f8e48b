// The two returns give different arguments.
func.func private @pick(%p: i1, %x: tensor<8xf64>, %y: tensor<8xf64>) -> tensor<8xf64> {
  cf.cond_br %p, ^a, ^b
^a:
  return %x : tensor<8xf64>
^b:
  return %y : tensor<8xf64>
}
func.func @f(%p: i1, %x: tensor<8xf64>, %y: tensor<8xf64>, %v: f64, %i: index) -> (tensor<8xf64>, f64) {
  %c = call @pick(%p, %x, %y) : (i1, tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
  %w = tensor.insert %v into %c[%i] : tensor<8xf64>
  %o = tensor.extract %y[%i] : tensor<8xf64>
  return %w, %o : tensor<8xf64>, f64
}
