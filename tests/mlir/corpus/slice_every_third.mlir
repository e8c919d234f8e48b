// X[0::3] *= x[1::3]: the same stride, other places.
func.func @f(%x: tensor<12xf32>) -> tensor<12xf32> {
  %a = tensor.extract_slice %x[0] [4] [3] : tensor<12xf32> to tensor<4xf32>
  %b = tensor.extract_slice %x[1] [4] [3] : tensor<12xf32> to tensor<4xf32>
  %p = linalg.mul ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.insert_slice %p into %x[0] [4] [3] : tensor<4xf32> into tensor<12xf32>
  return %r : tensor<12xf32>
}
