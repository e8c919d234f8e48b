// Rows of a table picked by an index tensor in a generic with tensor.extract in its body.
#n = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%t: tensor<10x4xf64>, %p: tensor<3xindex>, %d: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r = linalg.generic {indexing_maps = [#r, #n], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<3xindex>) outs(%d : tensor<3x4xf64>) {
  ^bb0(%k: index, %o: f64):
    %j = linalg.index 1 : index
    %e = tensor.extract %t[%k, %j] : tensor<10x4xf64>
    linalg.yield %e : f64
  } -> tensor<3x4xf64>
  return %r : tensor<3x4xf64>
}
