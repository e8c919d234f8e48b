// Every row of a matrix is scaled in place through a moving slice.
func.func @f(%m: tensor<?x8xf64>, %n: index) -> tensor<?x8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %m) -> (tensor<?x8xf64>) {
    %s = tensor.extract_slice %t[%i, 0] [1, 8] [1, 1] : tensor<?x8xf64> to tensor<8xf64>
    %w = linalg.negf ins(%s : tensor<8xf64>) outs(%s : tensor<8xf64>) -> tensor<8xf64>
    %b = tensor.insert_slice %w into %t[%i, 0] [1, 8] [1, 1] : tensor<8xf64> into tensor<?x8xf64>
    scf.yield %b : tensor<?x8xf64>
  }
  return %r : tensor<?x8xf64>
}
