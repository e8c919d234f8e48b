// A function that calls itself with a changed tensor.
func.func private @down(%t: tensor<8xf64>, %n: index, %v: f64) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = arith.cmpi eq, %n, %c0 : index
  %r = scf.if %p -> tensor<8xf64> {
    scf.yield %t : tensor<8xf64>
  } else {
    %m = arith.subi %n, %c1 : index
    %w = tensor.insert %v into %t[%m] : tensor<8xf64>
    %q = func.call @down(%w, %m, %v) : (tensor<8xf64>, index, f64) -> tensor<8xf64>
    scf.yield %q : tensor<8xf64>
  }
  return %r : tensor<8xf64>
}
func.func @f(%x: tensor<8xf64>, %n: index, %v: f64) -> (tensor<8xf64>, f64) {
  %c0 = arith.constant 0 : index
  %r = call @down(%x, %n, %v) : (tensor<8xf64>, index, f64) -> tensor<8xf64>
  %o = tensor.extract %x[%c0] : tensor<8xf64>
  return %r, %o : tensor<8xf64>, f64
}
