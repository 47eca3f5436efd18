#include "dist/groups.hpp"

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "dist/communicator.hpp"
#include "dist/idle.hpp"

namespace emplace::dist {

namespace {

constexpr int coordinator = 0;

std::span<const std::byte> as_message(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string receive_text(const Communicator& comm, const Arrival& arrival) {
  const std::vector<std::byte> bytes = comm.receive<std::byte>(arrival);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The number of a rank's group: 0 for the coordinator, 1, 2, ... for the groups; each idle rank has a number of its
// own.
std::size_t group_of(std::size_t rank, std::size_t ranks_per_group, const GroupSizes& sizes) {
  if (rank == coordinator) return 0;
  const std::size_t group = 1 + (rank - 1) / ranks_per_group;
  return group <= sizes.groups ? group : sizes.groups + rank;
}

// Does tasks until rank 0 releases this group.
void work_as_master(const Communicator& comm, World& part, const GroupTask& work) {
  while (true) {
    const Arrival arrival = comm.wait(coordinator);
    if (arrival.tag == Tag::release) {
      static_cast<void>(comm.receive<std::int32_t>(arrival));
      return;
    }
    if (arrival.tag == Tag::stop) {  // the task ended before the message arrived
      static_cast<void>(comm.receive<std::byte>(arrival));
      continue;
    }
    EMPLACE_CHECK(arrival.tag == Tag::task, "rank 0 sent tag {}", static_cast<int>(arrival.tag));
    bool stopped = false;
    const auto stop = [&] {  // a release ends the task too; it is not received here, but in the loop above
      if (!stopped && comm.poll(coordinator)) stopped = true;
      return stopped;
    };
    const std::string answer = work(part, receive_text(comm, arrival), stop);
    comm.send(as_message(answer), coordinator, Tag::task_answer);
  }
}

}  // namespace

GroupSizes group_sizes(std::size_t ranks, std::size_t ranks_per_group) {
  EMPLACE_CHECK(ranks > 0 && ranks_per_group > 0);
  return {(ranks - 1) / ranks_per_group, (ranks - 1) % ranks_per_group};
}

namespace {

void work_until_released(World& world, const GroupTask& work) {
  const Communicator& comm = world.communicator();
  const Arrival first = comm.wait(coordinator);
  if (first.tag == Tag::release) {
    static_cast<void>(comm.receive<std::int32_t>(first));
    return;
  }
  EMPLACE_CHECK(first.tag == Tag::groups, "rank 0 sent tag {}", static_cast<int>(first.tag));
  const auto ranks_per_group = static_cast<std::size_t>(comm.receive<std::uint64_t>(first).at(0));
  const GroupSizes sizes = group_sizes(static_cast<std::size_t>(world.size()), ranks_per_group);
  const std::size_t group = group_of(static_cast<std::size_t>(world.rank()), ranks_per_group, sizes);
  const auto part = world.split(static_cast<int>(group));
  if (group > sizes.groups) {
    static_cast<void>(comm.receive<std::int32_t>(comm.wait(coordinator)));
  } else if (part->is_master()) {
    work_as_master(comm, *part, work);
  } else {
    serve(*part);
  }
}

}  // namespace

void work_in_group(World& world, const GroupTask& work) {
  try {
    work_until_released(world, work);
  } catch (const std::exception& error) {  // else rank 0 would wait for ever
    log::write(log::Level::error, fmt::format("rank {} on {}: {}", world.rank(), host_name(), error.what()));
    world.abort(static_cast<int>(ExitCode::failure));
  }
}

Groups::Groups(World& world, std::size_t ranks_per_group)
    : world_(world),
      ranks_per_group_(ranks_per_group),
      busy_(group_sizes(static_cast<std::size_t>(world.size()), ranks_per_group).groups, false) {
  EMPLACE_CHECK(world.is_master() && !busy_.empty());
  const auto size = static_cast<std::uint64_t>(ranks_per_group);
  for (int rank = 1; rank < world.size(); ++rank) world.communicator().send(std::span(&size, 1), rank, Tag::groups);
  part_ = world.split(0);
}

Groups::~Groups() {
  try {
    const std::int32_t done = 0;
    const auto release = [&](int rank) { world_.communicator().send(std::span(&done, 1), rank, Tag::release); };
    for (std::size_t group = 0; group < count(); ++group) release(master_of(group));
    for (int rank = master_of(count()); rank < world_.size(); ++rank) release(rank);
    while (working() > 0) static_cast<void>(answer(1));
  } catch (const std::exception&) {
    world_.abort(static_cast<int>(ExitCode::failure));  // else the groups would wait for ever
  }
}

int Groups::master_of(std::size_t group) const { return static_cast<int>(1 + group * ranks_per_group_); }

std::optional<std::size_t> Groups::idle() const {
  const auto found = std::ranges::find(busy_, false);
  if (found == busy_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - busy_.begin());
}

std::size_t Groups::working() const { return static_cast<std::size_t>(std::ranges::count(busy_, true)); }

void Groups::give(std::size_t group, const std::string& task) {
  EMPLACE_CHECK(!busy_.at(group));
  world_.communicator().send(as_message(task), master_of(group), Tag::task);
  busy_[group] = true;
}

std::optional<std::string> Groups::answer(double seconds) {
  const Communicator& comm = world_.communicator();
  const double start = mpi::now();
  for (Idle idle;; idle.wait()) {
    if (const std::optional<Arrival> arrival = comm.poll(Communicator::any_source)) {
      EMPLACE_CHECK(arrival->tag == Tag::task_answer, "rank {} sent tag {}", arrival->source,
                    static_cast<int>(arrival->tag));
      busy_.at((static_cast<std::size_t>(arrival->source) - 1) / ranks_per_group_) = false;
      return receive_text(comm, *arrival);
    }
    if (mpi::now() - start >= seconds) return std::nullopt;
  }
}

void Groups::stop() {
  for (std::size_t group = 0; group < count(); ++group)
    if (busy_[group]) world_.communicator().send(std::span<const std::byte>(), master_of(group), Tag::stop);
}

void hand_out(Groups& groups, const Jobs& jobs) {
  bool stopping = false;
  const auto stop = [&] {
    if (!std::exchange(stopping, true)) groups.stop();
  };
  while (true) {
    if (!stopping && jobs.ends_early()) stop();
    if (!stopping)
      while (const auto group = groups.idle()) {
        const std::optional<std::string> task = jobs.next();
        if (!task) break;
        groups.give(*group, *task);
      }
    if (groups.working() == 0) return;
    if (const auto answer = groups.answer(0.1); answer && !jobs.take(*answer)) stop();
    jobs.tick();
  }
}

}  // namespace emplace::dist
