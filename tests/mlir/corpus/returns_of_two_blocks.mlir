// One return gives x, the other a changed x.
func.func @f(%x: tensor<8xf64>, %p: i1, %v: f64, %i: index) -> tensor<8xf64> {
  cf.cond_br %p, ^keep, ^change
^keep:
  return %x : tensor<8xf64>
^change:
  %w = tensor.insert %v into %x[%i] : tensor<8xf64>
  return %w : tensor<8xf64>
}
