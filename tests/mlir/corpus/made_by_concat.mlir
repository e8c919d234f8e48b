// Two vectors after each other by tensor.concat's spelling with slices of an empty tensor.
func.func @f(%x: tensor<3xf64>, %y: tensor<5xf64>) -> tensor<8xf64> {
  %e = tensor.empty() : tensor<8xf64>
  %a = tensor.insert_slice %x into %e[0] [3] [1] : tensor<3xf64> into tensor<8xf64>
  %b = tensor.insert_slice %y into %a[3] [5] [1] : tensor<5xf64> into tensor<8xf64>
  return %b : tensor<8xf64>
}
