// Map reads two tensors and writes into the first of them.
func.func @f(%x: tensor<32xf64>, %y: tensor<32xf64>) -> tensor<32xf64> {
  %r = linalg.map { arith.subf } ins(%x, %y : tensor<32xf64>, tensor<32xf64>) outs(%x : tensor<32xf64>)
  return %r : tensor<32xf64>
}
