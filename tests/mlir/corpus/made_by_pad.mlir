// A border of zeros around x; x is overwritten afterwards.
func.func @f(%x: tensor<4x4xf64>, %v: f64) -> (tensor<6x6xf64>, tensor<4x4xf64>) {
  %z = arith.constant 0.0 : f64
  %p = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f64
  } : tensor<4x4xf64> to tensor<6x6xf64>
  %w = linalg.fill ins(%v : f64) outs(%x : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %p, %w : tensor<6x6xf64>, tensor<4x4xf64>
}
