// Two copies would do, and which op gets one depends on the order of the decisions.
func.func @f(%x: tensor<8xf64>, %v: f64) -> (tensor<8xf64>, tensor<4xf64>, tensor<8xf64>) {
  %s = tensor.extract_slice %x[4] [4] [1] : tensor<8xf64> to tensor<4xf64>
  %a = linalg.fill ins(%v : f64) outs(%x : tensor<8xf64>) -> tensor<8xf64>
  %b = linalg.fill ins(%v : f64) outs(%s : tensor<4xf64>) -> tensor<4xf64>
  %c = tensor.insert_slice %b into %x[0] [4] [1] : tensor<4xf64> into tensor<8xf64>
  return %a, %b, %c : tensor<8xf64>, tensor<4xf64>, tensor<8xf64>
}
