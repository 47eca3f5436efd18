#include "dist/work_pool.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "base/not_finite.hpp"
#include "dist/failure.hpp"
#include "dist/idle.hpp"

namespace emplace::dist {

WorkPool::WorkPool(World& world)
    : world_(world), comm_(world.communicator()), pieces_(static_cast<std::size_t>(world.size()) - 1) {}

void WorkPool::restart() {
  EMPLACE_CHECK(under_way_ == 0, "problems are announced while workers are at work");
  ++announcements_;
  failure_ = lost_worker_ = nullptr;
}

void WorkPool::send(std::size_t worker, std::vector<std::byte> message, Tag tag) {
  pieces_[worker].push_back(comm_.start_sending(std::move(message), rank_of(worker), tag));
  ++under_way_;
}

void WorkPool::fail(const std::exception_ptr& failure) {
  if (!failure_) failure_ = failure;
}

void WorkPool::end_piece(std::size_t worker) {
  pieces_[worker].pop_front();
  --under_way_;
}

// The worker sends no more answers, unless the failure belongs to the problems before the last announcement.
void WorkPool::lose(std::size_t worker, const Arrival& arrival) {
  const Failure failure = unpack_failure(comm_.receive<std::byte>(arrival));
  if (failure.evaluator != announcements_) return;
  lost_worker_ = failure.exception;
  fail(failure.exception);
  while (!pieces_[worker].empty()) end_piece(worker);
}

void WorkPool::handle(const Arrival& arrival, Client& client) {
  const auto worker = static_cast<std::size_t>(arrival.source) - 1;
  if (arrival.tag == Tag::failed) {
    lose(worker, arrival);
    return;
  }
  EMPLACE_CHECK(!pieces_[worker].empty(), "rank {} sent tag {} and has nothing to do", arrival.source,
                static_cast<int>(arrival.tag));
  if (arrival.tag == Tag::not_finite) {
    const auto text = comm_.receive<std::byte>(arrival);
    fail(std::make_exception_ptr(
        NotFinite("{}", std::string_view(reinterpret_cast<const char*>(text.data()), text.size()))));
  } else if (!client.take(worker, arrival)) {
    return;
  }
  end_piece(worker);
  if (!failed()) attempt([&] { client.deal(worker); });
}

void WorkPool::poll(Client& client) {
  try {
    while (const std::optional<Arrival> arrival = comm_.poll(Communicator::any_source)) handle(*arrival, client);
  } catch (...) {
    end_job(world_);  // a message that was not expected or cannot be received: what workers will send next is unknown
  }
}

void WorkPool::finish(Client& client, const std::function<void()>& meanwhile) {
  if (lost_worker_) fail(lost_worker_);
  try {
    for (Idle idle; under_way_ > 0;) {
      if (!meanwhile) {
        handle(comm_.wait(Communicator::any_source), client);
        continue;
      }
      attempt(meanwhile);
      if (const std::optional<Arrival> arrival = comm_.poll(Communicator::any_source)) {
        handle(*arrival, client);
        idle = {};
      } else {
        idle.wait();
      }
    }
  } catch (...) {
    end_job(world_);
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace emplace::dist
