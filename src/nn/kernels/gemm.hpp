// The one matrix product of this folder.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "nn/tape/tape.hpp"

namespace emplace::nn {

// A view of a matrix, which does not own its memory: element (i, j) is at data[i * row_stride + j * column_stride].
template <class T>
struct Strided {
  T* data = nullptr;
  std::size_t rows = 0, columns = 0, row_stride = 0, column_stride = 1;

  Strided() = default;
  Strided(T* at, std::size_t r, std::size_t c, std::size_t step) : data(at), rows(r), columns(c), row_stride(step) {}
  Strided(const Matrix<T>& m) : data(m.data), rows(m.rows), columns(m.columns), row_stride(m.columns) {}
  template <class U>
  requires std::same_as<const U, T> Strided(const Matrix<U>& m) : Strided(Matrix<T>(m)) {}
  operator Strided<const T>() const requires(!std::is_const_v<T>) {
    Strided<const T> same(data, rows, columns, row_stride);
    same.column_stride = column_stride;
    return same;
  }
  [[nodiscard]] Strided transposed() const {
    Strided turned(data, columns, rows, column_stride);
    turned.column_stride = row_stride;
    return turned;
  }
  // Rows or columns [begin, begin + count).
  [[nodiscard]] Strided row_block(std::size_t begin, std::size_t count) const {
    Strided part = *this;
    part.data += begin * row_stride;
    part.rows = count;
    return part;
  }
  [[nodiscard]] Strided column_block(std::size_t begin, std::size_t count) const {
    Strided part = *this;
    part.data += begin * column_stride;
    part.columns = count;
    return part;
  }
};

enum class Into : bool { overwrite, add };

// c = a b or c += a b. The rows of c must be contiguous, and of a and b the rows or the columns.
template <class T>
void multiply(Strided<const T> a, Strided<const T> b, Strided<T> c, Into into);

// The right matrix of several products, stored in the order in which products read it.
template <class T>
struct Packed {
  const T* data = nullptr;
  std::size_t rows = 0, columns = 0;
  [[nodiscard]] Shape shape() const { return {rows, columns}; }
};
// Packs b into the tape's memory; valid until the tape's next step or, inside backward(), until the end of backward().
template <class T>
Packed<T> pack(Tape<T>& tape, Strided<const T> b);
// If several products with a large right matrix follow each other, every second one should have `backwards` set.
template <class T>
void multiply(Strided<const T> a, const Packed<T>& b, Strided<T> c, Into into, bool backwards = false);

// dW += x^T dz, db += the column sums of dz; each may be null.
template <class T>
void add_weight_gradients(Matrix<const T> x, Matrix<const T> dz, Matrix<T> d_weight, Matrix<T> d_bias);

}  // namespace emplace::nn
