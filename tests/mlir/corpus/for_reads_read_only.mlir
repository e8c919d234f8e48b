// A loop that carries a tensor it never writes, which may not be written.
func.func @f(%x: tensor<8xf64> {bufferization.writable = false}, %n: index, %a: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x, %s = %a) -> (tensor<8xf64>, f64) {
    %e = tensor.extract %t[%i] : tensor<8xf64>
    %u = arith.addf %s, %e : f64
    scf.yield %t, %u : tensor<8xf64>, f64
  }
  return %r#1 : f64
}
