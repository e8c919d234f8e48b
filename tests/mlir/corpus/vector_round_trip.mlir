// Four elements are read as a vector, doubled, and written where they were.
func.func @f(%x: tensor<16xf64>, %i: index) -> tensor<16xf64> {
  %z = arith.constant 0.0 : f64
  %v = vector.transfer_read %x[%i], %z : tensor<16xf64>, vector<4xf64>
  %d = arith.addf %v, %v : vector<4xf64>
  %w = vector.transfer_write %d, %x[%i] : vector<4xf64>, tensor<16xf64>
  return %w : tensor<16xf64>
}
