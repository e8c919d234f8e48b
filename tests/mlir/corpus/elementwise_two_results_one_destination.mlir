// Both results of a generic are given the same tensor to write to.
#i = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<9xf64>, %d: tensor<9xf64>) -> (tensor<9xf64>, tensor<9xf64>) {
  %r:2 = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]}
      ins(%x : tensor<9xf64>) outs(%d, %d : tensor<9xf64>, tensor<9xf64>) {
  ^bb0(%a: f64, %o: f64, %p: f64):
    %s = arith.addf %a, %o : f64
    %t = arith.mulf %a, %p : f64
    linalg.yield %s, %t : f64, f64
  } -> (tensor<9xf64>, tensor<9xf64>)
  return %r#0, %r#1 : tensor<9xf64>, tensor<9xf64>
}
