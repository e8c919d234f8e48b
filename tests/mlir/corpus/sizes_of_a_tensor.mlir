// Dim and rank of a tensor that is overwritten before they are asked for.
func.func @f(%x: tensor<?x?xf64>, %v: f64) -> (tensor<?x?xf64>, index, index) {
  %c1 = arith.constant 1 : index
  %w = linalg.fill ins(%v : f64) outs(%x : tensor<?x?xf64>) -> tensor<?x?xf64>
  %d = tensor.dim %x, %c1 : tensor<?x?xf64>
  %r = tensor.rank %x : tensor<?x?xf64>
  return %w, %d, %r : tensor<?x?xf64>, index, index
}
