// The inner loops compiled for one instruction set. The flags are in cmake/folders.cmake.
#include "nn/kernels/kernel_table.hpp"

namespace emplace::nn {

template <class T>
const Kernels<T>& kernels_avx512() {
  return kernel_table<T>;
}
template const Kernels<float>& kernels_avx512();
template const Kernels<double>& kernels_avx512();

}  // namespace emplace::nn
