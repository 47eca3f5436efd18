// Groups of ranks that work in parallel: rank 0 gives tasks to the groups and receives their answers.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emplace/dist/world.hpp"

namespace emplace::dist {

// The number of groups of ranks 1, 2, ... of a job, and the number of ranks at the end that are left over and stay
// idle.
struct GroupSizes {
  std::size_t groups = 0, idle = 0;
};
GroupSizes group_sizes(std::size_t ranks, std::size_t ranks_per_group);

// Does a task and returns the answer: `part` is the group, this rank its master. `stop` returns true once the task
// should end soon.
using GroupTask = std::function<std::string(World& part, const std::string& task, const std::function<bool()>& stop)>;

// For ranks 1, 2, ...: works in a group once rank 0 has made Groups; returns when rank 0 destroys them or ends the job.
void work_in_group(World& world, const GroupTask& work);

// For rank 0. The destructor releases the groups; it stops unfinished tasks and drops their answers.
class Groups {
 public:
  // There must be enough ranks for one group.
  Groups(World& world, std::size_t ranks_per_group);
  ~Groups();
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  [[nodiscard]] std::size_t count() const { return busy_.size(); }
  // A group without a task, if there is one.
  [[nodiscard]] std::optional<std::size_t> idle() const;
  [[nodiscard]] std::size_t working() const;

  void give(std::size_t group, const std::string& task);
  // The next answer, if one comes within so many seconds.
  [[nodiscard]] std::optional<std::string> answer(double seconds);
  // Asks the groups that work to end soon; they still send an answer.
  void stop();

 private:
  [[nodiscard]] int master_of(std::size_t group) const;

  World& world_;
  std::size_t ranks_per_group_;
  std::unique_ptr<World> part_;  // contains rank 0 only
  std::vector<bool> busy_;
};

// The tasks that rank 0 gives to its groups.
struct Jobs {
  std::function<std::optional<std::string>()> next;     // the next task; empty if there is none at present
  std::function<bool(const std::string& answer)> take;  // false: no further task begins
  std::function<bool()> ends_early;                     // true: no further task begins
  std::function<void()> tick;                           // called several times a second
};
// Gives tasks to idle groups until there are none left. If no further task may begin, it asks the groups that work to
// end soon. Returns when it has taken all answers.
void hand_out(Groups& groups, const Jobs& jobs);

}  // namespace emplace::dist
