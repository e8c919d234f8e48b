// X is defined outside; the loop overwrites it in every round and reads it as it was.
#i = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<4xf64>, %lo: index, %hi: index, %st: index, %acc: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %r = scf.for %k = %lo to %hi step %st iter_args(%s = %acc) -> f64 {
    %w = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
        ins(%x : tensor<4xf64>) outs(%x : tensor<4xf64>) {
    ^bb0(%a: f64, %o: f64):
      %d = arith.addf %a, %a : f64
      linalg.yield %d : f64
    } -> tensor<4xf64>
    %e = tensor.extract %w[%c0] : tensor<4xf64>
    %t = arith.addf %s, %e : f64
    scf.yield %t : f64
  }
  return %r : f64
}
