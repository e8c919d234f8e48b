// A part of x is computed in a tensor of its own and then stored: the part itself will do.
func.func @f(%x: tensor<16xf64>, %y: tensor<4xf64>, %i: index) -> tensor<16xf64> {
  %e = tensor.empty() : tensor<4xf64>
  %w = linalg.exp ins(%y : tensor<4xf64>) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %r = tensor.insert_slice %w into %x[%i] [4] [1] : tensor<4xf64> into tensor<16xf64>
  return %r : tensor<16xf64>
}
