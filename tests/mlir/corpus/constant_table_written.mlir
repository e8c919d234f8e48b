// A table in the program's text is changed: it must be copied first.
func.func @f(%v: f64, %i: index) -> tensor<4xf64> {
  %t = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf64>
  %r = tensor.insert %v into %t[%i] : tensor<4xf64>
  return %r : tensor<4xf64>
}
