// A buffer of which it is said that it is only read.
func.func @f(%x: tensor<8xf64> {bufferization.writable = false}, %i: index) -> f64 {
  %b = bufferization.to_buffer %x read_only : tensor<8xf64> to memref<8xf64>
  %e = memref.load %b[%i] : memref<8xf64>
  return %e : f64
}
