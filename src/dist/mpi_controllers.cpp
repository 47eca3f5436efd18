// Asynchronous controllers over MPI: the master's end.
#include <optional>
#include <string_view>
#include <utility>

#include "base/interrupt.hpp"
#include "base/not_finite.hpp"
#include "dist/clients.hpp"
#include "dist/communicator.hpp"
#include "dist/controller.hpp"
#include "dist/failure.hpp"
#include "dist/work_pool.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::dist {

namespace {

class MpiControllers final : public learn::Controllers {
 public:
  MpiControllers(World& world, const ControllerPlan& plan)
      : world_(world), comm_(world.communicator()), plan_(pack(plan)), under_way_(plan.controllers) {
    EMPLACE_CHECK(world.is_master() && world.has_workers(), "controllers need an evaluator over MPI first");
    EMPLACE_CHECK(plan.controllers > 0 && plan.controllers < static_cast<std::size_t>(world.size()));
  }
  ~MpiControllers() override { end(); }
  MpiControllers(const MpiControllers&) = delete;
  MpiControllers& operator=(const MpiControllers&) = delete;

  [[nodiscard]] std::size_t count() const override { return under_way_.size(); }

  void give(std::size_t controller, const learn::SamplingRequest& request, const State& state,
            std::span<const float> parameters) override {
    EMPLACE_CHECK(!under_way_.at(controller));
    if (!std::exchange(begun_, true)) {
      comm_.announce(plan_, Tag::controllers);
      comm_.split(0)->free();  // the master belongs to no controller
    }
    under_way_[controller].emplace(
        comm_.start_sending(pack_batch(request, state, parameters), rank_of(controller), Tag::batch));
  }

  learn::Contribution next() override {
    while (const auto arrival = comm_.wait_unless(Communicator::any_source, stop_is_due))
      if (auto contribution = take(*arrival)) return std::move(*contribution);
    throw Interrupted();
  }

  void end() override {
    if (!std::exchange(begun_, false)) return;
    try {
      const auto send_empty = [&](std::size_t c, Tag tag) {
        comm_.send(std::span<const std::byte>(), rank_of(c), tag);
      };
      for (std::size_t c = 0; c < count(); ++c)
        if (under_way_[c]) send_empty(c, Tag::stop);
      for (std::size_t c = 0; c < count(); ++c)
        while (under_way_[c]) drop_message(c);
      for (std::size_t c = 0; c < count(); ++c) send_empty(c, Tag::reunite);
    } catch (...) {
      end_job(world_);  // else the controllers would wait for ever
    }
  }

 private:
  [[nodiscard]] int rank_of(std::size_t controller) const {
    return rank_of_controller(controller, comm_.size(), count());
  }

  // Ends the batch of a controller, whose rank sent the message.
  std::size_t end_batch(const Arrival& arrival) {
    const std::size_t controller = controller_of(arrival.source, comm_.size(), count());
    EMPLACE_CHECK(rank_of(controller) == arrival.source && under_way_[controller],
                  "rank {} sent tag {} and has no batch", arrival.source, static_cast<int>(arrival.tag));
    under_way_[controller].reset();
    return controller;
  }

  // A contribution; none for a message about earlier work. Throws the error that a message is about.
  std::optional<learn::Contribution> take(const Arrival& arrival) {
    if (arrival.tag == Tag::failed) {
      throw_failure(arrival);
      return {};
    }
    const std::vector<std::byte> message = comm_.receive<std::byte>(arrival);
    std::size_t controller = 0;
    try {
      controller = end_batch(arrival);
      EMPLACE_CHECK(arrival.tag == Tag::contribution || arrival.tag == Tag::not_finite, "rank {} sent tag {}",
                    arrival.source, static_cast<int>(arrival.tag));
    } catch (...) {
      end_job(world_);  // what the controllers will send next is unknown
    }
    if (arrival.tag == Tag::not_finite)
      throw NotFinite("{}", std::string_view(reinterpret_cast<const char*>(message.data()), message.size()));
    learn::Contribution contribution = unpack_contribution(message);
    contribution.controller = controller;
    return contribution;
  }

  [[nodiscard]] bool is_of_this_work(const Failure& failure) const {
    return failure.evaluator == world_.work_pool().announcements();
  }

  // In a part of a job: a failure of a controller or of another rank, which sends nothing more until the next problems.
  void throw_failure(const Arrival& arrival) {
    const Failure failure = unpack_failure(comm_.receive<std::byte>(arrival));
    if (!is_of_this_work(failure)) return;
    const std::size_t controller = controller_of(arrival.source, comm_.size(), count());
    if (rank_of(controller) == arrival.source) under_way_[controller].reset();
    std::rethrow_exception(failure.exception);
  }

  // The next message of a controller that was told to stop: its last one about the batch, unless it is about earlier
  // work.
  void drop_message(std::size_t controller) {
    const Arrival arrival = comm_.wait(rank_of(controller));
    const std::vector<std::byte> message = comm_.receive<std::byte>(arrival);
    if (arrival.tag != Tag::failed || is_of_this_work(unpack_failure(message))) under_way_[controller].reset();
  }

  World& world_;
  Communicator& comm_;
  const std::vector<std::byte> plan_;
  std::vector<std::optional<Sending>> under_way_;  // each controller's batch
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<learn::Controllers> make_mpi_controllers(World& world, const ControllerPlan& plan) {
  return std::make_unique<MpiControllers>(world, plan);
}

}  // namespace emplace::dist
