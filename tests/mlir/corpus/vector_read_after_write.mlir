// The old elements are read as a vector after others were written.
func.func @f(%x: tensor<16xf64>, %v: vector<4xf64>, %i: index) -> (tensor<16xf64>, vector<8xf64>) {
  %z = arith.constant 0.0 : f64
  %w = vector.transfer_write %v, %x[%i] {in_bounds = [true]} : vector<4xf64>, tensor<16xf64>
  %o = vector.transfer_read %x[%i], %z {in_bounds = [true]} : tensor<16xf64>, vector<8xf64>
  return %w, %o : tensor<16xf64>, vector<8xf64>
}
