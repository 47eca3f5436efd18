#include <algorithm>
#include <exception>
#include <functional>

#include "communicator.hpp"
#include "emplace/base/log.hpp"
#include "emplace/dist/world.hpp"
#include "job_archive.hpp"
#include "policy_copy.hpp"
#include "problem_archive.hpp"
#include "wire.hpp"

namespace emplace {

namespace {

constexpr int master = 0;

// Whether the master wants a job to end; it looks now and then only.
class StopMessage {
 public:
  explicit StopMessage(const Communicator& comm) : comm_(comm) {}

  bool operator()() {
    const double now = mpi::now();
    if (arrived_ || now - looked_ < 2e-3) return arrived_;
    looked_ = now;
    const std::optional<Arrival> arrival = comm_.poll(master);
    if (!arrival || arrival->tag != Tag::stop) return false;
    static_cast<void>(comm_.receive<std::byte>(*arrival));
    return arrived_ = true;
  }

 private:
  const Communicator& comm_;
  double looked_ = 0;
  bool arrived_ = false;
};

// The problems that the master broadcast and what evaluates them.
class Bench {
 public:
  Bench(const Communicator& comm, std::span<const std::byte> problems, const EvaluatorFactory& factory)
      : comm_(comm), shared_(restore_problems(problems)) {
    for (const Problem& problem : shared_.problems) pointers_.push_back(&problem);
    evaluator_ = factory(shared_.evaluator, {pointers_, shared_.scoring, comm.rank()});
  }

  PieceOutcomes evaluate(const Piece& piece) {
    const double start = mpi::now();
    std::vector<EvaluationJob> jobs;
    jobs.reserve(piece.placements.size());
    PieceOutcomes answer{.begin = piece.begin, .seconds = 0, .outcomes = {}, .starts = {}};
    if (std::ranges::find(piece.wants_starts, 1) != piece.wants_starts.end())
      answer.starts.resize(piece.placements.size());
    for (std::size_t i = 0; i < piece.placements.size(); ++i)
      jobs.push_back({piece.problems[i], &piece.placements[i], piece.wants_starts[i] ? &answer.starts[i] : nullptr,
                      piece.series[i]});
    answer.outcomes = evaluator_->evaluate(jobs);
    EMPLACE_CHECK(answer.outcomes.size() == jobs.size());
    answer.seconds = mpi::now() - start;
    return answer;
  }

  [[nodiscard]] std::unique_ptr<PolicyCopy> copy_policy(std::span<const std::byte> plan) const {
    return std::make_unique<PolicyCopy>(comm_, plan, pointers_, *evaluator_);
  }

  SentAnswer run(const SentJob& sent) {
    PlacerRequest request;
    request.problem = pointers_.at(0);
    request.schedule = shared_.scoring.schedule;
    request.objective = shared_.scoring.objective;
    request.pipeline = shared_.scoring.pipeline;
    request.seconds = sent.seconds;
    request.expert = sent.expert;
    request.evaluator = evaluator_.get();
    if (sent.start) request.start = &*sent.start;
    StopMessage stop(comm_);
    request.stop = std::ref(stop);
    return {sent.index, run_job(request, sent.job)};
  }

 private:
  const Communicator& comm_;
  SharedProblems shared_;
  std::vector<const Problem*> pointers_;
  std::unique_ptr<Evaluator> evaluator_;
};

PolicyCopy& need(const std::unique_ptr<PolicyCopy>& copy) {
  EMPLACE_CHECK(copy != nullptr, "learning before any policy");
  return *copy;
}

int serve_until_released(const Communicator& comm, const EvaluatorFactory& factory) {
  std::unique_ptr<Bench> bench;
  std::unique_ptr<PolicyCopy> copy;
  while (true) {
    const Arrival arrival = comm.wait(master);
    switch (arrival.tag) {
      case Tag::problems:
        copy.reset();
        bench = std::make_unique<Bench>(comm, comm.receive_broadcast(arrival), factory);
        break;
      case Tag::policy:
        EMPLACE_CHECK(bench != nullptr, "a policy before any problem");
        copy = bench->copy_policy(comm.receive_broadcast(arrival));
        break;
      case Tag::parameters: need(copy).take_parameters(comm.receive_broadcast(arrival)); break;
      case Tag::request: need(copy).take_request(comm.receive_broadcast(arrival)); break;
      case Tag::samples: need(copy).draw(comm.receive<std::byte>(arrival)); break;
      case Tag::chunks: need(copy).compute(comm.receive<std::byte>(arrival)); break;
      case Tag::placements: {
        EMPLACE_CHECK(bench != nullptr, "placements before any problem");
        const PieceOutcomes answer = bench->evaluate(unpack_piece(comm.receive<std::byte>(arrival)));
        comm.send(std::span<const std::byte>(pack_outcomes(answer)), master, Tag::outcomes);
        break;
      }
      case Tag::job: {
        EMPLACE_CHECK(bench != nullptr, "a job before any problem");
        const SentAnswer answer = bench->run(unpack_job(comm.receive<std::byte>(arrival)));
        comm.send(std::span<const std::byte>(pack(answer)), master, Tag::answer);
        break;
      }
      case Tag::stop: static_cast<void>(comm.receive<std::byte>(arrival)); break;  // the job had ended by then
      case Tag::release: return comm.receive<std::int32_t>(arrival).at(0);
      default: EMPLACE_CHECK(false, "the master sent tag {}", static_cast<int>(arrival.tag));
    }
  }
}

[[noreturn]] void end_job(World& world, const char* message, ExitCode code) {
  log::write(log::Level::error, fmt::format("rank {} on {}: {}", world.rank(), host_name(), message));
  world.abort(static_cast<int>(code));
}

}  // namespace

int serve(World& world, const EvaluatorFactory& factory) {
  EMPLACE_CHECK(!world.is_master(), "rank 0 serves nobody");
  try {
    const int exit_code = serve_until_released(world.communicator(), factory);
    world.job_fails_ = exit_code != static_cast<int>(ExitCode::done);
    return exit_code;
  } catch (const InputError& error) {
    end_job(world, error.what(), ExitCode::bad_input);
  } catch (const std::exception& error) {
    end_job(world, error.what(), ExitCode::failure);
  } catch (...) {
    end_job(world, "an exception of unknown type", ExitCode::failure);
  }
}

}  // namespace emplace
