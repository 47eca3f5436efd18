// Parses ONNX Runtime's profiling file (session.end_profiling()): a trace whose events of category "Node" are kernels.
#include <fmt/core.h>

#include <map>

#include "base/text.hpp"
#include "cost/profile_forms.hpp"
#include "cost/repeated_times.hpp"
#include "cost/trace_events.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

namespace {

// Kernels that were fused are called "fc/MatMulAddFusion" after one of the ops; "" for others.
std::string fused_op(const std::string& kernel) {
  const std::size_t end = kernel.ends_with('/') ? kernel.size() - 1 : kernel.size();
  const std::size_t slash = end == 0 ? std::string::npos : kernel.rfind('/', end - 1);
  if (slash == std::string::npos || !std::string_view(kernel).substr(0, end).ends_with("Fusion")) return {};
  return kernel.substr(0, slash);
}

// Kernels that the runtime added (changes of layout and shape) have names of their own. They are in the order of
// execution, and what reads them comes next, or soon.
void name_fused_kernels(Profile& profile) {
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    ProfileRow& row = profile.rows[i];
    if (i + 1 < profile.rows.size()) row.reader = static_cast<std::uint32_t>(i + 1);
    std::string op = fused_op(row.op);
    if (op.empty()) continue;
    row.parts = {std::move(op)};
    row.type.clear();  // that of the fused kernel
    profile.fused_run = row.fused = true;
  }
}

}  // namespace

void parse_onnxruntime_profile(std::string_view text, Profile& profile) {
  constexpr std::string_view kernel_suffix = "_kernel_time";
  profile.devices = {""};
  profile.whole_run = true;
  RepeatedTimes times(profile);
  std::map<std::string, std::size_t> providers;
  std::size_t unnamed = 0;
  for_each_event(text, profile.file, [&](TraceEvent&& event, const std::string& place) {
    if (event.category == "Session" && event.name == "model_run") times.add_run(event.duration_us * 1e-6);
    if (event.category != "Node" || !event.name.ends_with(kernel_suffix)) return true;
    if (!(event.duration_us >= 0 && event.duration_us * 1e-6 <= longest_op_s))
      throw InputError(place, "kernel {} needs \"dur\", microseconds from 0 to {:g}", quote(event.name),
                       longest_op_s * 1e6);
    const std::string op = event.name.substr(0, event.name.size() - kernel_suffix.size());
    if (op.empty()) {
      ++unnamed;
      return true;
    }
    ++providers[event.args_provider];
    times.add(op, std::move(event.args_op_name), event.duration_us * 1e-6, place);
    return true;
  });
  times.finish();
  name_fused_kernels(profile);
  if (unnamed > 0)
    profile.warnings.push_back(fmt::format("{}: {} kernel times do not name an op", profile.file, unnamed));
  if (providers.size() > 1) {
    std::vector<std::string> names;
    constexpr std::size_t shown = 5;
    for (const auto& [name, count] : providers)
      if (names.size() < shown) names.push_back(fmt::format("{} ({})", quote(name), count));
    profile.warnings.push_back(fmt::format("{}: kernels of several execution providers are counted as one device's: {}",
                                           profile.file, join(names, ", ")));
  }
}

}  // namespace emplace::cost
