#include <algorithm>
#include <exception>
#include <functional>
#include <optional>

#include "base/interrupt.hpp"
#include "dist/communicator.hpp"
#include "dist/controller.hpp"
#include "dist/failure.hpp"
#include "dist/job_archive.hpp"
#include "dist/policy_replica.hpp"
#include "dist/problem_archive.hpp"
#include "dist/stop_message.hpp"
#include "dist/wire.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::dist {

namespace {

// The problems that the master broadcast and the evaluator for them.
class WorkerContext {
 public:
  WorkerContext(const Communicator& comm, std::span<const std::byte> problems, const EvaluatorFactory& factory)
      : comm_(comm), shared_(restore_problems(problems)) {
    for (const Problem& problem : shared_.problems) pointers_.push_back(&problem);
    evaluator_ = factory(shared_.evaluator, {pointers_, shared_.scoring, comm.rank()});
  }

  PieceOutcomes evaluate(const Piece& piece) {
    const double start = mpi::now();
    std::vector<evaluate::EvaluationJob> jobs;
    jobs.reserve(piece.placements.size());
    std::vector<std::string> messages(piece.placements.size());
    PieceOutcomes answer{.begin = piece.begin, .seconds = 0, .outcomes = {}, .starts = {}, .messages = {}};
    if (std::ranges::find(piece.wants_starts, 1) != piece.wants_starts.end())
      answer.starts.resize(piece.placements.size());
    for (std::size_t i = 0; i < piece.placements.size(); ++i)
      jobs.push_back({piece.problems[i], &piece.placements[i], piece.wants_starts[i] ? &answer.starts[i] : nullptr,
                      piece.series[i], &messages[i]});
    answer.outcomes = evaluator_->evaluate(jobs);
    EMPLACE_CHECK(answer.outcomes.size() == jobs.size());
    if (std::ranges::any_of(messages, [](const std::string& message) { return !message.empty(); }))
      answer.messages = std::move(messages);
    answer.seconds = mpi::now() - start;
    return answer;
  }

  [[nodiscard]] std::unique_ptr<PolicyReplica> copy_policy(std::span<const std::byte> plan) const {
    return std::make_unique<PolicyReplica>(comm_, plan, pointers_, *evaluator_);
  }

  [[nodiscard]] ControllerTask controller_task(const EvaluatorFactory& factory) const {
    return {pointers_, shared_.scoring, shared_.evaluator, factory};
  }

  SentPolished polish(const SentPolish& sent) {
    if (!polisher_) polisher_.emplace(pointers_, shared_.scoring.schedule);
    return {sent.index, polisher_->polish(sent.job)};
  }

  SentAnswer run(const SentJob& sent) {
    search::PlacerRequest request;
    request.problem = pointers_.at(0);
    request.schedule = shared_.scoring.schedule;
    request.objective = shared_.scoring.objective;
    request.pipeline = shared_.scoring.pipeline;
    request.seconds = sent.seconds;
    request.evaluator = evaluator_.get();
    if (sent.start) request.start = &*sent.start;
    StopMessage stop(comm_);
    request.stop = std::ref(stop);
    return {sent.index, search::run_job(request, sent.job)};
  }

 private:
  const Communicator& comm_;
  SharedProblems shared_;
  std::vector<const Problem*> pointers_;
  std::unique_ptr<evaluate::Evaluator> evaluator_;
  std::optional<search::Polisher> polisher_;  // made when it is first needed
};

// What a worker does until it is released.
class Service {
 public:
  Service(World& world, const EvaluatorFactory& factory)
      : world_(world), comm_(world.communicator()), factory_(factory) {}

  // One message of the master.
  void handle(const Arrival& arrival) {
    switch (arrival.tag) {
      case Tag::problems:
        copy_.reset();
        context_.reset();
        context_ = std::make_unique<WorkerContext>(comm_, comm_.receive_broadcast(arrival), factory_);
        break;
      case Tag::policy: copy_ = context().copy_policy(comm_.receive_broadcast(arrival)); break;
      case Tag::parameters: copy().take_parameters(comm_.receive_broadcast(arrival)); break;
      case Tag::request: copy().take_request(comm_.receive_broadcast(arrival)); break;
      case Tag::samples:
        unless_stopped([&, message = comm_.receive<std::byte>(arrival)] { copy().draw(message); });
        break;
      case Tag::chunks:
        unless_stopped([&, message = comm_.receive<std::byte>(arrival)] { copy().compute(message); });
        break;
      case Tag::placements:
        unless_stopped([&, message = comm_.receive<std::byte>(arrival)] {
          const PieceOutcomes answer = context().evaluate(unpack_piece(message));
          comm_.send(std::span<const std::byte>(pack_outcomes(answer)), master, Tag::outcomes);
        });
        break;
      case Tag::job: {
        const SentAnswer answer = context().run(unpack_job(comm_.receive<std::byte>(arrival)));
        comm_.send(std::span<const std::byte>(pack(answer)), master, Tag::answer);
        break;
      }
      case Tag::polish:
        unless_stopped([&, message = comm_.receive<std::byte>(arrival)] {
          const SentPolished answer = context().polish(unpack_polish(message));
          comm_.send(std::span<const std::byte>(pack(answer)), master, Tag::polished);
        });
        break;
      case Tag::controllers: {
        const Controllership part(world_, comm_.receive_broadcast(arrival));
        part.work(context().controller_task(factory_));
        break;
      }
      case Tag::stop: static_cast<void>(comm_.receive<std::byte>(arrival)); break;  // it has ended already
      default: EMPLACE_CHECK(false, "the master sent tag {}", static_cast<int>(arrival.tag));
    }
  }

  // Receives a message and drops it.
  void ignore(const Arrival& arrival) const {
    if (arrival.tag == Tag::controllers) {  // the other ranks wait for this one to take part
      Controllership(world_, comm_.receive_broadcast(arrival)).leave(factory_);
      return;
    }
    const bool is_broadcast =
        arrival.tag == Tag::policy || arrival.tag == Tag::parameters || arrival.tag == Tag::request;
    static_cast<void>(is_broadcast ? comm_.receive_broadcast(arrival) : comm_.receive<std::byte>(arrival));
  }

 private:
  // A piece of work that ends early, without its result, if the master says stop.
  template <class Work>
  void unless_stopped(const Work& work) const {
    try {
      const Interruptible interruptible{StopMessage(comm_)};
      work();
    } catch (const Interrupted&) {
      comm_.send(std::span<const std::byte>(), master, Tag::interrupted);
    }
  }

  WorkerContext& context() {
    EMPLACE_CHECK(context_ != nullptr, "work before any problem");
    return *context_;
  }
  PolicyReplica& copy() {
    EMPLACE_CHECK(copy_ != nullptr, "learning before any policy");
    return *copy_;
  }

  World& world_;
  const Communicator& comm_;
  const EvaluatorFactory& factory_;
  std::unique_ptr<WorkerContext> context_;
  std::unique_ptr<PolicyReplica> copy_;
};

}  // namespace

int serve(World& world, const EvaluatorFactory& factory) {
  EMPLACE_CHECK(!world.is_master(), "serve() was called on rank 0");
  const Communicator& comm = world.communicator();
  Service service(world, factory);
  bool failed = false;  // until the next problems come
  std::uint64_t evaluator = 0;
  while (true) {
    try {
      const Arrival arrival = comm.wait(master);
      if (arrival.tag == Tag::release) {
        const int exit_code = comm.receive<std::int32_t>(arrival).at(0);
        world.job_fails_ = exit_code != static_cast<int>(ExitCode::done);
        return exit_code;
      }
      if (arrival.tag == Tag::problems) {
        failed = false;
        ++evaluator;
      }
      if (failed)
        service.ignore(arrival);
      else
        service.handle(arrival);
    } catch (...) {
      if (!world.is_part()) end_job(world);
      const auto [code, message] = explain_exception(world);
      comm.send(std::span<const std::byte>(pack_failure(evaluator, code, message)), master, Tag::failed);
      failed = true;
    }
  }
}

}  // namespace emplace::dist
