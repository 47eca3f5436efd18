#include "emplace/problem/placement.hpp"

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace {

namespace {
const std::vector<std::string> schedule_names = {"fifo", "priority", "in-order"};
const std::vector<std::string> objective_names = {"step", "pipeline"};

template <class Enum>
Enum enum_of(std::string_view name, const std::vector<std::string>& names, const char* what, const std::string& place) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  const std::string near = did_you_mean(name, names);
  throw InputError(place, "unknown {} {}{}", what, quote(name),
                   near.empty() ? "; there are: " + join(names, ", ") : near);
}
}  // namespace

std::string_view name_of(Schedule schedule) { return schedule_names[static_cast<std::size_t>(schedule)]; }
std::string_view name_of(Objective objective) { return objective_names[static_cast<std::size_t>(objective)]; }
Schedule schedule_of(std::string_view name, const std::string& place) {
  return enum_of<Schedule>(name, schedule_names, "schedule", place);
}
Objective objective_of(std::string_view name, const std::string& place) {
  return enum_of<Objective>(name, objective_names, "objective", place);
}

void check_placement(const Problem& problem, const Placement& placement, const std::string& place) {
  const std::size_t op_count = problem.op_count();
  if (placement.device.size() != op_count)
    throw InputError(place, "the placement has {} ops, the problem has {}", placement.device.size(), op_count);
  for (std::size_t op = 0; op < op_count; ++op)
    if (placement.device[op] >= problem.device_count())
      throw InputError(place, "op {} is on device {}, but there are {} devices", quote(problem.op_names[op]),
                       placement.device[op], problem.device_count());
  if (placement.order.empty()) return;
  if (placement.order.size() != op_count)
    throw InputError(place, "the order has {} ops, the problem has {}", placement.order.size(), op_count);
  std::vector<char> done(op_count, 0);
  for (const std::uint32_t op : placement.order) {
    if (op >= op_count) throw InputError(place, "the order names op {}, but there are {} ops", op, op_count);
    if (done[op]) throw InputError(place, "op {} stands twice in the order", quote(problem.op_names[op]));
    for (const std::uint32_t tensor : problem.inputs[op])
      if (!done[problem.producer[tensor].index()])
        throw InputError(place, "the order has op {} before its producer {}", quote(problem.op_names[op]),
                         quote(problem.op_names[problem.producer[tensor].index()]));
    done[op] = 1;
  }
}

}  // namespace emplace
