// The layout of a network's parameters in one flat vector: positions, names and initial values. With one vector, the
// optimiser, clipping, a checkpoint and a message are one call each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace emplace::nn {

// A matrix of parameters: rows x columns values from `begin` on, row-major.
struct Slice {
  std::size_t begin = 0, rows = 0, columns = 0;
  [[nodiscard]] std::size_t size() const { return rows * columns; }
};

struct Initializer {
  enum class Kind : std::uint8_t { constant, uniform, normal, glorot_uniform } kind = Kind::constant;
  double value = 0;  // the constant, the bound of the uniform, the standard deviation of the normal, glorot's gain
};
inline constexpr Initializer zeros{};
Initializer constant(double value);
Initializer uniform(double bound);  // in [-bound, bound]
Initializer normal(double deviation);
// Uniform with bound gain x sqrt(6 / (rows + columns)) (Glorot, Bengio 2010, eq. 16).
Initializer glorot_uniform(double gain = 1);

class ParameterLayout {
 public:
  struct Info {
    std::string name;
    Slice slice;
    Initializer start;
  };

  Slice add(std::string name, std::size_t rows, std::size_t columns, Initializer start);
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const Info> infos() const { return infos_; }
  // Draws all initial values, with streams keyed by (seed, Purpose::initialise, 0, position of the slice), so that a
  // slice added at the end changes no other one. For float these are the rounded values of double.
  template <class T>
  void initialize(std::span<T> values, std::uint64_t seed) const;

 private:
  std::vector<Info> infos_;
  std::size_t size_ = 0;
};

}  // namespace emplace::nn
