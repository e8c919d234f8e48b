// Three carried tensors move on by one place.
func.func @f(%x: tensor<4xf64>, %y: tensor<4xf64>, %z: tensor<4xf64>, %n: index) -> tensor<4xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %z)
      -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) {
    %w = linalg.add ins(%a, %b : tensor<4xf64>, tensor<4xf64>) outs(%c : tensor<4xf64>) -> tensor<4xf64>
    scf.yield %b, %w, %a : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
  }
  return %r#1 : tensor<4xf64>
}
