// X[i + 1] = x[i] * y[i], element by element.
func.func @f(%x: tensor<?xf64>, %y: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<?xf64>) {
    %j = arith.addi %i, %c1 : index
    %a = tensor.extract %t[%i] : tensor<?xf64>
    %b = tensor.extract %y[%i] : tensor<?xf64>
    %p = arith.mulf %a, %b : f64
    %w = tensor.insert %p into %t[%j] : tensor<?xf64>
    scf.yield %w : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}
