// A tensor is carried and changed until a bound is reached.
func.func @f(%x: tensor<8xf64>, %n: index, %v: f64) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%i = %c0, %t = %x) : (index, tensor<8xf64>) -> (index, tensor<8xf64>) {
    %go = arith.cmpi ult, %i, %n : index
    scf.condition(%go) %i, %t : index, tensor<8xf64>
  } do {
  ^bb0(%i: index, %t: tensor<8xf64>):
    %w = tensor.insert %v into %t[%i] : tensor<8xf64>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %w : index, tensor<8xf64>
  }
  return %r#1 : tensor<8xf64>
}
