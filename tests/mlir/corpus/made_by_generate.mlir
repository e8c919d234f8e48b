// Every element computed from its index and from a read-only table.
func.func @f(%t: tensor<16xf64> {bufferization.writable = false}, %n: index) -> tensor<?xf64> {
  %g = tensor.generate %n {
  ^bb0(%i: index):
    %x = tensor.extract %t[%i] : tensor<16xf64>
    %y = arith.mulf %x, %x : f64
    tensor.yield %y : f64
  } : tensor<?xf64>
  return %g : tensor<?xf64>
}
