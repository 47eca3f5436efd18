// The module emplace._core: errors, lists of entries, and the functions of the other files.
#include "base/log.hpp"
#include "base/version.hpp"
#include "bind.hpp"
#include "emplace/base/error.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/formats/reader.hpp"
#include "emplace/machine/machine.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/search/placer.hpp"
#include "experiment/learned/learned_placer.hpp"
#include "formats/workload/workload.hpp"
#include "learn/learner.hpp"
#include "zoo/zoo.hpp"

namespace emplace::python {

namespace {

template <class Entries>
py::list entries_of(const Entries& entries) {
  py::list list;
  for (const EntryInfo& entry : entries) {
    py::list options;
    for (const OptionInfo& option : entry.options())
      options.append(
          py::make_tuple(option.name, option.type, option.default_value, option.help, option.unit, option.choices));
    list.append(py::make_tuple(entry.name, entry.summary, entry.reference, options));
  }
  return list;
}

py::list list_entries(const std::string& kind) {
  if (kind == "placers") return entries_of(search::placers());
  if (kind == "policies") return entries_of(policy::policies());
  if (kind == "learners") return entries_of(learn::learners());
  if (kind == "evaluators") return entries_of(evaluate::evaluators());
  if (kind == "models") return entries_of(zoo::zoo());
  if (kind == "machines") return entries_of(machine::machines());
  if (kind == "readers") return entries_of(formats::readers()) + entries_of(formats::workloads());
  EMPLACE_CHECK(false, "no list of {}", kind);
}

// pybind11 before 2.12 reads descriptions of arrays as NumPy 1 lays them out; with NumPy 2 all strides would be 0.
constexpr bool reads_numpy_2 = PYBIND11_VERSION_HEX >= 0x020C0000;

void refuse_newer_numpy() {
  if (reads_numpy_2) return;
  const auto numpy = py::module_::import("numpy").attr("__version__").cast<std::string>();
  if (numpy.starts_with("0.") || numpy.starts_with("1.")) return;
  throw py::import_error(
      fmt::format("NumPy {} needs pybind11 2.12 or newer, but this module was built with pybind11 "
                  "{}.{}: use NumPy below 2, or build the module with `pip install .`",
                  numpy, PYBIND11_VERSION_MAJOR, PYBIND11_VERSION_MINOR));
}

}  // namespace

void add_errors(py::module_& module) {
  const auto publish = [&](const auto& error) { error.attr("__module__") = "emplace"; };
  publish(py::register_exception<BugError>(module, "BugError", PyExc_RuntimeError));
  publish(py::register_exception<EnvironmentError>(module, "EnvironmentError", PyExc_OSError));
  publish(py::register_exception<InputError>(module, "InputError", PyExc_ValueError));
}

void add_lists(py::module_& module) { module.def("list_entries", list_entries, py::arg("kind")); }

PYBIND11_MODULE(_core, module) {
  refuse_newer_numpy();
  log::configure(log::Level::warning, false);
  experiment::register_learned_placer();
  module.def("version", version);
  module.def("reads_numpy_2", [] { return reads_numpy_2; });
  add_errors(module);
  add_lists(module);
  add_problem(module);
  add_simulate(module);
  add_timeline(module);
  add_search(module);
  add_train(module);
}

}  // namespace emplace::python
