// Two functions that call each other.
func.func private @even(%t: tensor<4xf64>, %p: i1) -> tensor<4xf64> {
  %r = call @odd(%t, %p) : (tensor<4xf64>, i1) -> tensor<4xf64>
  return %r : tensor<4xf64>
}
func.func private @odd(%t: tensor<4xf64>, %p: i1) -> tensor<4xf64> {
  %r = scf.if %p -> tensor<4xf64> {
    %q = func.call @even(%t, %p) : (tensor<4xf64>, i1) -> tensor<4xf64>
    scf.yield %q : tensor<4xf64>
  } else {
    scf.yield %t : tensor<4xf64>
  }
  return %r : tensor<4xf64>
}
func.func @f(%x: tensor<4xf64>, %p: i1) -> tensor<4xf64> {
  %r = call @even(%x, %p) : (tensor<4xf64>, i1) -> tensor<4xf64>
  return %r : tensor<4xf64>
}
