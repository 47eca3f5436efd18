// Converts values of Python to configuration tables.
#include <cmath>
#include <cstdint>

#include "bind.hpp"
#include "emplace/base/error.hpp"

namespace emplace::python {

namespace {

constexpr int deepest = 64;  // the limit of TOML files

ConfigTable table_of(const py::dict& values, const std::string& place, int depth);

std::int64_t whole_of(const py::handle& value, const std::string& place) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0) throw InputError(place, "{} is beyond 64 bits", py::str(value).cast<std::string>());
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return number;
}

ConfigValue value_of(const py::handle& value, const std::string& place, int depth) {
  if (depth > deepest) throw InputError(place, "is nested deeper than {} levels", deepest);
  if (py::isinstance<py::bool_>(value)) return {value.cast<bool>(), place};
  if (py::isinstance<py::str>(value)) return {value.cast<std::string>(), place};
  if (py::isinstance<py::float_>(value)) {
    const double number = value.cast<double>();
    if (!std::isfinite(number)) throw InputError(place, "a number must be finite, found {}", number);
    return {number, place};
  }
  if (py::isinstance<py::dict>(value))
    return {std::vector<ConfigTable>{table_of(py::reinterpret_borrow<py::dict>(value), place, depth + 1)}, place};
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    ConfigList list;
    for (const py::handle each : value) list.push_back(value_of(each, place, depth + 1));
    return {std::move(list), place};
  }
  if (PyIndex_Check(value.ptr()) != 0) return {whole_of(value, place), place};  // int and integers of NumPy
  if (py::hasattr(value, "__fspath__"))
    return {py::module_::import("os").attr("fspath")(value).cast<std::string>(), place};
  if (py::hasattr(value, "item"))  // float32 and bool of NumPy
    if (const py::object item = value.attr("item")(); !item.is(value) && !py::hasattr(item, "item"))
      return value_of(item, place, depth + 1);
  throw InputError(place, "must be a text, number, true or false, list or dictionary, found {}",
                   py::str(py::type::handle_of(value).attr("__name__")).cast<std::string>());
}

ConfigTable table_of(const py::dict& values, const std::string& place, int depth) {
  ConfigTable table(place);
  for (const auto& [key, value] : values) {
    if (!py::isinstance<py::str>(key))
      throw InputError(place, "a key must be a text, found {}", py::repr(key).cast<std::string>());
    if (!value.is_none()) table.set(key.cast<std::string>(), value_of(value, place, depth));
  }
  return table;
}

}  // namespace

ConfigTable config_of(const py::dict& values, const std::string& place) { return table_of(values, place, 0); }

}  // namespace emplace::python
