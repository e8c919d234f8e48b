// The inner loop writes a tensor of the outer body that the outer round reads afterwards.
func.func @f(%x: tensor<8xf64>, %n: index, %v: f64) -> (tensor<8xf64>, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%u = %x, %s = %z) -> (tensor<8xf64>, f64) {
    %q = scf.for %i = %c0 to %n step %c1 iter_args(%t = %u) -> (tensor<8xf64>) {
      %w = tensor.insert %v into %t[%i] : tensor<8xf64>
      scf.yield %w : tensor<8xf64>
    }
    %o = tensor.extract %u[%k] : tensor<8xf64>
    %p = arith.addf %o, %s : f64
    scf.yield %q, %p : tensor<8xf64>, f64
  }
  return %r#0, %r#1 : tensor<8xf64>, f64
}
