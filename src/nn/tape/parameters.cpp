#include "nn/tape/parameters.hpp"

#include <cmath>
#include <utility>

#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"

namespace emplace::nn {

namespace {

double draw(const Initializer& start, const Slice& slice, Stream& random) {
  switch (start.kind) {
    case Initializer::Kind::constant: return start.value;
    case Initializer::Kind::uniform: return start.value * (2 * random.uniform() - 1);
    case Initializer::Kind::normal: return start.value * random.normal();
    case Initializer::Kind::glorot_uniform:
      return start.value * std::sqrt(6.0 / static_cast<double>(slice.rows + slice.columns)) *
             (2 * random.uniform() - 1);
  }
  EMPLACE_CHECK(false, "an initializer of no kind");
  return 0;
}

}  // namespace

Initializer constant(double value) { return {Initializer::Kind::constant, value}; }
Initializer uniform(double bound) { return {Initializer::Kind::uniform, bound}; }
Initializer normal(double deviation) { return {Initializer::Kind::normal, deviation}; }
Initializer glorot_uniform(double gain) { return {Initializer::Kind::glorot_uniform, gain}; }

Slice ParameterLayout::add(std::string name, std::size_t rows, std::size_t columns, Initializer start) {
  for (const Info& info : infos_) EMPLACE_CHECK(info.name != name, "two parameters {}", name);
  const Slice slice{size_, rows, columns};
  infos_.push_back({std::move(name), slice, start});
  size_ += slice.size();
  return slice;
}

template <class T>
void ParameterLayout::initialize(std::span<T> values, std::uint64_t seed) const {
  EMPLACE_CHECK(values.size() == size_, "{} values for a layout of {}", values.size(), size_);
  for (std::size_t i = 0; i < infos_.size(); ++i) {
    const Info& info = infos_[i];
    Stream random({.seed = seed, .purpose = Purpose::initialise, .update = 0, .index = static_cast<std::uint32_t>(i)});
    for (T& value : values.subspan(info.slice.begin, info.slice.size()))
      value = static_cast<T>(draw(info.start, info.slice, random));
  }
}

template void ParameterLayout::initialize<float>(std::span<float>, std::uint64_t) const;
template void ParameterLayout::initialize<double>(std::span<double>, std::uint64_t) const;

}  // namespace emplace::nn
