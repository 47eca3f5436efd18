// m-ETF and m-SCT with one list of the ready ops for each device, as the papers describe them: the reference for
// src/search/list/earliest_task.cpp, which lists most ops once for all devices.
#pragma once

#include <algorithm>
#include <queue>

#include "emplace/base/error.hpp"
#include "search/list/earliest_task.hpp"
#include "search/list/partial_schedule.hpp"

namespace emplace::search::plain {

struct Waiting {
  Ticks ready;
  Ticks level;  // of ops that are equally early, the one with the longest way to the end comes first
  std::uint32_t op;
  friend bool operator>(const Waiting& a, const Waiting& b) {
    if (a.ready != b.ready) return a.ready > b.ready;
    return a.level != b.level ? a.level < b.level : a.op > b.op;
  }
};
using Queue = std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>;

struct DeviceQueues {
  Queue later;            // by the time at which their data arrive here
  Queue now;              // their data had arrived when the device became free; `ready` is 0 for all
  Queue everywhere;       // only with favourites: by the time at which their data could be on every device
  Ticks awake_until = 0;  // the device is kept for `awaited` until then
  std::uint32_t awaited = 0;
};

class EarliestTaskFirst {
 public:
  EarliestTaskFirst(const Problem& problem, const Units& units, MemoryView view,
                    const std::vector<std::uint32_t>& favourite)
      : problem_(problem),
        units_(units),
        favourite_(favourite),
        schedule_(problem, units, view, accelerators(problem)),
        queues_(units.devices),
        level_(problem.op_count(), 0),
        waits_(problem.op_count()),
        entries_(problem.op_count(), 0) {
    for (auto op = problem.topological.rbegin(); op != problem.topological.rend(); ++op) {
      for (const std::uint32_t tensor : problem.outputs[*op])
        for (const std::uint32_t consumer : problem.consumers[tensor])
          level_[*op] = std::max(level_[*op], level_[consumer]);
      const std::uint32_t unit = units.grouping.unit_of_op[*op];
      level_[*op] += problem.op_time[*op * units.devices + units.fastest[unit]];
    }
  }

  ListPlacement run(const Deadline& deadline) {
    for (std::uint32_t op = 0; op < problem_.op_count(); ++op) {
      waits_[op] = static_cast<std::uint32_t>(problem_.inputs[op].size());
      if (waits_[op] == 0) enqueue(op);
    }
    PacedDeadline time(deadline);
    while (schedule_.placed_count() < problem_.op_count() && !time.passed()) place_next();
    return list_placement(schedule_);
  }

 private:
  struct Choice {
    Ticks start = std::numeric_limits<Ticks>::max();
    Ticks level = 0;
    std::uint32_t op = 0;
    std::uint8_t device = 0;
    [[nodiscard]] bool before(const Choice& other) const {
      if (start != other.start) return start < other.start;
      return level != other.level ? level > other.level : device < other.device;
    }
  };

  [[nodiscard]] bool has_favourites() const { return !favourite_.empty(); }

  void enqueue(std::uint32_t op) {
    const auto candidates = schedule_.candidates(op);
    entries_[op] = static_cast<std::uint32_t>(candidates.size());
    Ticks everywhere = 0;
    for (const std::uint8_t device : candidates) {
      const Ticks ready = schedule_.ready(op, device);
      everywhere = std::max(everywhere, ready);
      queues_[device].later.push({ready, level_[op], op});
    }
    if (has_favourites())
      for (const std::uint8_t device : candidates) queues_[device].everywhere.push({everywhere, level_[op], op});
  }

  // Whether the op may still go there: it is not placed, its group is not on another device, and there is memory left.
  bool is_open(std::uint32_t op, std::uint8_t device) {
    return !schedule_.is_placed(op) && schedule_.is_candidate(op, device);
  }

  void drop_closed(Queue& queue, std::uint8_t device) {
    for (; !queue.empty() && !is_open(queue.top().op, device); queue.pop()) {
      const std::uint32_t op = queue.top().op;
      if (&queue != &queues_[device].everywhere && !schedule_.is_placed(op) && --entries_[op] == 0) lost_.push_back(op);
    }
  }

  Choice best_on(std::uint8_t device) {
    DeviceQueues& queues = queues_[device];
    const Ticks free = schedule_.end(device);
    for (drop_closed(queues.later, device); !queues.later.empty() && queues.later.top().ready <= free;
         drop_closed(queues.later, device)) {
      const Waiting top = queues.later.top();
      queues.later.pop();
      queues.now.push({0, top.level, top.op});
    }
    drop_closed(queues.now, device);
    Choice best;
    const auto consider = [&](Ticks start, const Waiting& op) {
      const Choice choice{start, op.level, op.op, device};
      if (choice.before(best)) best = choice;
    };
    const bool awake = queues.awake_until > free && !schedule_.is_placed(queues.awaited);
    const Ticks from = awake ? queues.awake_until : free;
    if (!queues.now.empty()) consider(from, queues.now.top());
    if (!queues.later.empty()) consider(std::max(from, queues.later.top().ready), queues.later.top());
    if (!awake) return best;
    if (waits_[queues.awaited] == 0 && is_open(queues.awaited, device))
      consider(std::max(free, schedule_.ready(queues.awaited, device)),
               {0, std::numeric_limits<Ticks>::max(), queues.awaited});
    drop_closed(queues.everywhere, device);
    if (!queues.everywhere.empty()) consider(std::max(free, queues.everywhere.top().ready), queues.everywhere.top());
    return best;
  }

  void place_next() {
    Choice best;
    do {
      for (std::size_t d = 0; d < units_.devices; ++d) {
        const Choice choice = best_on(static_cast<std::uint8_t>(d));
        if (choice.before(best)) best = choice;
      }
      EMPLACE_CHECK(best.start != Choice().start || !lost_.empty(), "no op can start");
      for (const std::uint32_t op : lost_) enqueue(op);
      lost_.clear();
    } while (best.start == Choice().start);
    schedule_.place(best.op, best.device, best.start);
    keep_for_favourite(best.op, best.device);
    for (const std::uint32_t tensor : problem_.outputs[best.op])
      for (const std::uint32_t consumer : problem_.consumers[tensor])
        if (--waits_[consumer] == 0) enqueue(consumer);
  }

  void keep_for_favourite(std::uint32_t op, std::uint8_t device) {
    if (!has_favourites()) return;
    DeviceQueues& queues = queues_[device];
    queues.awake_until = 0;
    if (favourite_[op] >= problem_.op_count()) return;
    queues.awaited = favourite_[op];
    Ticks travel = 0;
    for (const std::uint32_t tensor : problem_.outputs[op])
      for (std::size_t cls = 0; cls < problem_.route_classes.size(); ++cls)
        travel = std::max(travel, problem_.transfer_time[tensor * problem_.route_classes.size() + cls]);
    queues.awake_until = schedule_.end(device) + travel;
  }

  const Problem& problem_;
  const Units& units_;
  const std::vector<std::uint32_t>& favourite_;
  PartialSchedule schedule_;
  std::vector<DeviceQueues> queues_;    // D
  std::vector<Ticks> level_;            // N
  std::vector<std::uint32_t> waits_;    // N
  std::vector<std::uint32_t> entries_;  // N: number of queues `later` and `now` that have the ready op
  std::vector<std::uint32_t> lost_;     // ready ops dropped from all queues because of memory or their group
};

}  // namespace emplace::search::plain
