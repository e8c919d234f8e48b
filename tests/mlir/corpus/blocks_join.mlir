// Two blocks branch to a third with different tensors.
func.func @f(%p: i1, %x: tensor<8xf64>, %y: tensor<8xf64>, %v: f64, %i: index) -> (tensor<8xf64>, f64) {
  cf.cond_br %p, ^a, ^b
^a:
  cf.br ^join(%x : tensor<8xf64>)
^b:
  %z = tensor.insert %v into %y[%i] : tensor<8xf64>
  cf.br ^join(%z : tensor<8xf64>)
^join(%t: tensor<8xf64>):
  %w = tensor.insert %v into %t[%i] : tensor<8xf64>
  %o = tensor.extract %x[%i] : tensor<8xf64>
  return %w, %o : tensor<8xf64>, f64
}
