#include "search/list/earliest_task.hpp"

#include <algorithm>
#include <span>

#include "emplace/base/error.hpp"
#include "search/list/partial_schedule.hpp"

namespace emplace::search {

namespace {

struct Waiting {
  Ticks ready;
  Ticks level;  // of ops that are equally early, the one with the longest way to the end comes first
  std::uint32_t op;
};

struct ByTime {
  bool operator()(const Waiting& a, const Waiting& b) const {
    if (a.ready != b.ready) return a.ready < b.ready;
    return a.level != b.level ? a.level > b.level : a.op < b.op;
  }
};
struct ByLevel {
  bool operator()(const Waiting& a, const Waiting& b) const {
    return a.level != b.level ? a.level > b.level : a.op < b.op;
  }
};

// A heap with the first item on top.
template <class Before>
class Queue {
 public:
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] const Waiting& top() const { return items_.front(); }
  [[nodiscard]] const std::vector<Waiting>& items() const { return items_; }  // in any order
  void push(const Waiting& item) {
    items_.push_back(item);
    std::push_heap(items_.begin(), items_.end(), after);
  }
  void pop() {
    std::pop_heap(items_.begin(), items_.end(), after);
    items_.pop_back();
  }
  void clear() { items_.clear(); }

 private:
  static bool after(const Waiting& a, const Waiting& b) { return Before()(b, a); }
  std::vector<Waiting> items_;
};

// The first of two tops, each of which may be absent.
template <class Before>
const Waiting* first_of(const Waiting* a, const Waiting* b) {
  if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
  return Before()(*b, *a) ? b : a;
}

// The ready ops that are listed for one device alone.
struct DeviceQueues {
  Queue<ByTime> later;       // by the time at which their data arrive here
  Queue<ByLevel> now;        // their data had arrived when the device became free
  Queue<ByTime> everywhere;  // only with favourites: by the time at which their data could be on every device
  Ticks awake_until = 0;     // the device is kept for `awaited` until then
  std::uint32_t awaited = 0;
};

// Ready ops that may go to every device of a set and reach most of them at one time: listing them once, and not once
// for each device, makes the schedule of many devices quick. The set has the devices that have room for every op. An op
// whose data reach a device of the set sooner is also listed there.
struct SharedQueues {
  std::vector<std::uint8_t> devices;  // the set, ascending
  std::vector<std::uint8_t> is_in;    // D
  Queue<ByTime> later;                // by the time at which their data could be on every device
  Queue<ByLevel> now;                 // that time is not after `free`
  Queue<ByTime> all;                  // only with favourites: those of both
  Ticks free = 0;                     // when the first device of the set becomes free; it only grows
};

// The first of an empty queue is null.
template <class Before>
const Waiting* top_of(const Queue<Before>& queue) {
  return queue.empty() ? nullptr : &queue.top();
}

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
    for (std::size_t unit = 0; unit < units.count(); ++unit) largest_ = std::max(largest_, units.memory(unit, view));
    share_devices();
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

  void share_devices() {
    const std::vector<std::uint8_t> preferred = accelerators(problem_);
    shared_.is_in.assign(units_.devices, 0);
    for (std::size_t d = 0; d < units_.devices; ++d) {
      if (preferred[d] == 0) continue;
      ++preferred_count_;
      if (!schedule_.has_room(static_cast<std::uint8_t>(d), largest_)) continue;
      shared_.devices.push_back(static_cast<std::uint8_t>(d));
      shared_.is_in[d] = 1;
    }
    // Members of a group follow each other to one device, so they are listed for each.
    may_share_.assign(units_.count(), 0);
    for (std::size_t unit = 0; unit < units_.count(); ++unit) {
      const std::uint8_t* const allowed = units_.grouping.allowed.data() + unit * units_.devices;
      bool all = units_.grouping.members[unit].size() == 1;
      for (std::size_t d = 0; d < units_.devices; ++d) all = all && allowed[d] >= shared_.is_in[d];
      may_share_[unit] = all ? 1 : 0;
    }
  }

  void enqueue(std::uint32_t op) {
    const bool share = !shared_.devices.empty() && may_share_[units_.grouping.unit_of_op[op]] != 0;
    const std::span<const std::uint8_t> candidates = share && shared_.devices.size() == preferred_count_
                                                         ? std::span<const std::uint8_t>(shared_.devices)
                                                         : schedule_.candidates(op);
    Ticks everywhere = 0;
    for (const std::uint8_t device : candidates) everywhere = std::max(everywhere, schedule_.ready(op, device));
    const Waiting on_all{everywhere, level_[op], op};
    entries_[op] = share ? 1 : 0;
    for (const std::uint8_t device : candidates) {
      const bool is_shared = share && shared_.is_in[device] != 0;
      const Ticks ready = schedule_.ready(op, device);
      if (!is_shared || ready != everywhere) {
        queues_[device].later.push({ready, level_[op], op});
        ++entries_[op];
      }
      if (!is_shared && has_favourites()) queues_[device].everywhere.push(on_all);
    }
    if (!share) return;
    shared_.later.push(on_all);
    if (has_favourites()) shared_.all.push(on_all);
  }

  // The device has no room for some op any more: what is shared is listed for it alone from now on. `was_free`: when it
  // became free before the op that filled it.
  void leave_shared(std::uint8_t device, Ticks was_free) {
    shared_.is_in[device] = 0;
    std::erase(shared_.devices, device);
    const auto list = [&](const Waiting& waiting) {
      if (schedule_.is_placed(waiting.op)) return;
      if (has_favourites()) queues_[device].everywhere.push(waiting);
      if (schedule_.ready(waiting.op, device) == waiting.ready) {
        if (waiting.ready <= was_free)
          queues_[device].now.push(waiting);
        else
          queues_[device].later.push(waiting);
        ++entries_[waiting.op];
      }
      if (shared_.devices.empty()) --entries_[waiting.op];
    };
    for (const Waiting& waiting : shared_.later.items()) list(waiting);
    for (const Waiting& waiting : shared_.now.items()) list(waiting);
    if (!shared_.devices.empty()) return;
    shared_.later.clear();
    shared_.now.clear();
    shared_.all.clear();
  }

  // Brings the shared queues up to date before each choice.
  void refresh_shared() {
    if (shared_.devices.empty()) return;
    Ticks free = std::numeric_limits<Ticks>::max();
    for (const std::uint8_t device : shared_.devices) free = std::min(free, schedule_.end(device));
    shared_.free = free;
    const auto drop_placed = [&](auto& queue) {
      while (!queue.empty() && schedule_.is_placed(queue.top().op)) queue.pop();
    };
    for (drop_placed(shared_.later); !shared_.later.empty() && shared_.later.top().ready <= free;
         drop_placed(shared_.later)) {
      const Waiting top = shared_.later.top();
      shared_.later.pop();
      shared_.now.push(top);
    }
    drop_placed(shared_.now);
    drop_placed(shared_.all);
  }

  // Whether the op may still go there: it is not placed, its group is not on another device, and there is memory left.
  bool is_open(std::uint32_t op, std::uint8_t device) {
    return !schedule_.is_placed(op) && schedule_.is_candidate(op, device);
  }

  template <class Before>
  void drop_closed(Queue<Before>& queue, std::uint8_t device, bool counts = true) {
    for (; !queue.empty() && !is_open(queue.top().op, device); queue.pop()) {
      const std::uint32_t op = queue.top().op;
      if (counts && !schedule_.is_placed(op) && --entries_[op] == 0) lost_.push_back(op);
    }
  }

  Choice best_on(std::uint8_t device) {
    DeviceQueues& queues = queues_[device];
    const Ticks free = schedule_.end(device);
    for (drop_closed(queues.later, device); !queues.later.empty() && queues.later.top().ready <= free;
         drop_closed(queues.later, device)) {
      const Waiting top = queues.later.top();
      queues.later.pop();
      queues.now.push(top);
    }
    drop_closed(queues.now, device);
    // Of the shared ops, those of `now` are tried on the devices that are free first: any other would start them later.
    // Where there are none, the first of `later` is that of all.
    const bool shares = shared_.is_in[device] != 0;
    const Waiting* shared_now = shares && free == shared_.free ? top_of(shared_.now) : nullptr;
    const Waiting* shared_later = shares && shared_.now.empty() ? top_of(shared_.later) : nullptr;
    if (shared_later != nullptr && shared_later->ready <= free) std::swap(shared_now, shared_later);
    Choice best;
    const auto consider = [&](Ticks start, const Waiting& op) {
      const Choice choice{start, op.level, op.op, device};
      if (choice.before(best)) best = choice;
    };
    const bool awake = queues.awake_until > free && !schedule_.is_placed(queues.awaited);
    const Ticks from = awake ? queues.awake_until : free;
    if (const Waiting* const now = first_of<ByLevel>(top_of(queues.now), shared_now)) consider(from, *now);
    if (const Waiting* const later = first_of<ByTime>(top_of(queues.later), shared_later))
      consider(std::max(from, later->ready), *later);
    if (!awake) return best;
    if (waits_[queues.awaited] == 0 && is_open(queues.awaited, device))
      consider(std::max(free, schedule_.ready(queues.awaited, device)),
               {0, std::numeric_limits<Ticks>::max(), queues.awaited});
    drop_closed(queues.everywhere, device, false);
    if (const Waiting* const first =
            first_of<ByTime>(top_of(queues.everywhere), shares ? top_of(shared_.all) : nullptr))
      consider(std::max(free, first->ready), *first);
    return best;
  }

  void place_next() {
    Choice best;
    do {
      refresh_shared();
      for (std::size_t d = 0; d < units_.devices; ++d) {
        const Choice choice = best_on(static_cast<std::uint8_t>(d));
        if (choice.before(best)) best = choice;
      }
      EMPLACE_CHECK(best.start != Choice().start || !lost_.empty(), "no op can start");
      for (const std::uint32_t op : lost_) enqueue(op);
      lost_.clear();
    } while (best.start == Choice().start);
    const Ticks was_free = schedule_.end(best.device);
    schedule_.place(best.op, best.device, best.start);
    if (shared_.is_in[best.device] != 0 && !schedule_.has_room(best.device, largest_))
      leave_shared(best.device, was_free);
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
  std::vector<std::uint32_t> entries_;  // N: number of queues `later` and `now` that have the ready op; shared: 1
  SharedQueues shared_;
  std::vector<std::uint8_t> may_share_;  // U
  std::size_t preferred_count_ = 0;
  Bytes largest_ = 0;                // memory of the largest unit
  std::vector<std::uint32_t> lost_;  // ready ops dropped from all queues because of memory or their group
};

}  // namespace

ListPlacement earliest_task_first(const Problem& problem, const Units& units, MemoryView view, const Deadline& deadline,
                                  const std::vector<std::uint32_t>& favourite) {
  return EarliestTaskFirst(problem, units, view, favourite).run(deadline);
}

}  // namespace emplace::search
