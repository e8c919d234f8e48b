// The callee gives a slice of its argument, the caller writes it and reads the whole.
func.func private @head(%t: tensor<8xf64>) -> tensor<4xf64> {
  %s = tensor.extract_slice %t[0] [4] [1] : tensor<8xf64> to tensor<4xf64>
  return %s : tensor<4xf64>
}
func.func @f(%x: tensor<8xf64>, %v: f64, %i: index) -> (tensor<4xf64>, f64) {
  %s = call @head(%x) : (tensor<8xf64>) -> tensor<4xf64>
  %w = linalg.fill ins(%v : f64) outs(%s : tensor<4xf64>) -> tensor<4xf64>
  %o = tensor.extract %x[%i] : tensor<8xf64>
  return %w, %o : tensor<4xf64>, f64
}
