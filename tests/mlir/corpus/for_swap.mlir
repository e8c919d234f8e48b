// Two carried tensors change places in every round, one of them is written.
func.func @f(%x: tensor<8xf64>, %y: tensor<8xf64>, %n: index) -> (tensor<8xf64>, tensor<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<8xf64>, tensor<8xf64>) {
    %w = linalg.exp ins(%a : tensor<8xf64>) outs(%b : tensor<8xf64>) -> tensor<8xf64>
    scf.yield %w, %a : tensor<8xf64>, tensor<8xf64>
  }
  return %r#0, %r#1 : tensor<8xf64>, tensor<8xf64>
}
