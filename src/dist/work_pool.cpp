#include "dist/work_pool.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "base/interrupt.hpp"
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
  } else if (arrival.tag == Tag::interrupted) {
    static_cast<void>(comm_.receive<std::byte>(arrival));
    fail(std::make_exception_ptr(Interrupted()));
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

// One message for each piece, so that no message is left for later work: a piece of work takes at most one, and a
// worker drops those that it receives between its pieces.
void WorkPool::stop_workers() {
  fail(std::make_exception_ptr(Interrupted()));
  for (std::size_t worker = 0; worker < pieces_.size(); ++worker)
    for (std::size_t piece = 0; piece < pieces_[worker].size(); ++piece)
      comm_.send(std::span<const std::byte>(), rank_of(worker), Tag::stop);
}

void WorkPool::finish(Client& client, const std::function<void()>& meanwhile) {
  if (lost_worker_) fail(lost_worker_);
  try {
    bool stopped = false;
    const auto must_stop = [&stopped] { return !stopped && stop_is_due(); };
    for (Idle idle; under_way_ > 0;) {
      if (must_stop()) {
        stop_workers();
        stopped = true;
      }
      if (!meanwhile) {
        if (const auto arrival = comm_.wait_unless(Communicator::any_source, must_stop)) handle(*arrival, client);
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
