// A buffer's tensor that may not be written.
func.func @f(%m: memref<8xf64>, %v: f64, %i: index) -> f64 {
  %t = bufferization.to_tensor %m restrict : memref<8xf64> to tensor<8xf64>
  %w = tensor.insert %v into %t[%i] : tensor<8xf64>
  %e = tensor.extract %w[%i] : tensor<8xf64>
  return %e : f64
}
