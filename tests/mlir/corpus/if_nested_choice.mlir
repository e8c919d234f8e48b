// An inner condition chooses which of two tensors the outer one writes.
func.func @f(%p: i1, %q: i1, %x: tensor<8xf64>, %y: tensor<8xf64>, %v: f64, %i: index) -> tensor<8xf64> {
  %r = scf.if %p -> tensor<8xf64> {
    %c = scf.if %q -> tensor<8xf64> {
      scf.yield %x : tensor<8xf64>
    } else {
      scf.yield %y : tensor<8xf64>
    }
    %w = tensor.insert %v into %c[%i] : tensor<8xf64>
    scf.yield %w : tensor<8xf64>
  } else {
    scf.yield %y : tensor<8xf64>
  }
  return %r : tensor<8xf64>
}
