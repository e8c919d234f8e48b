// A tensor whose allocation is asked for, filled and read.
func.func @f(%x: tensor<?xf64>, %n: index, %v: f64) -> tensor<?xf64> {
  %a = bufferization.alloc_tensor(%n) : tensor<?xf64>
  %b = linalg.fill ins(%v : f64) outs(%a : tensor<?xf64>) -> tensor<?xf64>
  %c = linalg.add ins(%b, %x : tensor<?xf64>, tensor<?xf64>) outs(%b : tensor<?xf64>) -> tensor<?xf64>
  return %c : tensor<?xf64>
}
