// Ranks in groups that work side by side: rank 0 hands out tasks and hears what came of them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emplace/dist/world.hpp"

namespace emplace::dist {

// How ranks 1, 2, ... of a job are divided; the last ones idle where the size does not divide their number.
struct GroupSizes {
  std::size_t groups = 0, idle = 0;
};
GroupSizes group_sizes(std::size_t ranks, std::size_t ranks_per_group);

// What a group does with a task: `part` is the group, this rank its master. `stop` says whether rank 0 wants it to end
// soon.
using GroupTask = std::function<std::string(World& part, const std::string& task, const std::function<bool()>& stop)>;

// Ranks 1, 2, ...: each in its group when rank 0 makes Groups, until it is done with them, or with the job.
void work_in_group(World& world, const GroupTask& work);

// Rank 0. Its destructor lets the groups end; a task that somebody still works on is stopped, and its answer lost.
class Groups {
 public:
  // There is at least one group.
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
  // Asks those that work to end soon; they answer all the same.
  void stop();

 private:
  [[nodiscard]] int master_of(std::size_t group) const;

  World& world_;
  std::size_t ranks_per_group_;
  std::unique_ptr<World> part_;  // of rank 0 alone
  std::vector<bool> busy_;
};

// What rank 0 has its groups do.
struct Jobs {
  std::function<std::optional<std::string>()> next;     // a task; nothing while there is none
  std::function<bool(const std::string& answer)> take;  // false: no other task begins
  std::function<bool()> ends_early;                     // once true, no other task begins either
  std::function<void()> tick;                           // called some times a second
};
// Gives tasks to groups without one until there is none left, or none is to begin; then those that are under way are
// asked to end soon, and their answers taken too.
void hand_out(Groups& groups, const Jobs& jobs);

}  // namespace emplace::dist
