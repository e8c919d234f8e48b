// An op that is not known gets a changed tensor, the old one is read later.
func.func @f(%x: tensor<8xf64>, %v: f64, %i: index) -> f64 {
  %w = tensor.insert %v into %x[%i] : tensor<8xf64>
  "lab.show"(%w) {note = "as it is"} : (tensor<8xf64>) -> ()
  %o = tensor.extract %x[%i] : tensor<8xf64>
  return %o : f64
}
