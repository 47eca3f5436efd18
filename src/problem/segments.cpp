#include "problem/segments.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace emplace {

std::vector<std::uint32_t> segment_of_op(std::span<const Dependence> dependences,
                                         std::span<const std::uint32_t> device_of_op) {
  std::vector<std::uint32_t> changes_to(device_of_op.size(), 0), changes_from(device_of_op.size(), 0);
  const auto changes = [&](const Dependence& d) { return device_of_op[d.before] == device_of_op[d.after] ? 0U : 1U; };
  for (const Dependence& d : dependences)
    changes_to[d.after] = std::max(changes_to[d.after], changes_to[d.before] + changes(d));
  for (std::size_t i = dependences.size(); i-- > 0;) {
    const Dependence& d = dependences[i];
    changes_from[d.before] = std::max(changes_from[d.before], changes_from[d.after] + changes(d));
  }

  // Along a dependence, changes_to never decreases and changes_from never increases, and between devices changes_to
  // increases. So in the order of these keys every dependence goes forward.
  const auto key = [&](std::size_t op) {
    return std::tuple(changes_to[op], -std::int64_t{changes_from[op]}, device_of_op[op]);
  };
  std::map<std::tuple<std::uint32_t, std::int64_t, std::uint32_t>, std::uint32_t> number_of;
  for (std::size_t op = 0; op < device_of_op.size(); ++op) number_of.emplace(key(op), 0);
  for (std::uint32_t next = 0; auto& [segment, number] : number_of) number = next++;
  std::vector<std::uint32_t> numbers;
  for (std::size_t op = 0; op < device_of_op.size(); ++op) numbers.push_back(number_of.at(key(op)));
  return numbers;
}

std::size_t count_forward_segments(const Problem& problem, const Placement& placement) {
  std::vector<Dependence> dependences;
  for (const std::uint32_t op : problem.topological)
    for (const std::uint32_t tensor : problem.inputs[op])
      if (const OpId producer = problem.producer[tensor];
          !problem.is_backward(producer) && !problem.is_backward(OpId{op}))
        dependences.push_back({producer.value, op});
  const std::vector<std::uint32_t> devices(placement.device.begin(), placement.device.end());
  const std::vector<std::uint32_t> segment = segment_of_op(dependences, devices);
  std::set<std::uint32_t> forward;
  for (std::size_t op = 0; op < segment.size(); ++op)
    if (!problem.is_backward(OpId{op})) forward.insert(segment[op]);
  return forward.size();
}

}  // namespace emplace
