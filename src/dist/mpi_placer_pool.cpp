// A placer pool over MPI: each worker runs one job at a time; answers are stored by index.
#include <algorithm>
#include <utility>

#include "dist/clients.hpp"
#include "dist/communicator.hpp"
#include "dist/job_archive.hpp"
#include "dist/work_pool.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::dist {

namespace {

// One run of the pool.
class JobWork final : public WorkPool::Client {
 public:
  JobWork(Communicator& comm, WorkPool& pool, const search::PlacerRequest& common,
          std::span<const search::PoolJob> jobs)
      : comm_(comm), pool_(pool), common_(common), jobs_(jobs), answers_(jobs.size()) {}

  std::vector<std::optional<search::PoolAnswer>> run() {
    for (std::size_t worker = 0; worker < pool_.size(); ++worker)
      if (!pool_.failed()) pool_.attempt([&] { deal(worker); });
    pool_.finish(*this, [this] {
      if (!stopped_ && (pool_.failed() || (common_.stop && common_.stop()))) stop();
    });
    return std::move(answers_);
  }

  void deal(std::size_t worker) override {
    const bool over = stopped_ || (common_.seconds && elapsed() >= *common_.seconds);
    if (next_ == jobs_.size() || (next_ > 0 && over)) return;
    SentJob sent{next_, jobs_[next_], {}, {}};
    if (common_.seconds) sent.seconds = std::max(*common_.seconds - elapsed(), 1e-9);
    if (common_.start != nullptr) sent.start = *common_.start;
    pool_.send(worker, pack(sent), Tag::job);
    ++next_;
  }

  bool take(std::size_t, const Arrival& arrival) override {
    EMPLACE_CHECK(arrival.tag == Tag::answer, "rank {} sent tag {}", arrival.source, static_cast<int>(arrival.tag));
    SentAnswer answer = unpack_answer(comm_.receive<std::byte>(arrival));
    EMPLACE_CHECK(answer.index < next_, "rank {} answered another job", arrival.source);
    if (answer.result) answers_[answer.index] = {std::move(*answer.result), elapsed()};
    return true;
  }

 private:
  [[nodiscard]] double elapsed() const { return mpi::now() - start_; }

  // Asks the running jobs to end soon; no others begin.
  void stop() {
    stopped_ = true;
    for (std::size_t worker = 0; worker < pool_.size(); ++worker)
      if (pool_.pieces(worker) > 0) comm_.send(std::span<const std::byte>(), WorkPool::rank_of(worker), Tag::stop);
  }

  Communicator& comm_;
  WorkPool& pool_;
  const search::PlacerRequest& common_;
  const std::span<const search::PoolJob> jobs_;
  std::vector<std::optional<search::PoolAnswer>> answers_;
  const double start_ = mpi::now();
  std::size_t next_ = 0;
  bool stopped_ = false;
};

class MpiPlacerPool final : public search::PlacerPool {
 public:
  explicit MpiPlacerPool(World& world) : comm_(world.communicator()), pool_(world.work_pool()) {
    EMPLACE_CHECK(world.is_master() && world.has_workers(), "a placer pool needs an evaluator over MPI first");
  }

  [[nodiscard]] std::size_t size() const override { return pool_.size(); }

  std::vector<std::optional<search::PoolAnswer>> run(const search::PlacerRequest& common,
                                                     std::span<const search::PoolJob> jobs) override {
    return JobWork(comm_, pool_, common, jobs).run();
  }

 private:
  Communicator& comm_;
  WorkPool& pool_;
};

}  // namespace

std::unique_ptr<search::PlacerPool> make_mpi_placer_pool(World& world) {
  return std::make_unique<MpiPlacerPool>(world);
}

}  // namespace emplace::dist
