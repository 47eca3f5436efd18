#include "dist/controller.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/interrupt.hpp"
#include "base/not_finite.hpp"
#include "dist/communicator.hpp"
#include "dist/policy_archive.hpp"
#include "dist/stop_message.hpp"
#include "evaluate/command/reporting_evaluator.hpp"
#include "learn/learner.hpp"

namespace emplace::dist {

namespace {

// Programs that measure get this rank, because numbers within a group are not unique (EMPLACE_RANK, docs/formats.md).
EvaluatorFactory with_rank(const EvaluatorFactory& factory, int rank) {
  return [&factory, rank](const evaluate::EvaluatorChoice& choice, evaluate::EvaluatorSetup setup) {
    setup.rank = rank;
    return factory(choice, setup);
  };
}

// With its workers, or in this process if it has none. Only the controller can tell why a placement was not measured.
std::unique_ptr<evaluate::Evaluator> evaluator_of_controller(World& part, const ControllerTask& task) {
  auto evaluator = make_mpi_evaluator(part, task.problems, task.scoring, task.choice, task.factory);
  return evaluate::entry_of(task.choice).measures ? evaluate::make_reporting_evaluator(std::move(evaluator))
                                                  : std::move(evaluator);
}

// A controller. Its state comes with each batch and goes with each contribution.
class Controller {
 public:
  Controller(std::size_t number, const SentControllerPlan& plan, World& part, const ControllerTask& task)
      : number_(number),
        restored_(restore_policy(plan.policy, task.problems)),
        learner_(find_entry(learn::learners(), plan.learner, "learner")
                     .make(plan.learner_options, {restored_.problems, plan.seed})),
        evaluator_(evaluator_of_controller(part, task)) {
    EMPLACE_CHECK(learner_->asynchronous() != nullptr);
  }

  learn::Contribution contribute(const SentBatch& batch) {
    policy::Policy& policy = *restored_.policy;
    EMPLACE_CHECK(batch.parameters.size() == policy.parameters().size());
    std::ranges::copy(batch.parameters, policy.parameters().begin());
    policy.parameters_changed();
    learn::AsynchronousLearner& learner = *learner_->asynchronous();
    learner.load_controller(number_, batch.state);
    learn::Contribution contribution;
    learn::sample_rollouts(policy, *evaluator_, restored_.problems, batch.request.request, contribution.rollouts);
    contribution.report = learner.compute(policy, contribution.rollouts, number_);
    if (contribution.report.used_samples > 0)
      contribution.gradient.assign(policy.gradient().begin(), policy.gradient().end());
    contribution.state = learner.save_controller(number_);
    return contribution;
  }

 private:
  std::size_t number_;
  RestoredPolicy restored_;
  std::unique_ptr<learn::Learner> learner_;
  std::unique_ptr<evaluate::Evaluator> evaluator_;
};

// Answers a batch, with the contribution or the reason why there is none.
void answer_batch(const Communicator& comm, Controller& controller, const Arrival& arrival) {
  const SentBatch batch = unpack_batch(comm.receive<std::byte>(arrival));
  try {
    const auto contribution = [&] {
      const Interruptible interruptible{StopMessage(comm)};
      return controller.contribute(batch);
    }();
    comm.send(std::span<const std::byte>(pack(contribution)), master, Tag::contribution);
  } catch (const Interrupted&) {
    comm.send(std::span<const std::byte>(), master, Tag::interrupted);
  } catch (const NotFinite& error) {
    comm.send(std::as_bytes(std::span(std::string_view(error.what()))), master, Tag::not_finite);
  }
}

}  // namespace

int rank_of_controller(std::size_t controller, int ranks, std::size_t controllers) {
  const auto workers = static_cast<std::size_t>(ranks) - 1;
  return static_cast<int>(1 + controller * (workers / controllers) + std::min(controller, workers % controllers));
}

std::size_t controller_of(int rank, int ranks, std::size_t controllers) {
  std::size_t controller = controllers - 1;
  while (rank_of_controller(controller, ranks, controllers) > rank) --controller;
  return controller;
}

Controllership::Controllership(World& world, std::span<const std::byte> plan)
    : world_(world),
      plan_(unpack_controller_plan(plan)),
      controller_(controller_of(world.rank(), world.size(), plan_.controllers)),
      part_(world.split(static_cast<int>(controller_) + 1)) {}

void Controllership::work(const ControllerTask& task) const {
  const EvaluatorFactory factory = with_rank(task.factory, world_.rank());
  if (!part_->is_master()) {
    serve(*part_, factory);
    return;
  }
  const Communicator& comm = world_.communicator();
  Controller controller(controller_, plan_, *part_, {task.problems, task.scoring, task.choice, factory});
  while (true) {
    const Arrival arrival = comm.wait(master);
    if (arrival.tag == Tag::release) return;
    if (arrival.tag == Tag::batch) {
      answer_batch(comm, controller, arrival);
      continue;
    }
    EMPLACE_CHECK(arrival.tag == Tag::reunite || arrival.tag == Tag::stop, "the master sent tag {}",
                  static_cast<int>(arrival.tag));
    static_cast<void>(comm.receive<std::byte>(arrival));
    if (arrival.tag == Tag::reunite) return;  // a stop came after the end of its batch
  }
}

void Controllership::leave(const EvaluatorFactory& factory) const {
  if (!part_->is_master()) serve(*part_, factory);
}

}  // namespace emplace::dist
