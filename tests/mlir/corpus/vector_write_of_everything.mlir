// The vector is as long as the tensor, which is read-only.
func.func @f(%x: tensor<4xf64> {bufferization.writable = false}, %v: vector<4xf64>) -> tensor<4xf64> {
  %c0 = arith.constant 0 : index
  %w = vector.transfer_write %v, %x[%c0] {in_bounds = [true]} : vector<4xf64>, tensor<4xf64>
  return %w : tensor<4xf64>
}
