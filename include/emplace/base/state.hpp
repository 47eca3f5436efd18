// Named arrays: the form in which policies and learners pass their state to a checkpoint, independent of HDF5.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "emplace/base/error.hpp"

namespace emplace {

struct StateArray {
  std::vector<std::uint64_t> shape;  // rows x columns ...; empty: a scalar
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>, std::vector<std::uint64_t>,
               std::vector<std::uint8_t>>
      data;
  friend bool operator==(const StateArray&, const StateArray&) = default;
};

using State = std::map<std::string, StateArray>;

template <class T>
void put(State& state, const std::string& name, std::vector<T> values, std::vector<std::uint64_t> shape = {}) {
  if (shape.empty()) shape = {values.size()};
  state[name] = StateArray{std::move(shape), std::move(values)};
}

template <class T>
void put_scalar(State& state, const std::string& name, T value) {
  state[name] = StateArray{{}, std::vector<T>{value}};
}

// Returns the array called `name`. Throws InputError if it is missing or has another element type, as in a checkpoint
// of another program or of a policy of another shape.
template <class T>
const std::vector<T>& get(const State& state, const std::string& name) {
  const auto found = state.find(name);
  if (found == state.end()) throw InputError("checkpoint", "array {} is missing", name);
  const auto* values = std::get_if<std::vector<T>>(&found->second.data);
  if (values == nullptr) throw InputError("checkpoint", "array {} has another element type", name);
  return *values;
}

template <class T>
const std::vector<T>& get(const State& state, const std::string& name, std::size_t size) {
  const auto& values = get<T>(state, name);
  if (values.size() != size)
    throw InputError("checkpoint", "array {} has {} elements, wanted {}", name, values.size(), size);
  return values;
}

template <class T>
T get_scalar(const State& state, const std::string& name) {
  return get<T>(state, name, 1).front();
}

// The arrays whose path begins with `prefix`; the prefix is removed from their paths.
inline State arrays_under(const State& state, std::string_view prefix) {
  State under;
  for (const auto& [path, array] : state)
    if (path.starts_with(prefix)) under[path.substr(prefix.size())] = array;
  return under;
}

}  // namespace emplace
