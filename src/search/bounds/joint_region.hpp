// The ops near one op v that is on a device d: those for whose results v would wait if they were elsewhere. How early
// can v start? (joint_times.hpp)
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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

  // `never` if the op cannot be on d, or only there.
  struct Op {
    Ticks end_on, end_off;    // earliest end on d, elsewhere
    Ticks time_on, time_off;  // time on d, least time elsewhere
    Ticks start_off;          // earliest start elsewhere; may be on another device than the earliest end
  };
  // From the last op to one that comes after it: the quickest transfers into d and out of it; `never` if the two ops
  // are on one device in every feasible placement.
  struct Arc {
    std::uint32_t to;
    Ticks in, out;
  };

  // `speed_off`: all devices but d together get at most speed_off / speed_unit seconds of `time_off` done in a second.
  static constexpr std::int64_t speed_unit = 1024;
  void clear(std::int64_t speed_off);
  // Ops are added one by one, each before the ops that it needs, with its arcs.
  void begin_op(const Op& op);
  void add_arc(const Arc& arc);
  // Whether v starts after `start` if the op is not on d. If not, the op is left out again.
  bool keep_op(Ticks start);
  [[nodiscard]] std::size_t size() const { return ops_.size(); }

  // v cannot start sooner; at least `start`. A start is refuted if some op can then be neither on d nor elsewhere, or
  // if the ops that can only be on d take longer; then by trying both sides of an op, up to `branches` times.
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
  void sweep();
  void rest(std::size_t u);

  std::vector<Op> ops_;
  std::vector<Arc> arcs_;
  std::vector<std::size_t> first_arc_{0};
  std::vector<Times> times_;
  std::vector<Side> side_;
  std::vector<Job> jobs_;
  std::int64_t speed_off_ = speed_unit;
  int branches_ = 0, branched_ = 0;
};

}  // namespace emplace::search
