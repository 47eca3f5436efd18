// Declarations that the files of the module emplace._core share. Each file adds the functions of one topic; the Python
// code in python/package wraps them in the package's interface.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/source/load_problem.hpp"

namespace emplace::python {

namespace py = pybind11;

class EnginePool;

// The C++ part of Python's Problem. It is shared, because a thread may outlive its call (waiting.hpp).
struct LoadedProblem {
  explicit LoadedProblem(source::LoadedProblem from_source);
  ~LoadedProblem();
  LoadedProblem(const LoadedProblem&) = delete;
  LoadedProblem& operator=(const LoadedProblem&) = delete;

  const source::LoadedProblem loaded;
  const std::unique_ptr<EnginePool> engines;

  [[nodiscard]] const Problem& problem() const { return loaded.problem; }
};
using ProblemHandle = std::shared_ptr<LoadedProblem>;

void add_errors(py::module_& module);
void add_problem(py::module_& module);
void add_simulate(py::module_& module);
void add_timeline(py::module_& module);
void add_search(py::module_& module);
void add_train(py::module_& module);
void add_lists(py::module_& module);

// Converts a dictionary to the table that a TOML file with the same keys and values would give; None leaves a key out.
// Messages begin with `place`.
ConfigTable config_of(const py::dict& values, const std::string& place);

// A new array with a copy of these values.
template <class T>
py::array_t<T> to_array(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

// Makes a placement of one row of devices and an optional order, and checks it.
using Devices = py::array_t<std::uint8_t, py::array::c_style | py::array::forcecast>;
using Order = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;
Placement placement_of(const Problem& problem, const Devices& devices, const std::optional<Order>& order);

}  // namespace emplace::python
