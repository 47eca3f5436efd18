// The ops near one op v that is on a device d: those for whose results v would wait if they were elsewhere. How early
// can v start? (joint_times.hpp)
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "search/bounds/load_weights.hpp"
#include "search/common/earliest.hpp"

namespace emplace::search {

// The end of the preemptive schedule on one machine that always runs the job of the longest tail among those that can
// run: the least largest end + tail (Jackson's rule; Carlier 1982). No schedule of the jobs on one machine is shorter.
struct Job {
  Ticks release, time, tail;
};
Ticks one_machine_bound(std::vector<Job>& jobs);

class JointRegion {
 public:
  static constexpr std::uint32_t target = std::numeric_limits<std::uint32_t>::max();  // v

  // On the devices other than d that do not share d's channel with most of them: earliest end, least time.
  struct Aside {
    Ticks end = never, time = never;
  };
  // `never` if the op cannot be on d, or only there.
  struct Op {
    Ticks end_on, end_off;      // earliest end on d, elsewhere
    Ticks time_on, time_off;    // time on d, least time elsewhere
    Ticks start_off;            // earliest start elsewhere; may be on another device than the earliest end
    Aside aside_in, aside_out;  // for transfers into d and out of it
  };
  // From the last op to one that comes after it: the quickest transfers into d and out of it; `never` if the two ops
  // are on one device in every feasible placement.
  struct Arc {
    std::uint32_t to;
    Ticks in, out;
    std::uint32_t tensor;
  };

  // `speed_off`: all devices but d together get at most speed_off / speed_unit seconds of `time_off` done in a second.
  static constexpr std::int64_t speed_unit = 1024;
  // in_turns (out_turns): whether transfers into (out of) d from (to) one device are made one after the other.
  void clear(std::int64_t speed_off, bool in_turns, bool out_turns);
  // Ops are added one by one, each before the ops that it needs, with its arcs.
  void begin_op(const Op& op);
  void add_arc(const Arc& arc);
  // Whether v starts after `start` if the op is not on d. If not, the op is left out again.
  bool keep_op(Ticks start);
  [[nodiscard]] std::size_t size() const { return ops_.size(); }

  // v cannot start sooner; at least `start`. A start is refuted if some op can then be neither on d nor elsewhere, or
  // if the ops that can only be on d take longer, or the transfers that are then needed; then by trying both sides of
  // an op, up to `branches` times.
  Ticks earliest(Ticks start, int branches);

 private:
  enum Side : std::uint8_t { open, on_d, elsewhere };
  struct Times {
    Ticks end_on, end_off;  // earliest end
    Ticks on, off;          // least time from the end to v's start
    Ticks start_off;
  };

  Ticks all_near(Ticks start);
  bool refuted(Ticks start);
  bool search(Ticks start);
  bool decide(Ticks start);
  bool crowded(Ticks start);
  bool overloaded(Ticks start, bool in);
  bool lacks_time(Ticks start, Ticks begin);
  [[nodiscard]] bool surely(const Aside& aside, std::size_t u, Ticks start) const;
  void sweep();
  void rest(std::size_t u);

  std::vector<Op> ops_;
  std::vector<Arc> arcs_;
  std::vector<std::size_t> first_arc_{0};
  std::vector<Times> times_;
  std::vector<Side> side_;
  std::vector<Job> jobs_;
  // Of joint_transfers.cpp.
  static constexpr std::uint32_t alone = std::numeric_limits<std::uint32_t>::max();
  struct Crossing {  // a transfer between d and elsewhere; those of one line take turns, but for `alone`
    std::uint32_t line, tensor;
    Job job;
  };
  struct Need {  // a tensor that is sent if op u is elsewhere
    std::uint32_t tensor, u;
    Job job;
  };
  struct Choice {  // of an op: its time on d, or that of the transfers that it needs elsewhere
    Job on{never, 0, never}, off{never, 0, never};
    bool may_on = false, may_off = false;
  };
  std::vector<Crossing> crossings_;
  std::vector<Need> needs_;
  std::vector<Choice> choices_;
  std::vector<Ticks> releases_;
  std::vector<std::pair<Ticks, Ticks>> open_;  // times of the choices that are open, on d and off it
  bool in_turns_ = false, out_turns_ = false;

  std::int64_t speed_off_ = speed_unit;
  int branches_ = 0, branched_ = 0;
};

}  // namespace emplace::search
