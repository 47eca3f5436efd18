#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/text.hpp"
#include "report/explanation.hpp"
#include "report/names.hpp"
#include "report/over_time.hpp"

namespace emplace::report {

namespace {

constexpr std::size_t shown_stretches = 12;
constexpr std::size_t shown_waits = 5;
constexpr std::size_t shown_alive_in_text = 3;
constexpr std::size_t time_columns = 30;

std::string seconds(Ticks ticks) { return human_seconds(to_seconds(ticks)); }

// The table with one more column, which is aligned to the left because it is text. The column before it must not have
// empty cells.
std::string with_last_column(const TextTable& table, const std::vector<std::string>& cells) {
  std::vector<std::string> lines = split(table.str(), '\n');
  for (std::size_t i = 0; i < cells.size(); ++i) lines[i] += "  " + cells[i];
  return join(lines, "\n");
}

class Text {
 public:
  Text(const Problem& problem, const Placement& placement, const Explanation& explanation, const verdict::Verdict& head)
      : p_(problem), placement_(placement), e_(explanation), head_(head) {}

  std::string str() {
    headline();
    if (!head_.empty()) say("\n{}", head_text(head_));
    if (e_.outcome.timed()) {
      limits();
      critical_path();
      waits();
      devices();
      channels();
      ops();
      tensors();
      memory();
    }
    moves();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  [[nodiscard]] std::string share(Ticks part) const {
    return percent(static_cast<double>(part) / static_cast<double>(e_.outcome.makespan));
  }
  [[nodiscard]] std::string op(OpId id) const { return cell_name(p_.op_names[id.index()]); }
  [[nodiscard]] std::string device(DeviceId id) const { return cell_name(p_.devices[id.index()].name, 24); }
  [[nodiscard]] DeviceId device_of(OpId id) const { return DeviceId{placement_.device[id.index()]}; }
  [[nodiscard]] const simulate::Timeline::Transfer& transfer(const simulate::PathStep& step) const {
    return e_.timeline.transfers[step.transfer];
  }
  [[nodiscard]] std::string what(const simulate::PathStep& step) const {
    if (step.is_op()) return op(step.op);
    return cell_name(tensor_name(p_, transfer(step).tensor)) + " on its way to " + device(transfer(step).to);
  }

  void headline() {
    say("{}: {} ({} schedule), {}\n", cell_name(p_.name, 80),
        e_.outcome.timed() ? seconds(e_.outcome.makespan) + " a step" : "no time", name_of(e_.schedule),
        e_.reason.empty() ? "feasible" : "not feasible: " + e_.reason);
  }

  void limits() {
    say("\nWhat limits the step\n");
    if (std::ranges::none_of(e_.limits,
                             [](const Limit& limit) { return limit.fills && limit.kind != LimitKind::memory; }))
      say("No device, link or chain of ops fills the step:\n");
    for (const Limit& limit : e_.limits) say("  {}\n", limit.sentence);
  }

  void critical_path() {
    say("\nCritical path\n"
        "The chain of {} that the step time is made of: each begins exactly when the one before it ends.\n\n",
        e_.path.size() == 1 ? "one step" : fmt::format("{} steps", e_.path.size()));
    TextTable parts({"its time goes into", "", ""});
    const simulate::PathShares& part = e_.shares;
    parts.add({"computing: ops whose result the next step needs", seconds(part.computing), share(part.computing)});
    parts.add({"moving: tensors that the next step needs", seconds(part.transferring), share(part.transferring)});
    parts.add({"waiting: the next step is ready, but other work comes first on its device or channel",
               seconds(part.waiting), share(part.waiting)});
    say("{}\n", parts.str());

    std::vector<std::size_t> shown(e_.stretches.size());
    std::iota(shown.begin(), shown.end(), std::size_t{0});
    const auto length = [&](std::size_t i) { return e_.stretches[i].end - e_.stretches[i].start; };
    std::ranges::stable_sort(shown, std::greater<>(), length);
    shown.resize(std::min(shown.size(), shown_stretches));
    std::ranges::sort(shown);
    TextTable table({"stretch of the path", "begins", "lasts", "share", "steps"});
    std::vector<std::string> longest{"longest of them"};
    Ticks left = e_.outcome.makespan;
    for (const std::size_t i : shown) {
      const PathStretch& stretch = e_.stretches[i];
      const simulate::PathStep& first = e_.path[stretch.first];
      const std::string where = first.is_op() ? "on " + device(device_of(first.op))
                                              : device(transfer(first).from) + " to " + device(transfer(first).to);
      table.add(
          {where, seconds(stretch.start), seconds(length(i)), share(length(i)), fmt::format("{}", stretch.count)});
      longest.push_back(what(e_.path[stretch.longest]));
      left -= length(i);
    }
    if (shown.size() < e_.stretches.size())
      table.add(
          {fmt::format("{} shorter ones", e_.stretches.size() - shown.size()), "", seconds(left), share(left), "-"});
    say("{}", with_last_column(table, longest));
  }

  [[nodiscard]] std::string why(std::size_t i) const {
    const simulate::PathStep& step = e_.path[i];
    const std::string before = what(e_.path[i - 1]);
    switch (step.reason) {
      case simulate::Reason::device_busy:
        return fmt::format("{} was busy, last with {}", device(device_of(step.op)), before);
      case simulate::Reason::turn:
        return fmt::format("its turn on {} comes after {}", device(device_of(step.op)), before);
      case simulate::Reason::channel_busy:
        return fmt::format("{} was busy, last with {}", cell_name(p_.channels[step.channel.index()].name, 24), before);
      default: return "";
    }
  }

  void waits() {
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < e_.path.size(); ++i)
      if (e_.path[i].wait() > 0) waiting.push_back(i);
    if (waiting.empty()) return;
    const std::size_t all = waiting.size();
    std::ranges::stable_sort(waiting, std::greater<>(), [&](std::size_t i) { return e_.path[i].wait(); });
    waiting.resize(std::min(all, shown_waits));
    say("\nLongest waits on it{}\n", all > waiting.size() ? fmt::format(" ({} of {})", waiting.size(), all) : "");
    for (const std::size_t i : waiting)
      say("  {} waited {}: {}\n", what(e_.path[i]), seconds(e_.path[i].wait()), why(i));
  }

  void devices() {
    TextTable table({"device", "ops", "busy", "share", "idle", "share", "when it was busy"});
    for (std::size_t d = 0; d < p_.device_count(); ++d) {
      const Ticks busy = e_.usage.device_busy[d];
      const Ticks idle = e_.outcome.makespan - busy;
      table.add({device(DeviceId{d}), fmt::format("{}", e_.ops_on[d]), seconds(busy), share(busy), seconds(idle),
                 share(idle),
                 bars(busy_over_time(placement_, e_.timeline, DeviceId{d}, e_.outcome.makespan, time_columns))});
    }
    say("\nDevices\n{}", table.str());
  }

  void channels() {
    if (p_.channels.empty()) return;
    TextTable table({"channel", "moved", "busy", "share"});
    for (std::size_t c = 0; c < p_.channels.size(); ++c)
      table.add({cell_name(p_.channels[c].name), human_bytes(e_.usage.channel_bytes[c]),
                 seconds(e_.usage.channel_busy[c]), share(e_.usage.channel_busy[c])});
    const std::string moved = p_.given_transfer_times ? "sizes are not given, only times"
                                                      : "moved between devices: " + human_bytes(e_.moved_bytes);
    say("\nChannels ({}, transfers: {})\n{}", moved, e_.timeline.transfers.size(), table.str());
  }

  void ops() {
    TextTable table({"op", "type", "on", "lasts", "share", "fastest on", "there"});
    for (const OpId id : e_.costly_ops) {
      const Ticks time = p_.time(id, device_of(id));
      DeviceId fastest = device_of(id);
      for (std::size_t d = 0; d < p_.device_count(); ++d)
        if (p_.can_run(id, DeviceId{d}) && p_.time(id, DeviceId{d}) < p_.time(id, fastest)) fastest = DeviceId{d};
      const bool best = fastest == device_of(id);
      table.add({op(id), cell_name(p_.op_types[id.index()], 20), device(device_of(id)), seconds(time), share(time),
                 best ? "this one" : device(fastest), best ? "" : seconds(p_.time(id, fastest))});
    }
    say("\nOps that last longest\n{}", table.str());
  }

  void tensors() {
    if (e_.costly_tensors.empty()) {
      say("\nNo tensor moves between devices.\n");
      return;
    }
    TextTable table({"tensor made by", "size", "on", "sent to", "moving", "waiting"});
    for (const TensorCost& cost : e_.costly_tensors) {
      std::vector<std::string> to;
      for (const simulate::Timeline::Transfer& t : e_.timeline.transfers)
        if (t.tensor == cost.tensor && to.size() < 2) to.push_back(device(t.to));
      table.add({cell_name(tensor_name(p_, cost.tensor)), human_bytes(p_.tensor_bytes[cost.tensor.index()]),
                 device(device_of(p_.producer[cost.tensor.index()])),
                 cost.transfers > 2 ? fmt::format("{} devices", cost.transfers) : join(to, ", "), seconds(cost.moving),
                 seconds(cost.waiting)});
    }
    say("\nTensors that take longest to move (waiting: for a channel)\n{}", table.str());
  }

  [[nodiscard]] std::string held(const simulate::Holding& holding) const {
    const std::string size = human_bytes(holding.bytes);
    switch (holding.kind) {
      case simulate::Holding::Kind::resident: return fmt::format("{} resident of {}", size, op(OpId{holding.id}));
      case simulate::Holding::Kind::scratch: return fmt::format("{} scratch of {}", size, op(OpId{holding.id}));
      case simulate::Holding::Kind::output:
        return fmt::format("{} made by {}", size, cell_name(tensor_name(p_, TensorId{holding.id})));
      case simulate::Holding::Kind::copy:
        return fmt::format("{} copy of {}", size, cell_name(tensor_name(p_, TensorId{holding.id})));
    }
    return size;
  }

  void memory() {
    TextTable table({"device", "peak", "memory", "peak at", "resident", "outputs", "copies", "scratch", "over time"});
    for (std::size_t d = 0; d < p_.device_count(); ++d) {
      const PeakMemory& peak = e_.at_peak[d];
      table.add({device(DeviceId{d}), human_bytes(e_.memory[d].peak),
                 p_.devices[d].memory == no_memory_limit ? "no limit" : human_bytes(p_.devices[d].memory),
                 seconds(e_.memory[d].peak_time), human_bytes(peak.resident), human_bytes(peak.outputs),
                 human_bytes(peak.copies), human_bytes(peak.scratch),
                 bars(memory_over_time(e_.memory[d], e_.outcome.makespan, time_columns))});
    }
    say("\nPeak memory\n{}", table.str());
    for (std::size_t d = 0; d < p_.device_count(); ++d) {
      const std::vector<simulate::Holding>& alive = e_.at_peak[d].alive;
      if (alive.empty()) continue;
      const std::size_t shown = std::min(alive.size(), shown_alive_in_text);
      say("at its peak {} holds{}\n", device(DeviceId{d}),
          shown < alive.size() ? fmt::format(" {} items, of which the largest are", alive.size()) : "");
      for (std::size_t i = 0; i < shown; ++i) say("  {}\n", held(alive[i]));
    }
  }

  [[nodiscard]] static std::string tries(const MoveSearch& search) {
    if (search.simulated == search.possible)
      return search.possible == 1 ? "the only one was tried" : fmt::format("all {} were tried", search.possible);
    return fmt::format("{} of the {} possible were tried, the most promising{}", search.simulated, search.possible,
                       search.guessed == 0 ? "" : fmt::format(" and the best of {} quick guesses", search.guessed));
  }

  void moves() {
    const MoveSearch& search = e_.moves;
    const std::string tried = tries(search);
    if (search.possible == 0) {
      say("\nThere is no move to try: no op can run on another device.\n");
      return;
    }
    if (search.best.empty()) {
      say("\nNo single move helps ({}).\n", tried);
      return;
    }
    TextTable table({"move", "from", "to", "step then", "gain"});
    for (const Move& move : search.best) {
      const OpId first{move.ops.front()};
      const GroupId group = p_.group[first.index()];
      const std::string name =
          move.ops.size() == 1 || group.is_none()
              ? op(first)
              : fmt::format("group {} ({} ops)", cell_name(p_.group_names[group.index()], 32), move.ops.size());
      const bool together =
          std::ranges::all_of(move.ops, [&](std::uint32_t o) { return device_of(OpId{o}) == device_of(first); });
      const bool both_timed = move.outcome.timed() && e_.outcome.timed();
      std::string then = move.outcome.timed() ? seconds(move.outcome.makespan) : "no time";
      if (!e_.outcome.feasible()) then += move.outcome.feasible() ? ", feasible" : ", not feasible";
      table.add({name, together ? device(device_of(first)) : "several", device(move.to), then,
                 both_timed ? fmt::format("{:.2f} %", 100 - 100 * static_cast<double>(move.outcome.makespan) /
                                                                static_cast<double>(e_.outcome.makespan))
                            : ""});
    }
    say("\nSingle moves that help most ({})\n{}", tried, table.str());
  }

  const Problem& p_;
  const Placement& placement_;
  const Explanation& e_;
  const verdict::Verdict& head_;
  std::string out_;
};

}  // namespace

std::string explanation_text(const Problem& problem, const Placement& placement, const Explanation& explanation,
                             const verdict::Verdict& head) {
  return Text(problem, placement, explanation, head).str();
}

}  // namespace emplace::report
