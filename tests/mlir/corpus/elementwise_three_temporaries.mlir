// Sqrt(x*x + y*y), a fresh destination for each step.
func.func @f(%x: tensor<16xf64> {bufferization.writable = false},
    %y: tensor<16xf64> {bufferization.writable = false}) -> tensor<16xf64> {
  %e = tensor.empty() : tensor<16xf64>
  %xx = linalg.mul ins(%x, %x : tensor<16xf64>, tensor<16xf64>) outs(%e : tensor<16xf64>) -> tensor<16xf64>
  %e1 = tensor.empty() : tensor<16xf64>
  %yy = linalg.mul ins(%y, %y : tensor<16xf64>, tensor<16xf64>) outs(%e1 : tensor<16xf64>) -> tensor<16xf64>
  %e2 = tensor.empty() : tensor<16xf64>
  %s = linalg.add ins(%xx, %yy : tensor<16xf64>, tensor<16xf64>) outs(%e2 : tensor<16xf64>) -> tensor<16xf64>
  %e3 = tensor.empty() : tensor<16xf64>
  %r = linalg.sqrt ins(%s : tensor<16xf64>) outs(%e3 : tensor<16xf64>) -> tensor<16xf64>
  return %r : tensor<16xf64>
}
