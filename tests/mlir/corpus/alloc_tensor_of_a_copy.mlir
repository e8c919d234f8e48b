// The copy is asked for, so x may be changed on either side.
func.func @f(%x: tensor<8xf64>, %v: f64, %i: index) -> (tensor<8xf64>, tensor<8xf64>) {
  %a = bufferization.alloc_tensor() copy(%x) : tensor<8xf64>
  %w = tensor.insert %v into %x[%i] : tensor<8xf64>
  return %a, %w : tensor<8xf64>, tensor<8xf64>
}
