// A slice is taken first, another is written, and the first is read at the end.
func.func @f(%x: tensor<20xf64>, %v: f64, %e: tensor<5xf64>) -> (tensor<20xf64>, tensor<5xf64>) {
  %s = tensor.extract_slice %x[0] [5] [1] : tensor<20xf64> to tensor<5xf64>
  %t = tensor.extract_slice %x[10] [5] [1] : tensor<20xf64> to tensor<5xf64>
  %w = linalg.fill ins(%v : f64) outs(%t : tensor<5xf64>) -> tensor<5xf64>
  %r = tensor.insert_slice %w into %x[10] [5] [1] : tensor<5xf64> into tensor<20xf64>
  %c = linalg.copy ins(%s : tensor<5xf64>) outs(%e : tensor<5xf64>) -> tensor<5xf64>
  return %r, %c : tensor<20xf64>, tensor<5xf64>
}
