// A loop of blocks writes a tensor from before it and reads it as it was in the next round.
func.func @f(%x: tensor<8xf64>, %n: index, %a: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %a : index, f64)
^head(%i: index, %s: f64):
  %go = arith.cmpi ult, %i, %n : index
  cf.cond_br %go, ^body, ^exit(%s : f64)
^body:
  %o = tensor.extract %x[%i] : tensor<8xf64>
  %w = tensor.insert %s into %x[%i] : tensor<8xf64>
  %e = tensor.extract %w[%c0] : tensor<8xf64>
  %t = arith.addf %o, %e : f64
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %t : index, f64)
^exit(%r: f64):
  return %r : f64
}
