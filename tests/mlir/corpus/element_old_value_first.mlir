// X[i] is read before it is set, and nothing is read after.
func.func @f(%x: tensor<?xf64>, %i: index, %v: f64) -> (tensor<?xf64>, f64) {
  %o = tensor.extract %x[%i] : tensor<?xf64>
  %w = tensor.insert %v into %x[%i] : tensor<?xf64>
  return %w, %o : tensor<?xf64>, f64
}
