// A tensor is worked on by vectors, four at a time.
func.func @f(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c64 step %c4 iter_args(%t = %x) -> (tensor<64xf32>) {
    %a = vector.transfer_read %t[%i], %z {in_bounds = [true]} : tensor<64xf32>, vector<4xf32>
    %b = vector.transfer_read %y[%i], %z {in_bounds = [true]} : tensor<64xf32>, vector<4xf32>
    %m = arith.mulf %a, %b : vector<4xf32>
    %w = vector.transfer_write %m, %t[%i] {in_bounds = [true]} : vector<4xf32>, tensor<64xf32>
    scf.yield %w : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
