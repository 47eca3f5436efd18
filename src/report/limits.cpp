#include "report/limits.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "base/text.hpp"
#include "emplace/problem/grouping.hpp"
#include "emplace/simulate/engine.hpp"
#include "report/names.hpp"

namespace emplace::report {

namespace {

constexpr double nearly_full = 0.9;
constexpr double worth_moving = 0.05;  // of the step: what ops would gain on a device whose memory is full
constexpr std::size_t waits_in_sentence = 3;

// The longest chain of ops and transfers that need one another's results on these devices. No order of the ops makes
// the step of this placement shorter.
struct Chain {
  Ticks computing = 0, moving = 0;
  std::size_t ops = 0;
  [[nodiscard]] Ticks length() const { return computing + moving; }
};

Chain longest_chain(const Problem& problem, const Placement& placement) {
  std::vector<Chain> until(problem.op_count());  // the longest chain that ends with the op
  Chain longest;
  for (const std::uint32_t op : problem.topological) {
    const DeviceId device{placement.device[op]};
    Chain chain;
    for (const std::uint32_t input : problem.inputs[op]) {
      const TensorId tensor{input};
      const OpId producer = problem.producer[input];
      const DeviceId from{placement.device[producer.index()]};
      Chain through = until[producer.index()];
      if (from != device && problem.has_route(from, device)) through.moving += problem.transfer(tensor, from, device);
      if (through.length() > chain.length()) chain = through;
    }
    chain.computing += std::max<Ticks>(0, problem.time(OpId{op}, device));
    ++chain.ops;
    until[op] = chain;
    if (chain.length() > longest.length()) longest = chain;
  }
  return longest;
}

std::string limit_percent(double share) { return share >= 0.1 ? fmt::format("{:.0f} %", 100 * share) : percent(share); }

class LimitFinder {
 public:
  LimitFinder(const Problem& problem, const Placement& placement, Schedule schedule, const Outcome& outcome,
              const Usage& usage, std::span<const simulate::PathStep> path)
      : p_(problem), placement_(placement), schedule_(schedule), outcome_(outcome), usage_(usage), path_(path) {}

  std::vector<Limit> find() {
    std::vector<Limit> all;
    for (std::size_t d = 0; d < p_.device_count(); ++d) all.push_back(device(d));
    for (std::size_t c = 0; c < p_.channels.size(); ++c)
      if (p_.channels[c].contention) all.push_back(link(c));
    all.push_back(chain());
    std::ranges::stable_sort(all, std::greater<>(), &Limit::share);
    const bool one_fills = all.front().fills;
    std::vector<Limit> limits = memories(true);
    for (Limit& limit : all)
      if (one_fills ? limit.fills : is_first_of_its_kind(limits, limit)) limits.push_back(std::move(limit));
    for (Limit& limit : memories(false)) limits.push_back(std::move(limit));
    return limits;
  }

 private:
  [[nodiscard]] Ticks step() const { return std::max<Ticks>(1, outcome_.makespan); }
  [[nodiscard]] double share(Ticks part) const { return static_cast<double>(part) / static_cast<double>(step()); }

  static bool is_first_of_its_kind(const std::vector<Limit>& limits, const Limit& limit) {
    return limit.share > 0 && std::ranges::none_of(limits, [&](const Limit& each) { return each.kind == limit.kind; });
  }

  [[nodiscard]] Limit filling(LimitKind kind, const std::string& name, Ticks time) const {
    Limit limit{.kind = kind, .name = name, .share = share(time), .slack = std::max<Ticks>(0, step() - time)};
    limit.fills = limit.share >= filling_share;
    return limit;
  }

  [[nodiscard]] std::string slack_text(const Limit& limit, std::string_view not_doing) const {
    return limit.slack == 0 ? "" : fmt::format(" ({} for {})", not_doing, human_seconds(to_seconds(limit.slack)));
  }

  // What the busy share proves: a step with as much work there cannot be shorter than that work takes.
  static std::string gain_text(const Limit& limit, std::string_view load) {
    constexpr double whole = 0.995;
    if (!limit.fills) return "";
    if (limit.share >= whole) return fmt::format(", so only less {} makes the step shorter", load);
    return fmt::format(", so with as much {} at most {} can be gained", load, percent(1 - limit.share));
  }

  [[nodiscard]] Limit device(std::size_t d) const {
    Limit limit = filling(LimitKind::device, p_.devices[d].name, usage_.device_busy[d]);
    limit.sentence = fmt::format("the device {} is busy {} of the step{}", cell_name(limit.name),
                                 limit_percent(limit.share), slack_text(limit, "idle"));
    limit.sentence += gain_text(limit, "work on it");
    return limit;
  }

  [[nodiscard]] Limit link(std::size_t c) const {
    Limit limit = filling(LimitKind::link, p_.channels[c].name, usage_.channel_busy[c]);
    limit.sentence = fmt::format("the link {} is busy {} of the step{}", cell_name(limit.name),
                                 limit_percent(limit.share), slack_text(limit, "idle"));
    limit.sentence += gain_text(limit, "traffic over it");
    return limit;
  }

  [[nodiscard]] Limit chain() const {
    const Chain chain = longest_chain(p_, placement_);
    Limit limit = filling(LimitKind::chain, "", chain.length());
    limit.waits = waits();
    limit.sentence =
        fmt::format("a chain of {} that need one another's results takes {} of the step",
                    chain.ops == 1 ? "one op" : fmt::format("{} ops", chain.ops), limit_percent(limit.share));
    if (chain.ops == 1) limit.sentence = fmt::format("one op takes {} of the step", limit_percent(limit.share));
    if (chain.moving > 0)
      limit.sentence += fmt::format(" ({} computing, {} moving tensors)", limit_percent(share(chain.computing)),
                                    limit_percent(share(chain.moving)));
    if (!limit.waits.empty()) limit.sentence += waits_text(limit.waits);
    return limit;
  }

  // Steps of the path that only occupied what the next step waited for, by device and channel.
  [[nodiscard]] std::vector<std::pair<std::string, double>> waits() const {
    std::map<std::string, Ticks> time;
    for (std::size_t i = 0; i + 1 < path_.size(); ++i) {
      const simulate::PathStep& next = path_[i + 1];
      switch (next.reason) {
        case simulate::Reason::device_busy:
          time[p_.devices[placement_.device[next.op.index()]].name] += path_[i].duration();
          break;
        case simulate::Reason::turn:
          time["its turn on " + p_.devices[placement_.device[next.op.index()]].name] += path_[i].duration();
          break;
        case simulate::Reason::channel_busy: time[p_.channels[next.channel.index()].name] += path_[i].duration(); break;
        default: break;
      }
    }
    std::vector<std::pair<std::string, double>> list;
    for (const auto& [name, waited] : time) list.emplace_back(name, share(waited));
    std::ranges::stable_sort(list, std::greater<>(), [](const auto& each) { return each.second; });
    return list;
  }

  static std::string waits_text(const std::vector<std::pair<std::string, double>>& waits) {
    const double all = std::accumulate(waits.begin(), waits.end(), 0.0,
                                       [](double sum, const auto& each) { return sum + each.second; });
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < waits.size() && i < waits_in_sentence; ++i)
      parts.push_back(fmt::format("{} for {}", limit_percent(waits[i].second), cell_name(waits[i].first)));
    if (waits.size() > waits_in_sentence) parts.emplace_back("...");
    return fmt::format("; on the critical path, work that is ready waits for {} of the step: {}", limit_percent(all),
                       join(parts, ", "));
  }

  // Memories that are too small, or else those that are nearly full while faster ops do not fit.
  [[nodiscard]] std::vector<Limit> memories(bool too_small) const {
    std::vector<Limit> list;
    for (std::size_t d = 0; d < p_.device_count(); ++d) {
      const Bytes capacity = p_.devices[d].memory, peak = usage_.device_peak[d];
      if (capacity == no_memory_limit || (peak > capacity) != too_small) continue;
      const double full = capacity > 0 ? static_cast<double>(peak) / static_cast<double>(capacity) : peak > 0 ? 2 : 0;
      if (!too_small && (full < nearly_full || !keeps_faster_ops_away(d))) continue;
      Limit limit{.kind = LimitKind::memory, .name = p_.devices[d].name, .share = full, .free = capacity - peak};
      limit.fills = true;
      const std::string name = cell_name(limit.name);
      limit.sentence =
          too_small
              ? fmt::format("the memory of {} is too small by {}", name, human_bytes(-limit.free))
              : fmt::format(
                    "the memory of {} is {} full ({} free), and ops that would be faster there do not fit together",
                    name, limit_percent(full), human_bytes(limit.free));
      list.push_back(std::move(limit));
    }
    return list;
  }

  // Whether ops of other devices would save much time on this one, but its memory cannot hold all of them.
  [[nodiscard]] bool keeps_faster_ops_away(std::size_t d) const {
    const Grouping units = make_grouping(p_, GroupingKind::colocation);
    std::vector<Ticks> gains(units.count());
    std::vector<char> runs(units.count(), 1);
    for (std::size_t op = 0; op < p_.op_count(); ++op) {
      const Ticks here = p_.time(OpId{op}, DeviceId{placement_.device[op]}), there = p_.time(OpId{op}, DeviceId{d});
      const std::uint32_t unit = units.unit_of_op[op];
      if (there == cannot_run) runs[unit] = 0;
      gains[unit] += here - there;
    }
    Ticks gain = 0;
    Placement moved = placement_;
    for (std::size_t op = 0; op < p_.op_count(); ++op) {
      const std::uint32_t unit = units.unit_of_op[op];
      if (runs[unit] != 0 && gains[unit] > 0) moved.device[op] = static_cast<std::uint8_t>(d);
    }
    for (std::size_t unit = 0; unit < units.count(); ++unit)
      if (runs[unit] != 0 && gains[unit] > 0) gain += gains[unit];
    return share(gain) >= worth_moving && !fits(moved, d);
  }

  // Whether the placement's ops on the device fit into its memory; without a simulated step, whether what stays there
  // for the whole step does.
  [[nodiscard]] bool fits(const Placement& placement, std::size_t d) const {
    const Bytes capacity = p_.devices[d].memory;
    Bytes resident = 0;
    for (std::size_t op = 0; op < p_.op_count(); ++op)
      if (placement.device[op] == d) resident += p_.resident[op];
    if (resident > capacity) return false;
    Usage usage;
    const Outcome outcome = simulate::make_exact_engine(p_, schedule_)->evaluate(placement, {.usage = &usage});
    return !outcome.timed() || usage.device_peak[d] <= capacity;
  }

  const Problem& p_;
  const Placement& placement_;
  const Schedule schedule_;
  const Outcome& outcome_;
  const Usage& usage_;
  const std::span<const simulate::PathStep> path_;
};

}  // namespace

std::string_view name_of(LimitKind kind) {
  switch (kind) {
    case LimitKind::device: return "device";
    case LimitKind::link: return "link";
    case LimitKind::memory: return "memory";
    case LimitKind::chain: break;
  }
  return "chain";
}

std::vector<Limit> limits_of(const Problem& problem, const Placement& placement, Schedule schedule,
                             const Outcome& outcome, const Usage& usage, std::span<const simulate::PathStep> path) {
  if (!outcome.timed()) return {};
  return LimitFinder(problem, placement, schedule, outcome, usage, path).find();
}

std::vector<Limit> limits_of(const Problem& problem, const Placement& placement, Schedule schedule) {
  Usage usage;
  simulate::Timeline timeline;
  const Outcome outcome =
      simulate::make_exact_engine(problem, schedule)->evaluate(placement, {.usage = &usage, .timeline = &timeline});
  if (!outcome.timed()) return {};
  return limits_of(problem, placement, schedule, outcome, usage,
                   simulate::critical_path(problem, placement, schedule, timeline));
}

std::string limits_sentence(std::span<const Limit> limits) {
  if (limits.empty()) return "";
  std::vector<std::string> sentences;
  for (const Limit& limit : limits) sentences.push_back(limit.sentence);
  const bool one_fills =
      std::ranges::any_of(limits, [](const Limit& limit) { return limit.fills && limit.kind != LimitKind::memory; });
  return (one_fills ? "" : "no device, link or chain of ops fills the step: ") + join(sentences, "; ");
}

}  // namespace emplace::report
