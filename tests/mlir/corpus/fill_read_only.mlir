// A fill of a tensor that must not be written to needs a buffer but none of its contents.
func.func @f(%x: tensor<?x4xf64> {bufferization.writable = false}) -> tensor<?x4xf64> {
  %one = arith.constant 1.0 : f64
  %r = linalg.fill ins(%one : f64) outs(%x : tensor<?x4xf64>) -> tensor<?x4xf64>
  return %r : tensor<?x4xf64>
}
