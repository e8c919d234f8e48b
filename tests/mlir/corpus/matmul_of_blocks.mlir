// One block of c is the product of a block of a and a block of b.
func.func @f(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>,
    %i: index, %j: index, %k: index) -> tensor<8x8xf32> {
  %at = tensor.extract_slice %a[%i, %k] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
  %bt = tensor.extract_slice %b[%k, %j] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
  %ct = tensor.extract_slice %c[%i, %j] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
  %p = linalg.matmul ins(%at, %bt : tensor<4x4xf32>, tensor<4x4xf32>) outs(%ct : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = tensor.insert_slice %p into %c[%i, %j] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
