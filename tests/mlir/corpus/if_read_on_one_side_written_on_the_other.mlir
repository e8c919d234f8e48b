// In a loop the two sides of different rounds meet.
func.func @f(%x: tensor<8xf64>, %n: index, %a: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (f64) {
    %p = arith.cmpi ult, %i, %c4 : index
    %q = scf.if %p -> f64 {
      %w = linalg.fill ins(%s : f64) outs(%x : tensor<8xf64>) -> tensor<8xf64>
      %e = tensor.extract %w[%c1] : tensor<8xf64>
      scf.yield %e : f64
    } else {
      %e = tensor.extract %x[%i] : tensor<8xf64>
      scf.yield %e : f64
    }
    scf.yield %q : f64
  }
  return %r : f64
}
