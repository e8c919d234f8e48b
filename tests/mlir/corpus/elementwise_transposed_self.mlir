// X + x.T written into x: element (i, j) is needed after it was overwritten.
#n = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
func.func @f(%x: tensor<6x6xf64>) -> tensor<6x6xf64> {
  %r = linalg.generic {indexing_maps = [#t, #n], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<6x6xf64>) outs(%x : tensor<6x6xf64>) {
  ^bb0(%a: f64, %o: f64):
    %s = arith.addf %a, %o : f64
    linalg.yield %s : f64
  } -> tensor<6x6xf64>
  return %r : tensor<6x6xf64>
}
