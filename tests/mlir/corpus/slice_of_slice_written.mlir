// V = x[2:10][1:5]; v[:] = 7, stored back through both slices.
func.func @f(%x: tensor<16xf64>) -> tensor<16xf64> {
  %seven = arith.constant 7.0 : f64
  %o = tensor.extract_slice %x[2] [8] [1] : tensor<16xf64> to tensor<8xf64>
  %i = tensor.extract_slice %o[1] [4] [1] : tensor<8xf64> to tensor<4xf64>
  %w = linalg.fill ins(%seven : f64) outs(%i : tensor<4xf64>) -> tensor<4xf64>
  %b = tensor.insert_slice %w into %o[1] [4] [1] : tensor<4xf64> into tensor<8xf64>
  %r = tensor.insert_slice %b into %x[2] [8] [1] : tensor<8xf64> into tensor<16xf64>
  return %r : tensor<16xf64>
}
