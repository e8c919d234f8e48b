// A loop of blocks that carries a tensor and changes it.
func.func @f(%x: tensor<8xf64>, %n: index, %v: f64) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, tensor<8xf64>)
^head(%i: index, %t: tensor<8xf64>):
  %go = arith.cmpi ult, %i, %n : index
  cf.cond_br %go, ^body, ^exit
^body:
  %w = tensor.insert %v into %t[%i] : tensor<8xf64>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %w : index, tensor<8xf64>)
^exit:
  return %t : tensor<8xf64>
}
