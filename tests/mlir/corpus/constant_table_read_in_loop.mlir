// A table is only read, and a total is kept in a tensor.
func.func @f(%acc: tensor<f64>, %n: index) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %acc) -> (tensor<f64>) {
    %x = tensor.extract %t[%i] : tensor<4xf64>
    %o = tensor.extract %s[] : tensor<f64>
    %p = arith.addf %x, %o : f64
    %w = tensor.insert %p into %s[] : tensor<f64>
    scf.yield %w : tensor<f64>
  }
  return %r : tensor<f64>
}
