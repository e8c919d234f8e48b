// A read-only tensor may be given to a function that only reads.
func.func private @first(%t: tensor<8xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %e = tensor.extract %t[%c0] : tensor<8xf64>
  return %e : f64
}
func.func @f(%x: tensor<8xf64> {bufferization.writable = false}, %y: tensor<8xf64>, %i: index) -> tensor<8xf64> {
  %a = call @first(%x) : (tensor<8xf64>) -> f64
  %b = call @first(%y) : (tensor<8xf64>) -> f64
  %s = arith.addf %a, %b : f64
  %w = tensor.insert %s into %y[%i] : tensor<8xf64>
  return %w : tensor<8xf64>
}
