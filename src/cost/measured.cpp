#include "cost/measured.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/text.hpp"
#include "cost/computed_kernels.hpp"
#include "cost/op_names.hpp"
#include "cost/profile_devices.hpp"
#include "cost/roofline.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

namespace {

constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

bool names_kernels(const Profile& profile, const Names& ops, const Names& producers) {
  return std::any_of(profile.rows.begin(), profile.rows.end(), [&](const ProfileRow& row) {
    return !ops.contains(row.op) && !op_of_kernel(producers, row.op).is_none();
  });
}

// The number of ops that were merged into an op: ops of the input graph, or, for a layer of the zoo, ops of its
// builder.
std::size_t parts_of(const GraphOp& op) {
  std::size_t parts = 0;
  for (const auto& [type, times] : op.merged_types) parts += times;
  return op.merged_types.empty() ? 1 : parts;
}

// A time with its row of the profile and the devices on which it was measured.
struct MeasuredTime {
  const ProfileRow& row;
  double seconds;
  const std::vector<std::size_t>& devices;
};

class Matching {
 public:
  Matching(const PassResult& kernels, const Graph& input, const machine::Machine& machine, bool fused)
      : kernels_(kernels),
        input_(input),
        machine_(machine),
        fused_(fused),
        members_(kernels.origins()),
        op_called_(ops_by_name(input)),
        producer_of_(producers_by_tensor(input)) {
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (is_one_op(i)) kernel_called_.emplace(kernels.graph.ops[i].name, i);
  }

  ProfileUse lay(const DeviceProfile& given) {
    const auto devices = devices_of(given, machine_);
    const Profile& profile = given.profile;
    ProfileUse use;
    use.file = profile.file;
    use.run_s = profile.run_s;
    use.whole_run = profile.whole_run;
    use.fused_run = profile.fused_run || names_kernels(profile, op_called_, producer_of_);
    use.device_s.resize(machine_.devices.size());
    ++profile_;
    pending_.emplace_back();
    covered_.assign(input_.ops.size(), false);
    std::vector<RowOfRun> rows;
    if (use.fused_run) rows = computed_kernels(profile, kernels_, op_called_, producer_of_);
    if (fused_) std::ranges::move(ran_together(rows, kernels_.graph.ops.size()), std::back_inserter(together_));
    for (std::size_t i = 0; i < profile.rows.size(); ++i)
      for (std::size_t column = 0; column < devices.size(); ++column) {
        const ProfileRow& row = profile.rows[i];
        if (devices[column].empty() || std::isnan(row.seconds[column])) continue;
        ++use.times;
        use.total_s += row.seconds[column];
        for (const std::size_t device : devices[column]) use.device_s[device] += row.seconds[column];
        const MeasuredTime time{row, row.seconds[column], devices[column]};
        if (use.fused_run)
          place_kernel(time, rows, i, use);
        else
          place_op(time, use);
      }
    if (use.times == 0) throw InputError(use.file, "the column {} holds no time", quote(given.device));
    if (use.joined == 0)
      throw InputError(use.file, "none of its {} times is of an op of the graph: {}", use.times,
                       some_ops(use.unmatched.ops.empty() ? use.other_type.ops : use.unmatched.ops, &input_));
    if (use.whole_run) use.covered_share = covered_share(devices);
    return use;
  }

  // Per kernel, whether it has a part of a time that several kernels took together; empty: none has.
  [[nodiscard]] const std::vector<bool>& shared() const { return shared_; }

  // MeasuredTimes::together.
  [[nodiscard]] const std::vector<std::vector<OpId>>& together() const { return together_; }

  // Returns the seconds of kernels x devices; must be called after lay() was called for all profiles.
  std::vector<double> kernel_seconds(std::vector<ProfileUse>& uses) {
    std::vector<double> seconds = std::move(of_run_.seconds);
    seconds.resize(kernels_.graph.ops.size() * machine_.devices.size(), not_measured);
    if (own_.seconds.empty() && of_member_.seconds.empty()) return seconds;
    std::vector<bool> known(input_.ops.size());
    for (std::size_t d = 0; d < machine_.devices.size(); ++d) {
      const Roofline alone(machine_.devices[d]), fused(machine_.devices[d], fused_);
      for (std::size_t i = 0; i < members_.size(); ++i) {
        const double time =
            is_one_op(i) ? own_time(OpId{i}, d, alone, fused) : time_of_members(OpId{i}, d, alone, fused);
        if (std::isnan(time)) continue;
        for (const OpId member : members_[i]) known[member.index()] = true;
        if (double& slot = seconds[i * machine_.devices.size() + d]; std::isnan(slot)) slot = time;
      }
    }
    for (std::size_t p = 0; p < uses.size(); ++p)
      for (const auto& [op, times] : pending_[p]) {
        if (known[op.index()]) {
          uses[p].used += times;
        } else {
          uses[p].partial.times += times;
          uses[p].partial.ops.push_back(input_.ops[op.index()].name);
        }
      }
    return seconds;
  }

 private:
  struct Times {
    std::vector<double> seconds;         // ops x devices; empty if there are none
    std::vector<std::uint32_t> profile;  // the number of the profile that has the time
  };

  // Whether the kernel is a single op, neither fused from several ops nor from one op and others that a pass added.
  [[nodiscard]] bool is_one_op(std::size_t kernel) const {
    const std::size_t parts = parts_of(kernels_.graph.ops[kernel]);
    if (members_[kernel].empty()) return parts == 1;
    return members_[kernel].size() == 1 && parts == parts_of(input_.ops[members_[kernel].front().index()]);
  }

  [[nodiscard]] OpId called(const Names& names, const std::string& name) const {
    const auto at = names.find(name);
    return at == names.end() ? OpId{} : at->second;
  }

  // `together`: whether further times of the same profile are added.
  void set(Times& times, std::size_t ops, OpId op, const MeasuredTime& time, const std::string& file, bool together) {
    if (times.seconds.empty()) {
      times.seconds.assign(ops * machine_.devices.size(), not_measured);
      times.profile.resize(times.seconds.size());
    }
    for (const std::size_t device : time.devices) {
      const std::size_t slot = op.index() * machine_.devices.size() + device;
      const bool timed = !std::isnan(times.seconds[slot]);
      if (timed && !(together && times.profile[slot] == profile_))
        throw InputError(time.row.line > 0 ? fmt::format("{}:{}", file, time.row.line) : file,
                         "op {} is timed on device {} a second time", quote(time.row.op),
                         quote(machine_.devices[device].name));
      times.seconds[slot] = timed ? times.seconds[slot] + time.seconds : time.seconds;
      times.profile[slot] = profile_;
    }
  }

  void count(UnusedTimes& unused, const std::string& op) const {
    ++unused.times;
    if (unused.ops.empty() || unused.ops.back() != op) unused.ops.push_back(op);  // a row's times come together
  }

  void place_op(const MeasuredTime& time, ProfileUse& use) {
    const std::string& name = time.row.op;
    const OpId kernel = called(kernel_called_, name), op = called(op_called_, name);
    if (kernel.is_none() && op.is_none()) return count(use.unmatched, name);
    const GraphOp& found = kernel.is_none() ? input_.ops[op.index()] : kernels_.graph.ops[kernel.index()];
    if (!time.row.type.empty() && time.row.type != found.type) return count(use.other_type, name);
    join(time, use);
    if (!op.is_none()) covered_[op.index()] = true;
    if (!kernel.is_none()) {
      ++use.used;
      set(own_, kernels_.graph.ops.size(), kernel, time, use.file, false);
    } else if (kernels_.became[op.index()].is_none()) {
      ++use.folded;
      use.folded_s += time.seconds;
    } else {
      set(of_member_, input_.ops.size(), op, time, use.file, false);
      auto& pending = pending_.back();
      if (pending.empty() || pending.back().first != op) pending.emplace_back(op, 0);
      ++pending.back().second;
    }
  }

  void place_kernel(const MeasuredTime& time, const std::vector<RowOfRun>& rows, std::size_t at, ProfileUse& use) {
    using Found = RowOfRun::Found;
    const std::string& name = time.row.op;
    const RowOfRun& row = rows[at];
    if (row.found == Found::unmatched) return count(use.unmatched, name);
    if (row.found == Found::other_type && fused_) return count(use.other_type, name);
    if (row.found != Found::beside) join(time, use);  // of another model they would have a reader as well
    if (row.found == Found::folded) {
      ++use.folded;
      use.folded_s += time.seconds;
      return;
    }
    const std::vector<OpId>& computed = row.found == Found::beside ? rows[row.counts_with].kernels : row.kernels;
    for (const OpId kernel : computed)
      for (const OpId member : members_[kernel.index()]) covered_[member.index()] = true;
    if (!fused_) return count(use.fused, name);
    ++(row.found == Found::beside ? use.beside : use.used);
    share(time, computed, use);
  }

  // Divides a time among the kernels that were computed in it, in proportion to the roofline's times.
  void share(const MeasuredTime& time, const std::vector<OpId>& computed, const ProfileUse& use) {
    if (shared_.empty()) shared_.resize(kernels_.graph.ops.size());
    for (const std::size_t device : time.devices) {
      const Roofline roofline(machine_.devices[device], fused_);
      const std::vector<std::size_t> alone = {device};
      std::vector<double> weights;
      double sum = 0;
      for (const OpId kernel : computed) {
        const double weight = computed.size() == 1 ? 1 : estimate(roofline, kernels_.graph, kernel);
        weights.push_back(weight > 0 ? weight : 0);
        sum += weights.back();
      }
      const auto works = std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0; });
      for (std::size_t i = 0; i < computed.size(); ++i) {
        const double part = sum > 0 ? weights[i] / sum : 1.0 / static_cast<double>(computed.size());
        set(of_run_, kernels_.graph.ops.size(), computed[i], {time.row, part * time.seconds, alone}, use.file, true);
        if (works > 1 && weights[i] > 0) shared_[computed[i].index()] = true;
      }
    }
  }

  void join(const MeasuredTime& time, ProfileUse& use) const {
    ++use.joined;
    use.joined_s += time.seconds;
  }

  // The share of the graph's time, as the roofline has it on the first device of the profile, in ops that it measured.
  [[nodiscard]] double covered_share(const std::vector<std::vector<std::size_t>>& devices) const {
    for (const std::vector<std::size_t>& column : devices) {
      if (column.empty()) continue;
      const Roofline roofline(machine_.devices[column.front()]);
      double covered = 0, all = 0;
      for (std::size_t i = 0; i < input_.ops.size(); ++i) {
        if (kernels_.became[i].is_none()) continue;
        const double seconds = estimate(roofline, input_, OpId{i});
        if (std::isnan(seconds)) continue;
        all += seconds;
        if (covered_[i]) covered += seconds;
      }
      return all > 0 ? covered / all : 1;
    }
    return 1;
  }

  // The time of a kernel from the measured time of its op alone: multiplied by the roofline's time of the kernel over
  // the roofline's time of the op.
  static double scaled(double measured, double alone, double kernel) {
    return alone > 0 && !std::isnan(kernel) ? measured * (kernel / alone) : measured;
  }

  [[nodiscard]] double own_time(OpId id, std::size_t device, const Roofline& alone, const Roofline& fused) const {
    if (own_.seconds.empty()) return not_measured;
    const double time = own_.seconds[id.index() * machine_.devices.size() + device];
    if (std::isnan(time) || !fused_) return time;
    return scaled(time, estimate(alone, kernels_.graph, id), estimate(fused, kernels_.graph, id));
  }

  // The time of a fused kernel from the times of its members; NaN if some of these are not known.
  [[nodiscard]] double time_of_members(OpId id, std::size_t device, const Roofline& alone,
                                       const Roofline& fused) const {
    if (of_member_.seconds.empty()) return not_measured;
    const std::vector<OpId>& members = members_[id.index()];
    std::size_t parts = 0;
    for (const OpId member : members) parts += parts_of(input_.ops[member.index()]);
    if (parts != parts_of(kernels_.graph.ops[id.index()]))
      return not_measured;  // the other members were added by a pass
    const OpClass cls = cost_of(kernels_.graph, id).cls;
    double measured = 0, estimated = 0, main_measured = 0, main_estimated = 0;
    for (const OpId member : members) {
      const double part = estimate(alone, input_, member);
      const double time = of_member_.seconds[member.index() * machine_.devices.size() + device];
      if (std::isnan(part) || (std::isnan(time) && part > 0)) return not_measured;
      measured += std::isnan(time) ? 0 : time;
      estimated += part;
      if (cost_of(input_, member).cls != cls) continue;
      main_measured += std::isnan(time) ? 0 : time;
      main_estimated += part;
    }
    const double whole = estimate(fused, kernels_.graph, id);
    return main_estimated > 0 ? scaled(main_measured, main_estimated, whole) : scaled(measured, estimated, whole);
  }

  static double estimate(const Roofline& roofline, const Graph& graph, OpId op) {
    return roofline.seconds(cost_of(graph, op), compute_dtype(graph, op), graph.ops[op.index()], "profile");
  }

  const PassResult& kernels_;
  const Graph& input_;
  const machine::Machine& machine_;
  bool fused_;
  std::vector<std::vector<OpId>> members_;  // per kernel: its ops of the input graph
  Names kernel_called_;                     // the kernels that are a single op
  Names op_called_, producer_of_;
  Times of_run_, own_;        // times of kernels: from a fused run, and from ops run one by one
  Times of_member_;           // times of ops of `input_` that were fused
  std::vector<bool> shared_;  // per kernel
  std::vector<std::vector<OpId>> together_;
  std::vector<bool> covered_;  // per op of `input_`: whether the last profile measured it
  std::uint32_t profile_ = 0;
  std::vector<std::vector<std::pair<OpId, std::size_t>>> pending_;  // per profile: ops of `of_member_`, number of times
};

}  // namespace

bool is_fused_run(const Profile& profile, const Graph& graph) {
  return profile.fused_run || names_kernels(profile, ops_by_name(graph), producers_by_tensor(graph));
}

MeasuredTimes measured_times(const PassResult& kernels, const Graph& input, const machine::Machine& machine,
                             std::span<const DeviceProfile> profiles, bool fused) {
  Matching matching(kernels, input, machine, fused);
  MeasuredTimes measured;
  for (const DeviceProfile& given : profiles) measured.profiles.push_back(matching.lay(given));
  measured.seconds = matching.kernel_seconds(measured.profiles);
  measured.shared = matching.shared();
  measured.together = matching.together();
  return measured;
}

}  // namespace emplace::cost
