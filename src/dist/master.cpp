#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

#include "communicator.hpp"
#include "emplace/dist/world.hpp"
#include "problem_archive.hpp"
#include "wire.hpp"

namespace emplace {

namespace {

// A piece should keep a worker busy this long: a hundred times what a message costs, and short enough that workers of
// different speed end together.
constexpr double piece_seconds = 4e-3;
constexpr double shortest_piece_seconds = 2.5e-4;
constexpr std::size_t max_piece_bytes = std::size_t{4} << 20;

class MpiEvaluator final : public Evaluator {
 public:
  MpiEvaluator(World& world, std::span<const Problem* const> problems, const Scoring& scoring,
               const EvaluatorChoice& choice)
      : world_(world), comm_(world.communicator()), workers_(static_cast<std::size_t>(world.size()) - 1) {
    EMPLACE_CHECK(world.is_master() && world.has_workers(), "workers serve one evaluator, made on rank 0");
    for (const Problem* problem : problems) op_counts_.push_back(problem->op_count());
    comm_.announce(archive_problems(problems, scoring, choice), Tag::problems);
  }

  ~MpiEvaluator() override {
    try {
      // Only an exception on its way out of evaluate() leaves pieces behind; workers answer them before they see the
      // release.
      std::vector<Outcome> ignored(batch_size_);
      while (in_flight_ > 0) receive(ignored, {});
      if (!world_.is_part()) release_workers(world_, static_cast<int>(ExitCode::done));
    } catch (const std::exception&) {
      world_.abort(static_cast<int>(ExitCode::failure));
    }
  }

  std::vector<Outcome> evaluate(std::span<const EvaluationJob> jobs) override {
    for (const EvaluationJob& job : jobs)
      EMPLACE_CHECK(job.problem < op_counts_.size() && job.placement != nullptr &&
                    job.placement->device.size() == op_counts_[job.problem]);
    std::vector<Outcome> outcomes(jobs.size());
    batch_size_ = jobs.size();
    std::size_t dealt = 0;
    // First one piece for everybody, then a second where there is enough.
    for (const std::size_t round : {1, 2})
      for (Worker& worker : workers_)
        if (worker.pieces.size() < round) refill(worker, jobs, dealt);
    while (in_flight_ > 0) {
      Worker& worker = receive(outcomes, jobs);
      if (!failure_) refill(worker, jobs, dealt);
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return outcomes;
  }

 private:
  struct Dealt {
    std::size_t begin;
    std::size_t count;
    double op_count;
    Sending message;
  };
  struct Worker {
    double seconds_per_op = 0;  // measured; 0: not yet
    std::deque<Dealt> pieces;   // in the order in which it will answer
  };

  // While much is left, a worker has its next piece before it ends one; the last pieces wait for whoever is idle.
  void refill(Worker& worker, std::span<const EvaluationJob> jobs, std::size_t& dealt) {
    const std::size_t left = jobs.size() - dealt;
    if (left > 0 && (worker.pieces.empty() || left > 2 * workers_.size())) send_piece(worker, jobs, dealt);
  }

  // A first piece is one placement, as nothing is known. Later ones take `piece_seconds`, but at most half of the
  // worker's share of what is left, so that all end together; and its whole share where that is not worth dividing.
  void send_piece(Worker& worker, std::span<const EvaluationJob> jobs, std::size_t& dealt) {
    const std::size_t left = jobs.size() - dealt;
    const std::size_t share = (left + workers_.size() - 1) / workers_.size();
    std::size_t count = 0;
    std::size_t bytes = 0;
    double ops = 0;
    do {
      const EvaluationJob& job = jobs[dealt + count];
      ++count;
      bytes += packed_bytes(job);
      ops += static_cast<double>(std::max<std::size_t>(1, op_counts_[job.problem]));
    } while (count < share && worker.seconds_per_op > 0 && bytes < max_piece_bytes &&
             ops * worker.seconds_per_op < (2 * count < share ? piece_seconds : shortest_piece_seconds));
    const int rank = static_cast<int>(&worker - workers_.data()) + 1;
    worker.pieces.push_back(
        {dealt, count, ops, comm_.start_sending(pack_piece(dealt, jobs.subspan(dealt, count)), rank, Tag::placements)});
    dealt += count;
    ++in_flight_;
  }

  // Waits for one piece's outcomes and places them by index, and starts and messages where `jobs` want them. Returns
  // its worker.
  Worker& receive(std::vector<Outcome>& outcomes, std::span<const EvaluationJob> jobs) {
    const Arrival arrival = comm_.wait(Communicator::any_source);
    if (arrival.tag == Tag::failed) return give_up(arrival);
    EMPLACE_CHECK(arrival.tag == Tag::outcomes, "rank {} sent tag {}", arrival.source, static_cast<int>(arrival.tag));
    PieceOutcomes answer = unpack_outcomes(comm_.receive<std::byte>(arrival));
    Worker& worker = workers_[static_cast<std::size_t>(arrival.source) - 1];
    EMPLACE_CHECK(!worker.pieces.empty() && worker.pieces.front().begin == answer.begin &&
                      worker.pieces.front().count == answer.outcomes.size(),
                  "rank {} answered another piece", arrival.source);
    std::copy(answer.outcomes.begin(), answer.outcomes.end(),
              outcomes.begin() + static_cast<std::ptrdiff_t>(answer.begin));
    if (!jobs.empty())
      for (std::size_t i = 0; i < answer.starts.size(); ++i)
        if (std::vector<Ticks>* const wanted = jobs[answer.begin + i].starts) *wanted = std::move(answer.starts[i]);
    if (!jobs.empty())
      for (std::size_t i = 0; i < answer.messages.size(); ++i)
        if (std::string* const wanted = jobs[answer.begin + i].message;
            wanted != nullptr && !answer.messages[i].empty())
          *wanted = std::move(answer.messages[i]);
    const double measured = std::max(1e-12, answer.seconds / worker.pieces.front().op_count);
    worker.seconds_per_op = worker.seconds_per_op == 0 ? measured : 0.7 * worker.seconds_per_op + 0.3 * measured;
    worker.pieces.pop_front();
    --in_flight_;
    return worker;
  }

  // The worker answers nothing more.
  Worker& give_up(const Arrival& arrival) {
    failure_ = unpack_failure(comm_.receive<std::byte>(arrival));
    Worker& worker = workers_[static_cast<std::size_t>(arrival.source) - 1];
    in_flight_ -= worker.pieces.size();
    worker.pieces.clear();
    return worker;
  }

  World& world_;
  Communicator& comm_;
  std::exception_ptr failure_;          // of a worker
  std::vector<std::size_t> op_counts_;  // of each problem
  std::vector<Worker> workers_;         // of ranks 1, 2, ...
  std::size_t in_flight_ = 0;
  std::size_t batch_size_ = 0;
};

}  // namespace

std::unique_ptr<Evaluator> make_mpi_evaluator(World& world, std::span<const Problem* const> problems, Scoring scoring,
                                              const EvaluatorChoice& choice, const EvaluatorFactory& factory) {
  if (world.size() == 1) return factory(choice, {problems, scoring});
  return std::make_unique<MpiEvaluator>(world, problems, scoring, choice);
}

}  // namespace emplace
