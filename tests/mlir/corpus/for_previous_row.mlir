// Row i gets row i - 1 added, one row after the other.
func.func @f(%m: tensor<16x8xf64>, %n: index) -> tensor<16x8xf64> {
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c1 to %n step %c1 iter_args(%t = %m) -> (tensor<16x8xf64>) {
    %j = arith.subi %i, %c1 : index
    %p = tensor.extract_slice %t[%j, 0] [1, 8] [1, 1] : tensor<16x8xf64> to tensor<8xf64>
    %s = tensor.extract_slice %t[%i, 0] [1, 8] [1, 1] : tensor<16x8xf64> to tensor<8xf64>
    %w = linalg.add ins(%p, %s : tensor<8xf64>, tensor<8xf64>) outs(%s : tensor<8xf64>) -> tensor<8xf64>
    %b = tensor.insert_slice %w into %t[%i, 0] [1, 8] [1, 1] : tensor<8xf64> into tensor<16x8xf64>
    scf.yield %b : tensor<16x8xf64>
  }
  return %r : tensor<16x8xf64>
}
