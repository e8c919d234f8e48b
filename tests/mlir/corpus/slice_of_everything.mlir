// The slice is the whole tensor and is written.
func.func @f(%x: tensor<8xf64>) -> (tensor<8xf64>, f64) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f64
  %s = tensor.extract_slice %x[0] [8] [1] : tensor<8xf64> to tensor<8xf64>
  %w = linalg.fill ins(%z : f64) outs(%s : tensor<8xf64>) -> tensor<8xf64>
  %o = tensor.extract %x[%c0] : tensor<8xf64>
  return %w, %o : tensor<8xf64>, f64
}
