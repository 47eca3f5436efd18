// The master's end of a placer pool: one job a worker at a time, answers by index.
#include <algorithm>
#include <utility>

#include "dist/communicator.hpp"
#include "dist/idle.hpp"
#include "dist/job_archive.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::dist {

namespace {

class MpiPlacerPool final : public search::PlacerPool {
 public:
  explicit MpiPlacerPool(World& world)
      : comm_(world.communicator()), workers_(static_cast<std::size_t>(world.size()) - 1) {
    EMPLACE_CHECK(world.is_master() && world.has_workers(), "a placer pool needs an evaluator over MPI first");
  }

  [[nodiscard]] std::size_t size() const override { return workers_; }

  std::vector<std::optional<search::PoolAnswer>> run(const search::PlacerRequest& common,
                                                     std::span<const search::PoolJob> jobs) override {
    const double start = mpi::now();
    const auto elapsed = [&] { return mpi::now() - start; };
    std::vector<std::optional<search::PoolAnswer>> answers(jobs.size());
    std::vector<bool> busy(workers_, false);
    std::size_t next = 0, running = 0;
    bool stopped = false;
    const auto deal = [&](std::size_t worker) {
      const bool over = stopped || (common.seconds && elapsed() >= *common.seconds);
      if (next == jobs.size() || (next > 0 && over)) return;
      SentJob sent{next, jobs[next], {}, {common.expert.begin(), common.expert.end()}, {}};
      if (common.seconds) sent.seconds = std::max(*common.seconds - elapsed(), 1e-9);
      if (common.start != nullptr) sent.start = *common.start;
      comm_.send(std::span<const std::byte>(pack(sent)), rank_of(worker), Tag::job);
      busy[worker] = true;
      ++next;
      ++running;
    };
    const auto stop = [&] {
      if (std::exchange(stopped, true)) return;
      for (std::size_t worker = 0; worker < workers_; ++worker)
        if (busy[worker]) comm_.send(std::span<const std::byte>(), rank_of(worker), Tag::stop);
    };
    const auto receive = [&](const Arrival& arrival) {
      std::vector<std::byte> message = comm_.receive<std::byte>(arrival);
      busy[static_cast<std::size_t>(arrival.source) - 1] = false;
      --running;
      return message;
    };
    const auto work = [&] {
      for (std::size_t worker = 0; worker < workers_; ++worker) deal(worker);
      for (Idle idle; running > 0;) {
        if (!stopped && common.stop && common.stop()) stop();
        const std::optional<Arrival> arrival = comm_.poll(Communicator::any_source);
        if (!arrival) {
          idle.wait();
          continue;
        }
        idle = {};
        EMPLACE_CHECK(arrival->tag == Tag::answer, "rank {} sent tag {}", arrival->source,
                      static_cast<int>(arrival->tag));
        SentAnswer answer = unpack_answer(receive(*arrival));
        EMPLACE_CHECK(answer.index < next, "rank {} answered another job", arrival->source);
        if (answer.result) answers[answer.index] = {std::move(*answer.result), elapsed()};
        deal(static_cast<std::size_t>(arrival->source) - 1);
      }
    };
    try {
      work();
    } catch (...) {  // on its way to somebody who knows nothing of jobs that still run
      stop();
      while (running > 0) static_cast<void>(receive(comm_.wait(Communicator::any_source)));
      throw;
    }
    return answers;
  }

 private:
  [[nodiscard]] static int rank_of(std::size_t worker) { return static_cast<int>(worker) + 1; }

  Communicator& comm_;
  const std::size_t workers_;
};

}  // namespace

std::unique_ptr<search::PlacerPool> make_mpi_placer_pool(World& world) {
  return std::make_unique<MpiPlacerPool>(world);
}

}  // namespace emplace::dist
