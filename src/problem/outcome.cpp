#include "emplace/problem/outcome.hpp"

#include <fmt/core.h>

#include <tuple>

#include "base/text.hpp"

namespace emplace {

bool better(const Outcome& a, const Outcome& b) {
  const auto rank = [](const Outcome& o) {
    return std::tuple(!o.feasible(), !o.timed(), o.overflow, o.excess_cuts(), o.makespan);
  };
  return rank(a) < rank(b);
}

std::string reason_text(const Problem& problem, const Outcome& outcome, const std::vector<std::uint8_t>& devices,
                        const Usage& usage) {
  const auto device_name = [&](std::size_t d) { return quote(problem.devices[d].name); };
  switch (outcome.why) {
    case Infeasible::no: return {};
    case Infeasible::unsupported_op:
      return fmt::format("op {} cannot run on device {}", quote(problem.op_names[outcome.subject]),
                         device_name(outcome.device));
    case Infeasible::missing_route: {
      const std::size_t from = devices[problem.producer[outcome.subject].index()];
      return fmt::format("there is no route from device {} to device {}, which the output of op {} needs",
                         device_name(from), device_name(outcome.device),
                         quote(problem.op_names[problem.producer[outcome.subject].index()]));
    }
    case Infeasible::split_group:
      return fmt::format("the co-location group {} is split over several devices",
                         quote(problem.group_names[outcome.subject]));
    case Infeasible::circular_wait:
      return fmt::format("device {} and another wait for each other's results", device_name(outcome.device));
    case Infeasible::not_measured: return "its time could not be measured";
    case Infeasible::too_many_cuts:
      return fmt::format("{} between devices, at most {} may",
                         outcome.subject == 1 ? "1 tensor crosses" : fmt::format("{} tensors cross", outcome.subject),
                         problem.max_cuts);
    case Infeasible::memory: {
      const Device& device = problem.devices[outcome.device];
      if (usage.device_peak.empty()) return fmt::format("device {} has too little memory", quote(device.name));
      const Bytes peak = usage.device_peak[outcome.device];
      return fmt::format("device {} needs {}, {} more than it has", quote(device.name), human_bytes(peak),
                         human_bytes(peak - device.memory));
    }
  }
  return {};
}

}  // namespace emplace
