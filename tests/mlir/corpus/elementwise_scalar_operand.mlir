// The mean in a tensor without axes is read by a generic that writes another tensor.
#n = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>
func.func @f(%m: tensor<f64>, %x: tensor<12xf64>) -> (tensor<12xf64>, tensor<f64>) {
  %z = arith.constant 0.0 : f64
  %r = linalg.generic {indexing_maps = [#s, #n], iterator_types = ["parallel"]}
      ins(%m : tensor<f64>) outs(%x : tensor<12xf64>) {
  ^bb0(%a: f64, %o: f64):
    %q = arith.divf %o, %a : f64
    linalg.yield %q : f64
  } -> tensor<12xf64>
  %n = linalg.fill ins(%z : f64) outs(%m : tensor<f64>) -> tensor<f64>
  return %r, %n : tensor<12xf64>, tensor<f64>
}
