// C[1, :, 2:5] = v with a rank-reducing slice.
func.func @f(%c: tensor<3x4x6xf32>, %v: f32) -> tensor<3x4x6xf32> {
  %s = tensor.extract_slice %c[1, 0, 2] [1, 4, 3] [1, 1, 1] : tensor<3x4x6xf32> to tensor<4x3xf32>
  %w = linalg.fill ins(%v : f32) outs(%s : tensor<4x3xf32>) -> tensor<4x3xf32>
  %r = tensor.insert_slice %w into %c[1, 0, 2] [1, 4, 3] [1, 1, 1] : tensor<4x3xf32> into tensor<3x4x6xf32>
  return %r : tensor<3x4x6xf32>
}
