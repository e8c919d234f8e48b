// A region that runs once changes x, and x as it was is not needed.
func.func @f(%x: tensor<8xf64>, %v: f64, %i: index) -> tensor<8xf64> {
  %r = scf.execute_region -> tensor<8xf64> {
    %w = tensor.insert %v into %x[%i] : tensor<8xf64>
    scf.yield %w : tensor<8xf64>
  }
  return %r : tensor<8xf64>
}
