#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

#include "dist/communicator.hpp"
#include "dist/failure.hpp"
#include "dist/load_balancer.hpp"
#include "dist/problem_archive.hpp"
#include "dist/wire.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::dist {

namespace {

// Less is not worth dividing: what a piece and its answer cost rank 0 is a few hundredths of that, and while a worker
// is at its piece, rank 0 has time for all the others.
double shortest_piece_seconds(std::size_t workers) { return std::max(2.5e-4, 1e-5 * static_cast<double>(workers)); }
constexpr std::size_t max_piece_bytes = std::size_t{4} << 20;

}  // namespace

class MpiEvaluator final : public evaluate::Evaluator {
 public:
  MpiEvaluator(World& world, std::span<const Problem* const> problems, const evaluate::Scoring& scoring,
               const evaluate::EvaluatorChoice& choice)
      : world_(world), comm_(world.communicator()), workers_(static_cast<std::size_t>(world.size()) - 1) {
    EMPLACE_CHECK(world.is_master() && world.has_workers(), "workers serve one evaluator, made on rank 0");
    for (const Problem* problem : problems) op_counts_.push_back(problem->op_count());
    comm_.announce(archive_problems(problems, scoring, choice), Tag::problems);
    ++world_.evaluators_;
  }

  ~MpiEvaluator() override {
    try {
      // Only an exception on its way out of evaluate() leaves pieces behind; workers answer them before they see the
      // release.
      std::vector<Outcome> ignored(batch_size_);
      while (in_flight_ > 0) {
        const Arrival arrival = comm_.wait(Communicator::any_source);
        if (arrival.tag == Tag::failed)
          give_up(arrival);
        else
          receive(arrival, ignored, {});
      }
      if (!world_.is_part()) release_workers(world_, static_cast<int>(ExitCode::done));
    } catch (const std::exception&) {
      world_.abort(static_cast<int>(ExitCode::failure));
    }
  }

  std::vector<Outcome> evaluate(std::span<const evaluate::EvaluationJob> jobs) override {
    bool given = false;
    return evaluate_while([&](std::vector<evaluate::EvaluationJob>& list) {
      if (!given) list.assign(jobs.begin(), jobs.end());
      return !std::exchange(given, true);
    });
  }

  std::vector<Outcome> evaluate_while(const MoreJobs& more) override {
    if (lost_worker_) std::rethrow_exception(lost_worker_);
    Batch batch;
    try {
      while (!failure_ && more(batch.jobs)) {
        take_in(batch);
        deal_to_idle(batch);
        while (const auto arrival = comm_.poll(Communicator::any_source)) take(*arrival, batch);
      }
    } catch (...) {  // what is under way belongs to no later batch
      failure_ = std::current_exception();
    }
    while (in_flight_ > 0) take(comm_.wait(Communicator::any_source), batch);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return std::move(batch.outcomes);
  }

  // Four placements a part and worker in the mean keep it busy while the next part is made.
  [[nodiscard]] std::size_t parts_of(std::size_t jobs) const override {
    return std::clamp<std::size_t>(jobs / (4 * workers_.size()), 1, 16);
  }

 private:
  struct Dealt {
    std::size_t begin;
    std::size_t count;
    double op_count;
    Sending message;
  };
  struct Worker {
    std::deque<Dealt> pieces;  // in the order in which it will answer
  };

  struct Batch {
    std::vector<evaluate::EvaluationJob> jobs;
    std::vector<Outcome> outcomes;
    std::size_t dealt = 0;
    double ops = 0;       // of all jobs
    double ops_left = 0;  // of those that are not dealt
  };

  [[nodiscard]] double ops_of(const evaluate::EvaluationJob& job) const {
    return static_cast<double>(std::max<std::size_t>(1, op_counts_[job.problem]));
  }

  // Jobs that have come since.
  void take_in(Batch& batch) {
    for (std::size_t i = batch.outcomes.size(); i < batch.jobs.size(); ++i) {
      const evaluate::EvaluationJob& job = batch.jobs[i];
      EMPLACE_CHECK(job.problem < op_counts_.size() && job.placement != nullptr &&
                    job.placement->device.size() == op_counts_[job.problem]);
      batch.ops += ops_of(job);
      batch.ops_left += ops_of(job);
    }
    batch.outcomes.resize(batch.jobs.size());
    batch_size_ = batch.jobs.size();
  }

  // First one piece for everybody, then a second where there is enough.
  void deal_to_idle(Batch& batch) {
    for (const std::size_t round : {1, 2})
      for (Worker& worker : workers_)
        if (worker.pieces.size() < round) refill(worker, batch);
  }

  // While much is left, a worker has its next piece before it ends one; the last pieces wait for whoever is idle.
  void refill(Worker& worker, Batch& batch) {
    const std::size_t left = batch.jobs.size() - batch.dealt;
    if (left > 0 && (worker.pieces.empty() || left > 2 * workers_.size())) send_piece(worker, batch);
  }

  // A first piece is one placement, as nothing is known.
  void send_piece(Worker& worker, Batch& batch) {
    const std::size_t index = index_of(worker);
    double enough = 0;
    if (balancer_.knows(index)) {
      enough = balancer_.amount(index, batch.ops_left, ops_of(batch.jobs[batch.dealt]));
      if (enough == 0 && in_flight_ > 0) return;
      const double equal_share = batch.ops / static_cast<double>(workers_.size());
      enough = std::max(enough, std::min(equal_share, balancer_.work_in(index, shortest_piece_)));
    }
    std::size_t count = 0;
    std::size_t bytes = 0;
    double ops = 0;
    do {
      const evaluate::EvaluationJob& job = batch.jobs[batch.dealt + count];
      ++count;
      bytes += packed_bytes(job);
      ops += ops_of(job);
    } while (batch.dealt + count < batch.jobs.size() && bytes < max_piece_bytes &&
             ops + ops_of(batch.jobs[batch.dealt + count]) <= enough);
    const int rank = static_cast<int>(index) + 1;
    worker.pieces.push_back(
        {batch.dealt, count, ops,
         comm_.start_sending(pack_piece(batch.dealt, std::span(batch.jobs).subspan(batch.dealt, count)), rank,
                             Tag::placements)});
    batch.dealt += count;
    batch.ops_left -= ops;
    ++in_flight_;
  }

  [[nodiscard]] std::size_t index_of(const Worker& worker) const {
    return static_cast<std::size_t>(&worker - workers_.data());
  }

  // An answer, and more work for who sent it.
  void take(const Arrival& arrival, Batch& batch) {
    try {
      if (arrival.tag == Tag::failed) {
        give_up(arrival);
        return;
      }
      Worker& worker = receive(arrival, batch.outcomes, batch.jobs);
      if (!failure_) refill(worker, batch);
    } catch (...) {
      // A message that is out of turn or cannot be received: nobody knows what workers will send.
      end_job(world_);
    }
  }

  // Places a piece's outcomes by index, and starts and messages where `jobs` want them. Returns its worker.
  Worker& receive(const Arrival& arrival, std::vector<Outcome>& outcomes,
                  std::span<const evaluate::EvaluationJob> jobs) {
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
    balancer_.took(index_of(worker), worker.pieces.front().op_count, answer.seconds);
    worker.pieces.pop_front();
    --in_flight_;
    return worker;
  }

  // The worker answers nothing more, unless it is about an earlier evaluator of the part.
  void give_up(const Arrival& arrival) {
    const Failure failure = unpack_failure(comm_.receive<std::byte>(arrival));
    if (failure.evaluator != world_.evaluators_) return;
    failure_ = lost_worker_ = failure.exception;
    Worker& worker = workers_[static_cast<std::size_t>(arrival.source) - 1];
    in_flight_ -= worker.pieces.size();
    worker.pieces.clear();
  }

  World& world_;
  Communicator& comm_;
  std::exception_ptr failure_;          // of this batch
  std::exception_ptr lost_worker_;      // why a worker answers no more
  std::vector<std::size_t> op_counts_;  // of each problem
  std::vector<Worker> workers_;         // of ranks 1, 2, ...
  double shortest_piece_ = shortest_piece_seconds(workers_.size());
  LoadBalancer balancer_{workers_.size()};  // of ops
  std::size_t in_flight_ = 0;
  std::size_t batch_size_ = 0;
};

std::unique_ptr<evaluate::Evaluator> make_mpi_evaluator(World& world, std::span<const Problem* const> problems,
                                                        evaluate::Scoring scoring,
                                                        const evaluate::EvaluatorChoice& choice,
                                                        const EvaluatorFactory& factory) {
  if (world.size() == 1) return factory(choice, {problems, scoring});
  return std::make_unique<MpiEvaluator>(world, problems, scoring, choice);
}

}  // namespace emplace::dist
