// X is cast, written, cast back, and the old x is not needed any more.
func.func @f(%x: tensor<4x?xf64>, %v: f64) -> tensor<4x?xf64> {
  %c = tensor.cast %x : tensor<4x?xf64> to tensor<?x8xf64>
  %w = linalg.fill ins(%v : f64) outs(%c : tensor<?x8xf64>) -> tensor<?x8xf64>
  %r = tensor.cast %w : tensor<?x8xf64> to tensor<4x?xf64>
  return %r : tensor<4x?xf64>
}
