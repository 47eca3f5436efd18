#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "dist/clients.hpp"
#include "dist/communicator.hpp"
#include "dist/load_balancer.hpp"
#include "dist/problem_archive.hpp"
#include "dist/wire.hpp"
#include "dist/work_pool.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::dist {

namespace {

// Shorter pieces are not worth their messages: sending a piece and receiving its answer costs rank 0 a few hundredths
// of this time, and while a worker evaluates its piece, rank 0 has time for all the others.
double shortest_piece_seconds(std::size_t workers) { return std::max(2.5e-4, 1e-5 * static_cast<double>(workers)); }
constexpr std::size_t max_piece_bytes = std::size_t{4} << 20;

// Calls a function when it goes out of scope.
template <class Function>
class Finally {
 public:
  explicit Finally(Function function) : function_(std::move(function)) {}
  ~Finally() { function_(); }
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;

 private:
  Function function_;
};

}  // namespace

class MpiEvaluator final : public evaluate::Evaluator, private WorkPool::Client {
 public:
  MpiEvaluator(World& world, std::span<const Problem* const> problems, const evaluate::Scoring& scoring,
               const evaluate::EvaluatorChoice& choice)
      : world_(world), comm_(world.communicator()), pool_(world.work_pool()), workers_(pool_.size()) {
    EMPLACE_CHECK(world.is_master() && world.has_workers(), "workers serve one evaluator, made on rank 0");
    for (const Problem* problem : problems) op_counts_.push_back(problem->op_count());
    comm_.announce(archive_problems(problems, scoring, choice), Tag::problems);
    pool_.restart();
  }

  // Workers answer the pieces that they have before they receive the release.
  ~MpiEvaluator() override {
    try {
      MpiEvaluator::cancel();
      if (!world_.is_part()) release_workers(world_, static_cast<int>(ExitCode::done));
    } catch (const std::exception&) {
      world_.abort(static_cast<int>(ExitCode::failure));
    }
  }

  void submit(std::span<const evaluate::EvaluationJob> jobs) override {
    for (const evaluate::EvaluationJob& job : jobs) {
      EMPLACE_CHECK(job.problem < op_counts_.size() && job.placement != nullptr &&
                    job.placement->device.size() == op_counts_[job.problem]);
      batch_.jobs.push_back(job);
      batch_.ops += ops_of(job);
      batch_.ops_left += ops_of(job);
    }
    batch_.outcomes.resize(batch_.jobs.size());
    pool_.attempt([&] { deal_to_idle(); });
    pool_.poll(*this);
  }

  void poll() override { pool_.poll(*this); }

  std::vector<Outcome> wait() override {
    const Finally forget([this] { forget_batch(); });
    pool_.finish(*this);
    return std::move(batch_.outcomes);
  }

  void cancel() override {
    for (evaluate::EvaluationJob& job : batch_.jobs) {
      job.starts = nullptr;
      job.message = nullptr;
    }
    pool_.fail(std::make_exception_ptr(Cancelled()));
    try {
      wait();
    } catch (const std::exception&) {  // the caller already handles an error of its own
    }
  }

  // At least four placements per worker in each part, on average, keep the workers busy while the next part is made.
  [[nodiscard]] std::size_t parts_of(std::size_t jobs) const override {
    return std::clamp<std::size_t>(jobs / (4 * workers_.size()), 1, 16);
  }

 private:
  struct Cancelled : std::exception {};

  struct Dealt {
    std::size_t begin;
    std::size_t count;
    double op_count;
  };
  struct Worker {
    std::deque<Dealt> pieces;  // in the order of the answers
  };

  struct Batch {
    std::vector<evaluate::EvaluationJob> jobs;
    std::vector<Outcome> outcomes;
    std::size_t dealt = 0;
    double ops = 0;       // of all jobs
    double ops_left = 0;  // of the jobs that are not sent to a worker yet
  };

  [[nodiscard]] double ops_of(const evaluate::EvaluationJob& job) const {
    return static_cast<double>(std::max<std::size_t>(1, op_counts_[job.problem]));
  }

  void forget_batch() {
    batch_ = {};
    for (Worker& worker : workers_) worker.pieces.clear();
  }

  // First one piece for each worker, then a second one where enough is left.
  void deal_to_idle() {
    if (pool_.failed()) return;
    for (const std::size_t round : {1, 2})
      for (std::size_t worker = 0; worker < workers_.size(); ++worker)
        if (pool_.pieces(worker) < round) deal(worker);
  }

  // While much is left, a worker gets its next piece before it has finished one; the last pieces wait until a worker is
  // idle.
  void deal(std::size_t worker) override {
    const std::size_t left = batch_.jobs.size() - batch_.dealt;
    if (left > 0 && (pool_.pieces(worker) == 0 || left > 2 * workers_.size())) send_piece(worker);
  }

  // The size of the worker's next piece, as the sum of its placements' ops; empty if the others will finish everything
  // before this worker could. The first piece is one placement (0), as its speed is not known.
  [[nodiscard]] std::optional<double> wanted(std::size_t worker) const {
    if (!balancer_.knows(worker)) return 0;
    const double amount = balancer_.amount(worker, batch_.ops_left, ops_of(batch_.jobs[batch_.dealt]));
    if (amount == 0 && pool_.pieces() > 0) return {};
    const double equal_share = batch_.ops / static_cast<double>(workers_.size());
    return std::max(amount, std::min(equal_share, balancer_.work_in(worker, shortest_piece_)));
  }

  void send_piece(std::size_t worker) {
    const std::optional<double> enough = wanted(worker);
    if (!enough) return;
    std::size_t count = 0;
    std::size_t bytes = 0;
    double ops = 0;
    do {
      const evaluate::EvaluationJob& job = batch_.jobs[batch_.dealt + count];
      ++count;
      bytes += packed_bytes(job);
      ops += ops_of(job);
    } while (batch_.dealt + count < batch_.jobs.size() && bytes < max_piece_bytes &&
             ops + ops_of(batch_.jobs[batch_.dealt + count]) <= *enough);
    workers_[worker].pieces.push_back({batch_.dealt, count, ops});
    pool_.send(worker, pack_piece(batch_.dealt, std::span(batch_.jobs).subspan(batch_.dealt, count)), Tag::placements);
    batch_.dealt += count;
    batch_.ops_left -= ops;
  }

  // Stores a piece's outcomes by index, and start times and messages for the jobs that ask for them.
  bool take(std::size_t index, const Arrival& arrival) override {
    EMPLACE_CHECK(arrival.tag == Tag::outcomes, "rank {} sent tag {}", arrival.source, static_cast<int>(arrival.tag));
    PieceOutcomes answer = unpack_outcomes(comm_.receive<std::byte>(arrival));
    Worker& worker = workers_[index];
    EMPLACE_CHECK(!worker.pieces.empty() && worker.pieces.front().begin == answer.begin &&
                      worker.pieces.front().count == answer.outcomes.size(),
                  "rank {} answered another piece", arrival.source);
    const std::span<const evaluate::EvaluationJob> jobs = batch_.jobs;
    std::copy(answer.outcomes.begin(), answer.outcomes.end(),
              batch_.outcomes.begin() + static_cast<std::ptrdiff_t>(answer.begin));
    for (std::size_t i = 0; i < answer.starts.size(); ++i)
      if (std::vector<Ticks>* const wanted = jobs[answer.begin + i].starts) *wanted = std::move(answer.starts[i]);
    for (std::size_t i = 0; i < answer.messages.size(); ++i)
      if (std::string* const wanted = jobs[answer.begin + i].message; wanted != nullptr && !answer.messages[i].empty())
        *wanted = std::move(answer.messages[i]);
    balancer_.took(index, worker.pieces.front().op_count, answer.seconds);
    worker.pieces.pop_front();
    return true;
  }

  World& world_;
  Communicator& comm_;
  WorkPool& pool_;
  std::vector<std::size_t> op_counts_;  // of each problem
  std::vector<Worker> workers_;
  double shortest_piece_ = shortest_piece_seconds(workers_.size());
  LoadBalancer balancer_{workers_.size()};  // work is counted in ops
  Batch batch_;
};

std::unique_ptr<evaluate::Evaluator> make_mpi_evaluator(World& world, std::span<const Problem* const> problems,
                                                        evaluate::Scoring scoring,
                                                        const evaluate::EvaluatorChoice& choice,
                                                        const EvaluatorFactory& factory) {
  if (world.size() == 1) return factory(choice, {problems, scoring});
  return std::make_unique<MpiEvaluator>(world, problems, scoring, choice);
}

}  // namespace emplace::dist
