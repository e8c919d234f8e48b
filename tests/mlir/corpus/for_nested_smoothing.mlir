// An inner loop relaxes the points of a line, an outer one repeats it.
func.func @f(%x: tensor<32xf32>, %n: index) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %h = arith.constant 0.5 : f32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%u = %x) -> (tensor<32xf32>) {
    %q = scf.for %i = %c1 to %c31 step %c1 iter_args(%t = %u) -> (tensor<32xf32>) {
      %l = arith.subi %i, %c1 : index
      %m = arith.addi %i, %c1 : index
      %a = tensor.extract %t[%l] : tensor<32xf32>
      %b = tensor.extract %t[%m] : tensor<32xf32>
      %s = arith.addf %a, %b : f32
      %p = arith.mulf %s, %h : f32
      %w = tensor.insert %p into %t[%i] : tensor<32xf32>
      scf.yield %w : tensor<32xf32>
    }
    scf.yield %q : tensor<32xf32>
  }
  return %r : tensor<32xf32>
}
