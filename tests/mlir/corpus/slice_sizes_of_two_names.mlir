// The size is n in the slice and n + 0 where it is stored: not seen to be the same.
func.func @f(%x: tensor<?xf64>, %n: index, %v: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %m = arith.addi %n, %c0 : index
  %s = tensor.extract_slice %x[1] [%n] [1] : tensor<?xf64> to tensor<?xf64>
  %w = linalg.fill ins(%v : f64) outs(%s : tensor<?xf64>) -> tensor<?xf64>
  %r = tensor.insert_slice %w into %x[1] [%m] [1] : tensor<?xf64> into tensor<?xf64>
  return %r : tensor<?xf64>
}
