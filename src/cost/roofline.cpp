#include "cost/roofline.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

namespace {

bool has_float_rate(DType type) { return is_floating(type) || is_complex(type); }

// The figure for `key`, else that for "default", else `neither`.
double figure(const std::map<std::string, double>& figures, const std::string& key, double neither) {
  auto at = figures.find(key);
  if (at == figures.end()) at = figures.find("default");
  return at == figures.end() ? neither : at->second;
}

// The attribute "computes_in"; unknown if the op has none.
DType stated_dtype(const GraphOp& op) {
  const auto found = op.attributes.find("computes_in");
  const auto* name = found == op.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  if (name == nullptr) return DType::unknown;
  for (std::size_t t = 0; t <= static_cast<std::size_t>(DType::c128); ++t)
    if (*name == emplace::name_of(static_cast<DType>(t))) return static_cast<DType>(t);
  return DType::unknown;
}

}  // namespace

DType compute_dtype(const Graph& graph, OpId op) {
  DType first_known = DType::unknown;
  DType floating = DType::unknown;
  const auto look = [&](DType type) {
    if (first_known == DType::unknown) first_known = type;
    if (floating == DType::unknown && has_float_rate(type)) floating = type;
  };
  const GraphOp& node = graph.ops[op.index()];
  if (const DType stated = stated_dtype(node); stated != DType::unknown) return stated;
  for (const TensorId output : node.outputs) look(graph.tensors[output.index()].dtype);
  for (const Operand& input : node.inputs) {
    if (input.is_tensor()) look(graph.tensors[input.index].dtype);
    if (input.is_parameter()) look(graph.parameters[input.index].dtype);
  }
  return floating != DType::unknown ? floating : first_known;
}

Roofline::Roofline(const machine::MachineDevice& device, bool fused)
    : name_(device.name),
      overlap_(device.overlap),
      overhead_s_(device.launch_overhead_s),
      unsupported_(device.unsupported.begin(), device.unsupported.end()) {
  for (std::size_t t = 0; t < dtype_count; ++t)
    peak_flops_[t] = figure(device.peak_flops, emplace::name_of(static_cast<DType>(t)), 0);
  for (const OpClass cls : op_classes()) {
    const char* name = emplace::name_of(cls);
    classes_[static_cast<std::size_t>(cls)] = {figure(device.efficiency, name, 1), figure(device.half_flops, name, 0),
                                               device.memory_bytes_per_s * figure(device.memory_efficiency, name, 1),
                                               figure(device.half_bytes, name, 0),
                                               fused ? figure(device.fused_speedup, name, 1) : 1};
  }
  efficiency_of_type_ = device.efficiency;
  efficiency_of_type_.erase("default");
  for (const OpClass cls : op_classes()) efficiency_of_type_.erase(emplace::name_of(cls));
}

double Roofline::seconds(const OpCost& cost, DType dtype, const GraphOp& op, const std::string& place) const {
  bool refused = unsupported_.contains(op.type);
  for (const auto& [type, count] : op.merged_types) refused = refused || unsupported_.contains(type);
  if (refused) return std::numeric_limits<double>::quiet_NaN();
  if (cost.cls == OpClass::free) return 0;
  const ClassFigures& figures = classes_[static_cast<std::size_t>(cost.cls)];
  double compute = 0;
  if (cost.flops > 0) {
    const double peak = peak_flops_[static_cast<std::size_t>(dtype)];
    if (!(peak > 0))
      throw InputError(place, "op {} computes in {}, for which device {} gives no peak_flops; add one, or a default",
                       quote(op.name), emplace::name_of(dtype), quote(name_));
    const auto of_type = efficiency_of_type_.find(op.type);
    const double efficiency = of_type == efficiency_of_type_.end() ? figures.efficiency : of_type->second;
    compute = (cost.flops + figures.half_flops) / (peak * efficiency);
  }
  const double bytes = static_cast<double>(cost.bytes_read) + static_cast<double>(cost.bytes_written);
  const double traffic = bytes > 0 ? (bytes + figures.half_bytes) / figures.bytes_per_s : 0;
  const double exposed = (1 - overlap_) * std::min(compute, traffic);
  return (std::max(compute, traffic) + exposed) / figures.speedup + cost.launches * overhead_s_;
}

}  // namespace emplace::cost
