#include "problem/constraints.hpp"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace {

namespace {

bool matches(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

// "PATTERN=DEVICE" or "DEVICE"; names of ops may have "=" in them, names of devices have none.
struct Demand {
  std::string pattern, device;
};
Demand split_demand(const std::string& demand) {
  const std::size_t equals = demand.rfind('=');
  if (equals == std::string::npos) return {"", demand};
  return {demand.substr(0, equals), demand.substr(equals + 1)};
}

// The outermost module on the path that the pattern matches; nothing if there is none.
std::optional<std::string> matching_module(const std::string& pattern, const std::string& module) {
  for (std::size_t end = module.find('/');; end = module.find('/', end + 1)) {
    const std::string outer = module.substr(0, end);
    if (!outer.empty() && matches(pattern, outer)) return outer;
    if (end == std::string::npos) return std::nullopt;
  }
}

std::vector<std::uint32_t> all_matches(const Problem& problem, const std::string& pattern) {
  std::vector<std::uint32_t> ops;
  for (std::uint32_t op = 0; op < problem.op_count(); ++op)
    if (matches(pattern, problem.op_names[op]) || matching_module(pattern, std::string(problem.module[op])))
      ops.push_back(op);
  return ops;
}

class Constrainer {
 public:
  // `matched`, unless null, gets the demands whose pattern matches something; others are then left out.
  Constrainer(Problem& problem, const std::string& place, std::set<std::string>* matched)
      : problem_(problem), place_(place), matched_(matched) {
    leader_.resize(problem.op_count());
    std::iota(leader_.begin(), leader_.end(), std::uint32_t{0});
    // Ops of one group stay one group.
    std::map<std::uint32_t, std::uint32_t> first_of_group;
    for (std::uint32_t op = 0; op < problem.op_count(); ++op)
      if (!problem.group[op].is_none()) unite(first_of_group.emplace(problem.group[op].value, op).first->second, op);
  }

  void pin(const std::string& demand) {
    const Demand parts = split_demand(demand);
    if (parts.pattern.empty()) throw InputError(place_, "pin wants PATTERN=DEVICE, found {}", quote(demand));
    if (is_left_out(parts.pattern, demand)) return;
    const std::size_t device = find_device(parts, demand, "pin");
    for (const std::uint32_t op : ops_of(parts.pattern, demand))
      for (std::size_t d = 0; d < problem_.device_count(); ++d)
        if (d != device) rule_out(op, d);
  }
  void forbid(const std::string& demand) {
    Demand parts = split_demand(demand);
    if (parts.pattern.empty()) parts.pattern = "*";
    if (is_left_out(parts.pattern, demand)) return;
    const std::size_t device = find_device(parts, demand, "forbid");
    for (const std::uint32_t op : ops_of(parts.pattern, demand)) rule_out(op, device);
  }
  void keep_together(const std::string& pattern) {
    if (is_left_out(pattern, pattern)) return;
    std::map<std::string, std::uint32_t> first_of_module;
    for (std::uint32_t op = 0; op < problem_.op_count(); ++op)
      if (const auto module = matching_module(pattern, std::string(problem_.module[op])))
        unite(first_of_module.emplace(*module, op).first->second, op);
    if (!first_of_module.empty()) return;
    const std::vector<std::uint32_t> ops = ops_of(pattern, pattern);
    for (const std::uint32_t op : ops) unite(ops.front(), op);
  }

  void finish() {
    write_groups();
    check_devices();
  }

 private:
  [[nodiscard]] std::size_t find_device(const Demand& parts, const std::string& demand, const char* what) const {
    std::vector<std::string> names;
    for (std::size_t d = 0; d < problem_.device_count(); ++d) {
      if (problem_.devices[d].name == parts.device) return d;
      names.push_back(problem_.devices[d].name);
    }
    const std::string near = did_you_mean(parts.device, names);
    throw InputError(place_, "{} {}: unknown device {}{}", what, quote(demand), quote(parts.device),
                     near.empty() ? "; there are: " + join(names, ", ") : near);
  }
  // Whether the demand is for other problems of the task.
  [[nodiscard]] bool is_left_out(const std::string& pattern, const std::string& demand) {
    if (matched_ == nullptr) return false;
    if (all_matches(problem_, pattern).empty()) return true;
    matched_->insert(demand);
    return false;
  }

  [[nodiscard]] std::vector<std::uint32_t> ops_of(const std::string& pattern, const std::string& demand) const {
    std::vector<std::uint32_t> ops = all_matches(problem_, pattern);
    if (ops.empty())
      throw InputError(place_, "{}: no op or module matches {}{}", quote(demand), quote(pattern),
                       did_you_mean(pattern, problem_.op_names));
    return ops;
  }
  void rule_out(std::uint32_t op, std::size_t device) {
    problem_.op_time[op * problem_.device_count() + device] = cannot_run;
  }

  std::uint32_t find(std::uint32_t op) {
    while (leader_[op] != op) op = leader_[op] = leader_[leader_[op]];
    return op;
  }
  void unite(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t first = find(a), second = find(b);
    leader_[std::max(first, second)] = std::min(first, second);
  }

  // Groups in order of first appearance. A group that has a member with a name keeps the first such name.
  void write_groups() {
    const std::size_t ops = problem_.op_count();
    std::vector<std::uint32_t> size(ops);
    for (std::uint32_t op = 0; op < ops; ++op) ++size[find(op)];
    const std::vector<GroupId> before = problem_.group;
    const std::vector<std::string> names = problem_.group_names;
    std::vector<GroupId> of_leader(ops);
    problem_.group_names.clear();
    for (std::uint32_t op = 0; op < ops; ++op) {
      const std::uint32_t leader = find(op);
      const bool was_group = !before[op].is_none();
      if (size[leader] < 2 && !was_group) continue;
      if (of_leader[leader].is_none()) {
        of_leader[leader] = GroupId{problem_.group_names.size()};
        problem_.group_names.push_back(was_group ? names[before[op].index()]
                                                 : fmt::format("together:{}", problem_.op_names[op]));
      }
      problem_.group[op] = of_leader[leader];
    }
  }

  // Each op, and each group as a whole, needs a device.
  void check_devices() {
    const std::size_t devices = problem_.device_count();
    std::vector<std::vector<bool>> possible(problem_.group_names.size(), std::vector<bool>(devices, true));
    for (std::size_t op = 0; op < problem_.op_count(); ++op) {
      bool any = false, any_for_group = problem_.group[op].is_none();
      for (std::size_t d = 0; d < devices; ++d) {
        const bool can = problem_.can_run(OpId{op}, DeviceId{d});
        any = any || can;
        if (problem_.group[op].is_none()) continue;
        auto&& of_group = possible[problem_.group[op].index()][d];
        of_group = of_group && can;
        any_for_group = any_for_group || of_group;
      }
      if (!any) throw InputError(place_, "the constraints leave no device for op {}", quote(problem_.op_names[op]));
      if (!any_for_group)
        throw InputError(place_, "the constraints leave no device for op {} together with the others of its group {}",
                         quote(problem_.op_names[op]), quote(problem_.group_names[problem_.group[op].index()]));
    }
  }

  Problem& problem_;
  const std::string& place_;
  std::set<std::string>* matched_;
  std::vector<std::uint32_t> leader_;  // union-find over ops that share a device
};

void constrain_and_match(Problem& problem, const Constraints& constraints, const std::string& place,
                         std::set<std::string>* matched) {
  if (constraints.max_cuts)
    problem.max_cuts =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(*constraints.max_cuts, problem.tensor_count()));
  if (constraints.pin.empty() && constraints.forbid.empty() && constraints.together.empty()) return;
  Constrainer constrainer(problem, place, matched);
  for (const std::string& demand : constraints.together) constrainer.keep_together(demand);
  for (const std::string& demand : constraints.pin) constrainer.pin(demand);
  for (const std::string& demand : constraints.forbid) constrainer.forbid(demand);
  constrainer.finish();
}

}  // namespace

std::string arguments_of(const Constraints& constraints) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::vector<std::string>& demands) {
    for (const std::string& demand : demands) words.push_back(fmt::format("{} {}", option, shell_word(demand)));
  };
  add("--pin", constraints.pin);
  add("--forbid", constraints.forbid);
  add("--together", constraints.together);
  if (constraints.max_cuts) words.push_back(fmt::format("--max-cuts {}", *constraints.max_cuts));
  return join(words, " ");
}

Constraints those_that_match(const Constraints& constraints, const Problem& problem) {
  const auto keep = [&](const std::vector<std::string>& demands, bool with_device) {
    std::vector<std::string> kept;
    for (const std::string& demand : demands) {
      const std::string pattern = with_device ? split_demand(demand).pattern : demand;
      if (pattern.empty() || !all_matches(problem, pattern).empty()) kept.push_back(demand);
    }
    return kept;
  };
  return {.pin = keep(constraints.pin, true),
          .forbid = keep(constraints.forbid, true),
          .together = keep(constraints.together, false),
          .max_cuts = constraints.max_cuts};
}

void constrain(Problem& problem, const Constraints& constraints, const std::string& place) {
  constrain_and_match(problem, constraints, place, nullptr);
}

void TaskConstraints::apply(Problem& problem) { constrain_and_match(problem, constraints_, place_, &matched_); }

void TaskConstraints::check_all_matched() const {
  for (const auto* demands : {&constraints_.pin, &constraints_.forbid, &constraints_.together})
    for (const std::string& demand : *demands)
      if (!matched_.contains(demand))
        throw InputError(place_, "{}: its pattern matches no op or module of any problem", quote(demand));
}

}  // namespace emplace
