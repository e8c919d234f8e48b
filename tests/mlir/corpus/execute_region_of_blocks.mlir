// A region of three blocks that come together before its only yield.
func.func @f(%x: tensor<8xf64>, %p: i1, %v: f64, %i: index) -> (tensor<8xf64>, f64) {
  %r = scf.execute_region -> tensor<8xf64> {
    cf.cond_br %p, ^a, ^b(%x : tensor<8xf64>)
  ^a:
    %w = tensor.insert %v into %x[%i] : tensor<8xf64>
    cf.br ^b(%w : tensor<8xf64>)
  ^b(%t: tensor<8xf64>):
    scf.yield %t : tensor<8xf64>
  }
  %o = tensor.extract %x[%i] : tensor<8xf64>
  return %r, %o : tensor<8xf64>, f64
}
