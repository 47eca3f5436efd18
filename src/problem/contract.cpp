#include "problem/contract.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "emplace/problem/builder.hpp"
#include "problem/order.hpp"
#include "problem/unit_merger.hpp"

namespace emplace {

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t several = none - 1;
// A ladder of small ops, each with edges to the next two, would need a round for two of them.
constexpr int most_rounds = 64;

// N: each op's fastest time.
std::vector<double> fastest_times(const Problem& problem) {
  std::vector<double> fastest(problem.op_count(), std::numeric_limits<double>::infinity());
  const std::size_t devices = problem.device_count();
  for (std::size_t i = 0; i < problem.op_time.size(); ++i)
    if (problem.op_time[i] != cannot_run)
      fastest[i / devices] = std::min(fastest[i / devices], static_cast<double>(problem.op_time[i]));
  return fastest;
}

// The sets of joined ops.
class Joins {
 public:
  Joins(const Problem& problem, double most_share)
      : problem_(&problem), sets_(problem), work_(fastest_times(problem)), group_(problem.group) {
    most_work_ = most_share * std::accumulate(work_.begin(), work_.end(), 0.0);
    bool any = true;
    for (int round = 0; any && round < most_rounds; ++round) {
      any = pass(true);
      any = pass(false) || any;
    }
  }

  [[nodiscard]] std::size_t count() const { return sets_.count(); }
  [[nodiscard]] std::uint32_t root(std::uint32_t op) const { return sets_.find(op); }

 private:
  // N, indexed by root: the other set with edges from this one (or, if not `forward`, to this one), `none` or
  // `several`.
  [[nodiscard]] std::vector<std::uint32_t> only_neighbours(bool forward) const {
    std::vector<std::uint32_t> only(problem_->op_count(), none);
    for (std::uint32_t tensor = 0; tensor < problem_->tensor_count(); ++tensor) {
      const std::uint32_t producer = root(problem_->producer[tensor].value);
      for (const std::uint32_t to : problem_->consumers[tensor]) {
        const std::uint32_t consumer = root(to);
        if (consumer == producer) continue;
        std::uint32_t& seen = only[forward ? producer : consumer];
        const std::uint32_t other = forward ? consumer : producer;
        seen = seen == none || seen == other ? other : several;
      }
    }
    return only;
  }

  // Joins sets with their only consumers, or their only producers. What a join leaves outdated in the list is that a
  // neighbour is now part of a larger set, and that `several` may have become one; the next round sees that. Returns
  // whether any were joined.
  bool pass(bool forward) {
    const std::vector<std::uint32_t> only = only_neighbours(forward);
    bool any = false;
    for (std::size_t i = 0; i < problem_->op_count(); ++i) {
      const std::uint32_t op = problem_->topological[forward ? problem_->op_count() - 1 - i : i];
      if (only[op] == none || only[op] == several) continue;
      any |= join(root(op), root(only[op]));
    }
    return any;
  }

  bool join(std::uint32_t a, std::uint32_t b) {
    const double work = work_[a] + work_[b];
    if (a == b || work > most_work_ || !same_devices(a, b)) return false;
    if (!group_[a].is_none() && !group_[b].is_none() && group_[a] != group_[b]) return false;
    const GroupId group = group_[a].is_none() ? group_[b] : group_[a];
    const std::uint32_t both = sets_.merge(a, b);
    work_[both] = work;
    group_[both] = group;
    return true;
  }

  [[nodiscard]] bool same_devices(std::uint32_t a, std::uint32_t b) const {
    for (std::uint32_t device = 0; device < problem_->device_count(); ++device)
      if (problem_->can_run(OpId(a), DeviceId(device)) != problem_->can_run(OpId(b), DeviceId(device))) return false;
    return true;
  }

  const Problem* problem_;
  UnitMerger sets_;
  std::vector<double> work_;    // N, indexed by root
  std::vector<GroupId> group_;  // N, indexed by root
  double most_work_ = 0;
};

void add_machine(ProblemBuilder& builder, const Problem& problem) {
  for (const Device& device : problem.devices) builder.add_device(device);
  for (const Channel& channel : problem.channels) builder.add_channel(channel);
  if (problem.given_transfer_times) builder.give_transfer_times(problem.route_classes.size());
  const auto devices = static_cast<std::uint32_t>(problem.device_count());
  for (std::uint32_t from = 0; from < devices; ++from)
    for (std::uint32_t to = 0; to < devices; ++to) {
      if (from == to || !problem.has_route(DeviceId(from), DeviceId(to))) continue;
      std::vector<ChannelId> channels;
      for (const std::uint32_t channel : problem.route(DeviceId(from), DeviceId(to))) channels.emplace_back(channel);
      builder.add_route(
          DeviceId(from), DeviceId(to), channels, {},
          problem.given_transfer_times ? static_cast<std::size_t>(problem.route_class[from * devices + to]) : 0);
    }
}

// The op that has all `members`. `work` (N): each op's fastest time.
OpSpec joined(const Problem& problem, std::span<const std::uint32_t> members, std::span<const double> work) {
  const std::uint32_t heaviest = *std::ranges::max_element(members, {}, [&](std::uint32_t op) { return work[op]; });
  const std::size_t devices = problem.device_count();
  OpSpec spec;
  spec.name = problem.op_names[members.front()];
  spec.type = problem.op_types[heaviest];
  spec.layer = std::string(problem.layer[heaviest]);
  spec.module = std::string(problem.module[heaviest]);
  spec.backward = problem.is_backward(OpId(heaviest));
  spec.seconds.assign(devices, 0.0);
  for (const std::uint32_t op : members) {
    for (std::size_t d = 0; d < devices; ++d) {
      const std::size_t at = op * devices + d;
      if (problem.op_time[at] == cannot_run)
        spec.seconds[d] = std::numeric_limits<double>::quiet_NaN();
      else if (problem.zero_cost[at] == 0)
        spec.seconds[d] += to_seconds(problem.op_time[at]);
    }
    spec.resident += problem.resident[op];
    spec.scratch = std::max(spec.scratch, problem.scratch[op]);
    if (!problem.group[op].is_none()) spec.colocate = problem.group_names[problem.group[op].index()];
  }
  return spec;
}

class Contraction {
 public:
  Contraction(const Problem& problem, const Joins& joins)
      : problem_(problem), builder_(problem.name), work_(fastest_times(problem)) {
    std::vector<std::uint32_t> number(problem.op_count(), none);  // indexed by root
    for (std::uint32_t op = 0; op < problem.op_count(); ++op) {
      std::uint32_t& of_root = number[joins.root(op)];
      if (of_root == none) {
        of_root = static_cast<std::uint32_t>(members_.size());
        members_.emplace_back();
        made_.leader.push_back(op);
      }
      made_.op_of.push_back(of_root);
      members_[of_root].push_back(op);
      if (leads(op, made_.leader[of_root])) made_.leader[of_root] = op;
    }
  }

  Contracted make() {
    add_machine(builder_, problem_);
    last_read_.assign(members_.size(), none);
    for (std::size_t i = 0; i < members_.size(); ++i) builder_.add_op(joined(problem_, members_[i], work_));
    for (std::uint32_t tensor = 0; tensor < problem_.tensor_count(); ++tensor) add_tensor(tensor);
    made_.problem = builder_.build();
    made_.problem.max_cuts = problem_.max_cuts;
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool leads(std::uint32_t op, std::uint32_t over) const {
    const bool grouped = !problem_.group[op].is_none(), other = !problem_.group[over].is_none();
    return grouped != other ? grouped : work_[op] > work_[over];
  }

  // Leaves out a tensor that only its own joined op reads.
  void add_tensor(std::uint32_t tensor) {
    const std::uint32_t producer = made_.op_of[problem_.producer[tensor].value];
    std::vector<std::uint32_t> readers;
    for (const std::uint32_t op : problem_.consumers[tensor])
      if (made_.op_of[op] != producer && std::exchange(last_read_[made_.op_of[op]], tensor) != tensor)
        readers.push_back(made_.op_of[op]);
    if (readers.empty() && !problem_.consumers[tensor].empty()) return;
    std::vector<double> seconds;
    if (problem_.given_transfer_times)
      for (std::size_t c = 0; c < problem_.route_classes.size(); ++c)
        seconds.push_back(to_seconds(problem_.transfer_time[tensor * problem_.route_classes.size() + c]));
    builder_.add_tensor(OpId(producer), problem_.tensor_bytes[tensor], {readers.begin(), readers.end()}, {}, seconds);
  }

  const Problem& problem_;
  ProblemBuilder builder_;
  const std::vector<double> work_;  // N
  Contracted made_;
  std::vector<std::vector<std::uint32_t>> members_;  // of each contracted op, ascending
  std::vector<std::uint32_t> last_read_;             // of each contracted op: the tensor that it was last seen to read
};

}  // namespace

Placement Contracted::contract(const Placement& placement) const {
  Placement smaller;
  for (const std::uint32_t op : leader) smaller.device.push_back(placement.device[op]);
  if (placement.order.empty()) return smaller;
  const std::vector<std::uint32_t> position = positions_in(placement.order);
  std::vector<std::uint32_t> rank;
  for (const std::uint32_t op : leader) rank.push_back(position[op]);
  smaller.order = ranked_order(problem, rank);
  return smaller;
}

Placement Contracted::expand(const Problem& whole, const Placement& placement) const {
  Placement larger;
  for (const std::uint32_t op : op_of) larger.device.push_back(placement.device[op]);
  if (placement.order.empty()) return larger;
  const std::vector<std::uint32_t> position = positions_in(placement.order);
  larger.order = whole.topological;
  std::ranges::stable_sort(larger.order, {}, [&](std::uint32_t op) { return position[op_of[op]]; });
  return larger;
}

std::size_t contracted_count(const Problem& problem, double most_share) { return Joins(problem, most_share).count(); }

Contracted contract(const Problem& problem, double most_share, double least_left) {
  constexpr int most_halvings = 6;
  const double least = least_left * static_cast<double>(problem.op_count());
  Joins joins(problem, most_share);
  for (int i = 0; i < most_halvings && static_cast<double>(joins.count()) < least; ++i)
    joins = Joins(problem, most_share /= 2);
  return Contraction(problem, joins).make();
}

}  // namespace emplace
