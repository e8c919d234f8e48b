// M[:, 0] is subtracted from every column of m, in m.
#n = affine_map<(i, j) -> (i, j)>
#c = affine_map<(i, j) -> (i)>
func.func @f(%m: tensor<5x7xf64>) -> tensor<5x7xf64> {
  %col = tensor.extract_slice %m[0, 0] [5, 1] [1, 1] : tensor<5x7xf64> to tensor<5xf64>
  %r = linalg.generic {indexing_maps = [#c, #n], iterator_types = ["parallel", "parallel"]}
      ins(%col : tensor<5xf64>) outs(%m : tensor<5x7xf64>) {
  ^bb0(%a: f64, %o: f64):
    %s = arith.subf %o, %a : f64
    linalg.yield %s : f64
  } -> tensor<5x7xf64>
  return %r : tensor<5x7xf64>
}
