#include "report/moves.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "emplace/problem/grouping.hpp"
#include "search/local/neighbourhood.hpp"
#include "simulate/timeline/memory_timeline.hpp"

namespace emplace::report {

namespace {

constexpr std::uint64_t fewest_simulations = 64;

// How promising it is to move a unit; rank() compares the members in order.
struct Weight {
  Bytes overflowing = 0;  // bytes that it holds at the peak of a device whose memory is too small
  bool at_fault = false;  // it makes the placement infeasible for another reason
  Ticks on_path = 0;
  bool reads_from_path = false;  // it reads a tensor that a transfer on the path moves
  Ticks running = 0;
  [[nodiscard]] auto rank() const { return std::tuple(at_fault, overflowing, on_path, reads_from_path, running); }
};

struct Candidate {
  std::uint32_t unit;
  std::uint8_t to;
};

struct Guess {
  std::uint32_t candidate;  // its position in candidates_
  Outcome outcome;
};

class MoveFinder {
 public:
  MoveFinder(const Problem& problem, const Placement& placement, Schedule schedule, const Outcome& now,
             const simulate::Timeline& timeline, std::span<const simulate::PathStep> path, const MoveLimits& limits,
             const MoveProgress& progress)
      : p_(problem),
        placement_(placement),
        schedule_(schedule),
        now_(now),
        timeline_(timeline),
        path_(path),
        limits_(limits),
        progress_(progress),
        units_(make_grouping(problem, GroupingKind::colocation)) {}

  MoveSearch run() {
    list_candidates();
    const std::uint64_t size = p_.op_count() + p_.edge_count();
    const std::uint64_t budget = std::min(limits_.simulations, std::max(limits_.work / size, fewest_simulations));
    if (search_.possible > budget && budget > 0 && now_.feasible() && simulate::incremental_supports(p_)) guess();
    candidates_.resize(std::min<std::size_t>(candidates_.size(), budget));
    simulate();
    return std::move(search_);
  }

 private:
  Weight& weight(OpId op) { return weights_[units_.unit_of_op[op.index()]]; }

  void weigh() {
    weights_.resize(units_.count());
    for (const simulate::PathStep& step : path_) {
      if (step.is_op()) {
        weight(step.op).on_path += step.duration();
        continue;
      }
      const simulate::Timeline::Transfer& transfer = timeline_.transfers[step.transfer];
      weight(p_.producer[transfer.tensor.index()]).on_path += step.duration();
      for (const std::uint32_t consumer : p_.consumers[transfer.tensor.index()])
        if (placement_.device[consumer] == transfer.to.index()) weight(OpId{consumer}).reads_from_path = true;
    }
    for (std::size_t op = 0; op < timeline_.op_end.size(); ++op)
      weight(OpId{op}).running += timeline_.op_end[op] - timeline_.op_start[op];
    weigh_faults();
    if (now_.overflow > 0) weigh_memory();
  }

  void weigh_faults() {
    if (now_.why == Infeasible::unsupported_op) weight(OpId{now_.subject}).at_fault = true;
    if (now_.why == Infeasible::missing_route) {
      weight(p_.producer[now_.subject]).at_fault = true;
      for (const std::uint32_t consumer : p_.consumers[now_.subject]) weight(OpId{consumer}).at_fault = true;
    }
    if (now_.why != Infeasible::split_group) return;
    for (std::size_t op = 0; op < p_.op_count(); ++op)
      if (p_.group[op] == GroupId{now_.subject}) weight(OpId{op}).at_fault = true;
  }

  // A copy of a tensor counts for the ops that read it: it moves with them.
  void weigh_memory() {
    const std::vector<simulate::Holding> held = simulate::holdings(p_, placement_, timeline_);
    const std::vector<simulate::DeviceMemory> memory = simulate::memory_timeline(p_, held);
    for (std::size_t d = 0; d < memory.size(); ++d) {
      if (memory[d].peak <= p_.devices[d].memory) continue;
      for (const simulate::Holding& holding : simulate::alive_at(held, DeviceId{d}, memory[d].peak_time)) {
        if (holding.kind == simulate::Holding::Kind::copy) {
          for (const std::uint32_t consumer : p_.consumers[holding.id])
            if (placement_.device[consumer] == d) weight(OpId{consumer}).overflowing += holding.bytes;
        } else {
          const bool of_op = holding.kind != simulate::Holding::Kind::output;
          weight(of_op ? OpId{holding.id} : p_.producer[holding.id]).overflowing += holding.bytes;
        }
      }
    }
  }

  // The most promising units first; the devices of each in the problem's order.
  void list_candidates() {
    weigh();
    const std::uint64_t most = std::max(limits_.guesses, limits_.simulations);
    std::vector<std::uint32_t> order(units_.count());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::uint32_t unit) { return weights_[unit].rank(); });
    for (const std::uint32_t unit : order)
      for (std::size_t d = 0; d < p_.device_count(); ++d) {
        const auto is_there = [&](std::uint32_t op) { return placement_.device[op] == d; };
        if (!units_.allows(unit, d) || std::ranges::all_of(units_.members[unit], is_there)) continue;
        ++search_.possible;
        if (candidates_.size() < most) candidates_.push_back({unit, static_cast<std::uint8_t>(d)});
      }
  }

  // Interleaves the moves with the best guessed outcomes with the list. A guess keeps the order of this run, in which
  // the critical path stays as long as it is unless one of its ops or transfers moves. So only such units are guessed.
  void guess() {
    search::Neighbourhood neighbourhood(p_, units_, schedule_);
    neighbourhood.start(placement_);
    std::vector<Guess> guesses;
    for (std::uint32_t i = 0; i < candidates_.size() && search_.guessed < limits_.guesses &&
                              neighbourhood.guessed_ops() < limits_.guessed_ops;
         ++i) {
      constexpr std::uint32_t now_and_then = 64;
      if (i % now_and_then == 0)
        tell("guessing which moves help most",
             std::max(share(search_.guessed, std::min<std::uint64_t>(limits_.guesses, candidates_.size())),
                      share(neighbourhood.guessed_ops(), limits_.guessed_ops)));
      const Weight& w = weights_[candidates_[i].unit];
      if (w.on_path == 0 && !w.reads_from_path) break;
      const Outcome outcome = neighbourhood.guess(candidates_[i].unit, candidates_[i].to);
      ++search_.guessed;
      if (better(outcome, now_)) guesses.push_back({i, outcome});
    }
    std::ranges::stable_sort(guesses, better, &Guess::outcome);
    interleave(guesses);
  }

  // Every second move comes from the list: under fifo, guesses are unreliable if many ops are ready at once
  // (search/neighbourhood.hpp), but the times by which the list is sorted are exact.
  void interleave(const std::vector<Guess>& guesses) {
    std::vector<Candidate> mixed;
    std::vector<char> taken(candidates_.size(), 0);
    const auto take = [&](std::uint32_t i) {
      if (!taken[i]) mixed.push_back(candidates_[i]);
      taken[i] = 1;
    };
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      if (i < guesses.size()) take(guesses[i].candidate);
      take(i);
    }
    candidates_ = std::move(mixed);
  }

  void simulate() {
    const auto engine = simulate::make_exact_engine(p_, schedule_);
    Placement moved = placement_;
    for (const Candidate& candidate : candidates_) {
      tell("simulating the most promising moves", share(search_.simulated, candidates_.size()));
      const auto members = units_.members[candidate.unit];
      for (const std::uint32_t op : members) moved.device[op] = candidate.to;
      const Outcome outcome = engine->evaluate(moved);
      for (const std::uint32_t op : members) moved.device[op] = placement_.device[op];
      ++search_.simulated;
      if (better(outcome, now_)) keep({{members.begin(), members.end()}, DeviceId{candidate.to}, outcome});
    }
  }

  void tell(std::string_view doing, double share_done) const {
    if (progress_) progress_(doing, share_done);
  }
  static double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  }

  // Keeps one move for each unit; among equal moves the first comes first.
  void keep(Move move) {
    auto& best = search_.best;
    const auto same = std::ranges::find(best, move.ops, &Move::ops);
    if (same != best.end()) {
      if (!better(move.outcome, same->outcome)) return;
      best.erase(same);
    }
    best.insert(std::ranges::find_if(best, [&](const Move& other) { return better(move.outcome, other.outcome); }),
                std::move(move));
    if (best.size() > limits_.wanted) best.pop_back();
  }

  const Problem& p_;
  const Placement& placement_;
  const Schedule schedule_;
  const Outcome now_;
  const simulate::Timeline& timeline_;
  const std::span<const simulate::PathStep> path_;
  const MoveLimits limits_;
  const MoveProgress& progress_;
  const Grouping units_;
  std::vector<Weight> weights_;  // of each unit
  std::vector<Candidate> candidates_;
  MoveSearch search_;
};

}  // namespace

MoveSearch find_moves(const Problem& problem, const Placement& placement, Schedule schedule, const Outcome& now,
                      const simulate::Timeline& timeline, std::span<const simulate::PathStep> path,
                      const MoveLimits& limits, const MoveProgress& progress) {
  return MoveFinder(problem, placement, schedule, now, timeline, path, limits, progress).run();
}

}  // namespace emplace::report
