// Each round fills its own part of an outer tensor and reads the part of the round before as it was.
func.func @f(%x: tensor<32xf64>, %n: index, %v: f64, %a: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c4 to %n step %c4 iter_args(%s = %a) -> (f64) {
    %j = arith.subi %i, %c4 : index
    %own = tensor.extract_slice %x[%i] [4] [1] : tensor<32xf64> to tensor<4xf64>
    %old = tensor.extract_slice %x[%j] [4] [1] : tensor<32xf64> to tensor<4xf64>
    %w = linalg.fill ins(%v : f64) outs(%own : tensor<4xf64>) -> tensor<4xf64>
    %p = tensor.extract %w[%c0] : tensor<4xf64>
    %q = tensor.extract %old[%c0] : tensor<4xf64>
    %t = arith.addf %p, %q : f64
    %u = arith.addf %s, %t : f64
    scf.yield %u : f64
  }
  return %r : f64
}
