// One tensor is the beginning of two carried ones.
func.func @f(%x: tensor<8xf64>, %n: index, %v: f64) -> (tensor<8xf64>, tensor<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (tensor<8xf64>, tensor<8xf64>) {
    %w = tensor.insert %v into %a[%i] : tensor<8xf64>
    scf.yield %w, %b : tensor<8xf64>, tensor<8xf64>
  }
  return %r#0, %r#1 : tensor<8xf64>, tensor<8xf64>
}
