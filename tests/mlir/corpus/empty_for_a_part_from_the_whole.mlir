// The part is computed from the old x around it, so that its own place will not do.
func.func @f(%x: tensor<16xf64>) -> tensor<16xf64> {
  %e = tensor.empty() : tensor<14xf64>
  %l = tensor.extract_slice %x[0] [14] [1] : tensor<16xf64> to tensor<14xf64>
  %h = tensor.extract_slice %x[2] [14] [1] : tensor<16xf64> to tensor<14xf64>
  %w = linalg.add ins(%l, %h : tensor<14xf64>, tensor<14xf64>) outs(%e : tensor<14xf64>) -> tensor<14xf64>
  %r = tensor.insert_slice %w into %x[1] [14] [1] : tensor<14xf64> into tensor<16xf64>
  return %r : tensor<16xf64>
}
