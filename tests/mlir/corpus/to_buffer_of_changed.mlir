// The buffer of a changed tensor is taken, and the old tensor is read after it.
func.func @f(%x: tensor<8xf64>, %v: f64, %i: index) -> (memref<8xf64>, f64) {
  %w = tensor.insert %v into %x[%i] : tensor<8xf64>
  %b = bufferization.to_buffer %w : tensor<8xf64> to memref<8xf64>
  %o = tensor.extract %x[%i] : tensor<8xf64>
  return %b, %o : memref<8xf64>, f64
}
