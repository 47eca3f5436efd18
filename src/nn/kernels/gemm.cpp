#include "nn/kernels/gemm.hpp"

#include <algorithm>

#include "base/interrupt.hpp"
#include "emplace/base/error.hpp"
#include "nn/kernels/in_parts.hpp"
#include "nn/kernels/kernels.hpp"

namespace emplace::nn {

namespace {

// Number of rows of the right matrix that are packed at a time, so that a panel of them fits in the L1 cache.
constexpr std::size_t block_depth = 320;
// A multiple of the number of columns that any instruction set processes at a time.
constexpr std::size_t product_columns = 32;
// A multiple of the number of rows that any instruction set processes at a time.
constexpr std::size_t row_tile = 48;
// The multiply-adds between two stop points, at most.
constexpr std::size_t product_at_once = std::size_t{1} << 29;

template <class T>
KernelMatrix<T> kernel_matrix(Strided<const T> m) {
  EMPLACE_CHECK(m.row_stride == 1 || m.column_stride == 1);
  return {m.data, m.row_stride, m.column_stride};
}

template <class T>
void check(Strided<const T> a, std::size_t k, std::size_t n, Strided<T> c) {
  EMPLACE_CHECK(a.rows == c.rows && a.columns == k && n == c.columns && c.column_stride == 1,
                "{} x {} times {} x {} into {} x {}", a.rows, a.columns, k, n, c.rows, c.columns);
}

}  // namespace

template <class T>
void multiply(Strided<const T> a, Strided<const T> b, Strided<T> c, Into into) {
  check(a, b.rows, b.columns, c);
  if (b.rows == 0 && into == Into::overwrite)
    for (std::size_t r = 0; r < c.rows; ++r) std::fill_n(c.data + r * c.row_stride, c.columns, T{0});
  const Kernels<T>& kernel = kernels<T>();
  static thread_local Arena scratch;  // for packing; its memory is kept from call to call
  scratch.clear();
  const std::size_t size = kernel.packed_size(std::min(b.rows, block_depth), b.columns);
  T* const packed = static_cast<T*>(scratch.bytes(size * sizeof(T), 64));
  for (std::size_t begin = 0; begin < b.rows; begin += block_depth) {
    const std::size_t depth = std::min(block_depth, b.rows - begin);
    kernel.pack(kernel_matrix(b.row_block(begin, depth)), depth, b.columns, packed);
    const std::size_t rows = std::max<std::size_t>(
        row_tile, product_at_once / (depth * std::max<std::size_t>(1, b.columns)) / row_tile * row_tile);
    for (std::size_t row = 0; row < a.rows; row += rows) {
      stop_point();
      const std::size_t count = std::min(rows, a.rows - row);
      kernel.product(kernel_matrix(a.column_block(begin, depth).row_block(row, count)), count, depth, packed, b.columns,
                     c.data + row * c.row_stride, c.row_stride, begin > 0 || into == Into::add, false);
    }
  }
}

template <class T>
Packed<T> pack(Tape<T>& tape, Strided<const T> b) {
  const Kernels<T>& kernel = kernels<T>();
  T* const packed = tape.template array<T>(kernel.packed_size(b.rows, b.columns)).data();
  kernel.pack(kernel_matrix(b), b.rows, b.columns, packed);
  return {packed, b.rows, b.columns};
}

template <class T>
void multiply(Strided<const T> a, const Packed<T>& b, Strided<T> c, Into into, bool backwards) {
  check(a, b.rows, b.columns, c);
  kernels<T>().product(kernel_matrix(a), a.rows, b.rows, b.data, b.columns, c.data, c.row_stride, into == Into::add,
                       backwards);
}

// The work is divided by columns; each thread packs its own columns.
template <class T>
void add_weight_gradients(Matrix<const T> x, Matrix<const T> dz, Matrix<T> d_weight, Matrix<T> d_bias) {
  if (d_weight.data == nullptr && d_bias.data == nullptr) return;
  const std::size_t inputs = d_weight.data == nullptr ? 0 : x.columns;
  in_parts(dz.columns, dz.rows * (inputs + element_cost), product_columns, [&](std::size_t begin, std::size_t count) {
    const Strided<const T> of = Strided<const T>(dz).column_block(begin, count);
    if (d_weight.data != nullptr)
      multiply<T>(Strided<const T>(x).transposed(), of, Strided<T>(d_weight).column_block(begin, count), Into::add);
    if (d_bias.data != nullptr)
      kernels<T>().add_column_sums(of.data, of.row_stride, dz.rows, count, d_bias.data + begin);
  });
}

#define EMPLACE_INSTANTIATE(T)                                                                   \
  template void multiply<T>(Strided<const T>, Strided<const T>, Strided<T>, Into);               \
  template void add_weight_gradients<T>(Matrix<const T>, Matrix<const T>, Matrix<T>, Matrix<T>); \
  template Packed<T> pack<T>(Tape<T>&, Strided<const T>);                                        \
  template void multiply<T>(Strided<const T>, const Packed<T>&, Strided<T>, Into, bool);
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::nn
