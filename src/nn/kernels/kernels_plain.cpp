// The inner loops compiled for one instruction set. The flags are in cmake/folders.cmake.
#include "nn/kernels/kernel_table.hpp"

namespace emplace::nn {

template <class T>
const Kernels<T>& kernels_plain() {
  return kernel_table<T>;
}
template const Kernels<float>& kernels_plain();
template const Kernels<double>& kernels_plain();

}  // namespace emplace::nn
