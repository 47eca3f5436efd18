// A polish pool over MPI: each worker does one job at a time; results are stored by index.
#include "dist/clients.hpp"
#include "dist/communicator.hpp"
#include "dist/job_archive.hpp"
#include "dist/work_pool.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::dist {

namespace {

// One run of the pool.
class PolishWork final : public WorkPool::Client {
 public:
  PolishWork(Communicator& comm, WorkPool& pool, std::span<const search::PolishJob> jobs)
      : comm_(comm), pool_(pool), jobs_(jobs), results_(jobs.size()) {}

  std::vector<search::PolishResult> run() {
    for (std::size_t worker = 0; worker < pool_.size(); ++worker)
      if (!pool_.failed()) pool_.attempt([&] { deal(worker); });
    pool_.finish(*this);
    return std::move(results_);
  }

  void deal(std::size_t worker) override {
    if (next_ == jobs_.size()) return;
    pool_.send(worker, pack(SentPolish{next_, jobs_[next_]}), Tag::polish);
    ++next_;
  }

  bool take(std::size_t, const Arrival& arrival) override {
    EMPLACE_CHECK(arrival.tag == Tag::polished, "rank {} sent tag {}", arrival.source, static_cast<int>(arrival.tag));
    SentPolished answer = unpack_polished(comm_.receive<std::byte>(arrival));
    EMPLACE_CHECK(answer.index < next_, "rank {} answered another job", arrival.source);
    results_[answer.index] = std::move(answer.result);
    return true;
  }

 private:
  Communicator& comm_;
  WorkPool& pool_;
  const std::span<const search::PolishJob> jobs_;
  std::vector<search::PolishResult> results_;
  std::size_t next_ = 0;
};

class MpiPolishPool final : public search::PolishPool {
 public:
  explicit MpiPolishPool(World& world) : comm_(world.communicator()), pool_(world.work_pool()) {
    EMPLACE_CHECK(world.is_master() && world.has_workers(), "a polish pool needs an evaluator over MPI first");
  }

  std::vector<search::PolishResult> run(std::span<const search::PolishJob> jobs) override {
    return PolishWork(comm_, pool_, jobs).run();
  }

 private:
  Communicator& comm_;
  WorkPool& pool_;
};

}  // namespace

std::unique_ptr<search::PolishPool> make_mpi_polish_pool(World& world) {
  return std::make_unique<MpiPolishPool>(world);
}

}  // namespace emplace::dist
