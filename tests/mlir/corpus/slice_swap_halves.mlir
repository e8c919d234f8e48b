// T = x[:4]; x[:4] = x[4:]; x[4:] = t.
func.func @f(%x: tensor<8xf64>) -> tensor<8xf64> {
  %lo = tensor.extract_slice %x[0] [4] [1] : tensor<8xf64> to tensor<4xf64>
  %hi = tensor.extract_slice %x[4] [4] [1] : tensor<8xf64> to tensor<4xf64>
  %a = tensor.insert_slice %hi into %x[0] [4] [1] : tensor<4xf64> into tensor<8xf64>
  %b = tensor.insert_slice %lo into %a[4] [4] [1] : tensor<4xf64> into tensor<8xf64>
  return %b : tensor<8xf64>
}
