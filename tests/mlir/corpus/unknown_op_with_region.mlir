// Tensors that come from the block of an op that is not known.
func.func @f(%x: tensor<8xf64>, %v: f64, %i: index) -> f64 {
  %r = "lab.with"(%x) ({
  ^bb0(%t: tensor<8xf64>):
    %w = tensor.insert %v into %t[%i] : tensor<8xf64>
    %e = tensor.extract %w[%i] : tensor<8xf64>
    "lab.done"(%e) : (f64) -> ()
  }) : (tensor<8xf64>) -> f64
  return %r : f64
}
