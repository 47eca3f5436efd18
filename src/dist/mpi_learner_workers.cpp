// The master's end of a LearnerWorkers: samples and runs of chunks go to whoever is idle, results to where they belong.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <map>
#include <string>

#include "base/not_finite.hpp"
#include "dist/communicator.hpp"
#include "dist/failure.hpp"
#include "dist/load_balancer.hpp"
#include "dist/pack.hpp"
#include "dist/policy_archive.hpp"
#include "dist/rollout_wire.hpp"
#include "emplace/dist/world.hpp"
#include "learn/tree_sum.hpp"

namespace emplace::dist {

class MpiLearnerWorkers final : public learn::LearnerWorkers {
 public:
  MpiLearnerWorkers(World& world, const PolicyPlan& plan)
      : world_(world),
        comm_(world.communicator()),
        problems_(plan.setup.problems.size()),
        workers_(static_cast<std::size_t>(world.size()) - 1),
        drawing_(workers_.size()),
        logs_(workers_.size()),
        gradients_(workers_.size()) {
    EMPLACE_CHECK(world.is_master() && world.has_workers(), "a learner_workers needs an evaluator over MPI first");
    comm_.announce(pack(plan), Tag::policy);
  }

  void sample_rollouts(policy::Policy& policy, const learn::SamplingRequest& request,
                       std::vector<policy::Rollout>& rollouts) override {
    send_parameters(policy);
    comm_.announce(pack(request), Tag::request);
    const std::size_t all = learn::sample_count(request, problems_);
    std::map<std::size_t, std::vector<policy::Rollout>> pieces;  // by first sample
    std::size_t next = 0;
    const auto deal = [&](std::size_t worker) {
      const std::size_t count = wanted(drawing_, worker, all - next);
      if (count == 0) return;
      Packer packer;
      packer.number(static_cast<std::uint64_t>(next));
      packer.number(static_cast<std::uint64_t>(count));
      send(worker, packer.take(), Tag::samples);
      next += count;
    };
    work(deal, [&](std::size_t worker, const Arrival& arrival) {
      EMPLACE_CHECK(arrival.tag == Tag::rollouts, "rank {} sent tag {}", arrival.source, static_cast<int>(arrival.tag));
      const std::vector<std::byte> message = comm_.receive<std::byte>(arrival);
      attempt([&] {
        SentSamples samples = unpack_samples(message);
        drawing_.took(worker, static_cast<double>(samples.count), samples.seconds);
        pieces.emplace(samples.begin, std::move(samples.rollouts));
      });
      return true;
    });
    rollouts.clear();
    for (auto& [begin, piece] : pieces) std::ranges::move(piece, std::back_inserter(rollouts));
  }

  void forward(policy::Policy& policy, std::span<const policy::Rollout> rollouts, std::span<const Chunk> chunks,
               const SeeLog& see) override {
    const auto on_log = [&](std::size_t chunk, const policy::LogProbabilities& log) {
      see(chunk, log);
      return std::span<const double>();
    };
    compute(policy, rollouts, chunks, on_log, nullptr);
  }

  void gradient(policy::Policy& policy, std::span<const policy::Rollout> rollouts, std::span<const Chunk> chunks,
                const Weigh& weigh, std::span<float> total) override {
    EMPLACE_CHECK(!chunks.empty());
    learn::TreeSum sum(chunks.size());
    compute(policy, rollouts, chunks, weigh, &sum);
    std::ranges::copy(sum.total(), total.begin());
  }

 private:
  struct Worker {
    std::optional<Sending> message;  // what it works on
    std::size_t first = 0, count = 0, logs = 0;
    unsigned level = 0;
    double since = 0;
  };

  // Gives each worker something to do, and again whenever it has done it, until nobody works. `receive` takes what
  // arrives, and says whether the worker is done with it. What fails, here or there, is thrown when nobody works any
  // more and no message is on its way: the first of it, and nothing more is dealt from there on.
  template <class Deal, class Receive>
  void work(const Deal& deal, const Receive& receive) {
    if (lost_worker_) std::rethrow_exception(lost_worker_);
    failure_ = nullptr;
    try {
      work_until_idle(deal, receive);
    } catch (...) {
      // A message that is out of turn or cannot be received: nobody knows what workers will send.
      end_job(world_);
    }
    if (failure_) std::rethrow_exception(failure_);
  }

  template <class Deal, class Receive>
  void work_until_idle(const Deal& deal, const Receive& receive) {
    const auto give_more = [&](std::size_t worker) {
      if (!failure_) attempt([&] { deal(worker); });
    };
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) give_more(worker);
    while (working_ > 0) {
      const Arrival arrival = comm_.wait(Communicator::any_source);
      const auto worker = static_cast<std::size_t>(arrival.source) - 1;
      if (arrival.tag == Tag::failed) {
        const Failure failure = unpack_failure(comm_.receive<std::byte>(arrival));
        if (failure.evaluator != world_.evaluators_) continue;
        lost_worker_ = failure.exception;
        fail(failure.exception);
        if (!workers_[worker].message) continue;  // it had nothing to do
      } else if (arrival.tag == Tag::not_finite) {
        const auto text = comm_.receive<std::byte>(arrival);
        fail(std::make_exception_ptr(
            NotFinite("{}", std::string_view(reinterpret_cast<const char*>(text.data()), text.size()))));
      } else if (!receive(worker, arrival)) {
        continue;
      }
      workers_[worker].message.reset();
      --working_;
      give_more(worker);
    }
  }

  // Items for this worker, at least one if nobody else is at work.
  [[nodiscard]] std::size_t wanted(const LoadBalancer& balancer, std::size_t worker, std::size_t left) const {
    return std::max<std::size_t>(balancer.count(worker, left), working_ == 0 && left > 0 ? 1 : 0);
  }

  void fail(const std::exception_ptr& failure) {
    if (!failure_) failure_ = failure;
  }
  template <class Step>
  void attempt(const Step& step) {
    try {
      step();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void send(std::size_t worker, std::vector<std::byte> message, Tag tag) {
    workers_[worker].message.emplace(comm_.start_sending(std::move(message), rank_of(worker), tag));
    ++working_;
  }

  // Log-probabilities of all chunks to `weigh`; and, where there is a sum, what it answers back, and its gradients into
  // the sum.
  void compute(policy::Policy& policy, std::span<const policy::Rollout> rollouts, std::span<const Chunk> chunks,
               const Weigh& weigh, learn::TreeSum* sum) {
    send_parameters(policy);
    LoadBalancer& balancer = sum != nullptr ? gradients_ : logs_;
    std::size_t next = 0;
    const auto deal = [&](std::size_t worker) {
      const std::size_t count = wanted(balancer, worker, chunks.size() - next);
      if (count == 0) return;
      // A node of the sum: 2^level chunks from a multiple of that.
      const unsigned level = std::min(static_cast<unsigned>(std::bit_width(count)) - 1,
                                      next == 0 ? 63U : static_cast<unsigned>(std::countr_zero(next)));
      Worker& its = workers_[worker];
      its.first = next;
      its.level = level;
      its.count = std::min(learn::TreeSum::width(level), chunks.size() - next);
      its.logs = 0;
      its.since = mpi::now();
      send(worker, pack_chunks(next, level, sum != nullptr, rollouts, chunks.subspan(next, its.count)), Tag::chunks);
      next += its.count;
    };
    work(deal, [&](std::size_t worker, const Arrival& arrival) {
      Worker& its = workers_[worker];
      EMPLACE_CHECK(arrival.tag == Tag::log || (arrival.tag == Tag::gradient && sum != nullptr), "rank {} sent tag {}",
                    arrival.source, static_cast<int>(arrival.tag));
      const std::vector<std::byte> message = comm_.receive<std::byte>(arrival);
      if (arrival.tag == Tag::gradient) {
        attempt([&] {
          const double seconds = add_gradient(its, message, policy.gradient().size(), *sum);
          balancer.took(worker, static_cast<double>(its.count), seconds);
        });
        return true;
      }
      ++its.logs;
      EMPLACE_CHECK(its.logs <= its.count, "rank {} sent tag {}", arrival.source, static_cast<int>(arrival.tag));
      SentLog sent;
      std::span<const double> coefficients;
      attempt([&] {
        sent = unpack_log(message);
        EMPLACE_CHECK(sent.chunk + 1 == its.first + its.logs);
        if (!failure_) coefficients = weigh(sent.chunk, sent.log);
      });
      if (sum == nullptr) {
        if (its.logs < its.count) return false;
        balancer.took(worker, static_cast<double>(its.count), mpi::now() - its.since);
        return true;
      }
      if (failure_) {
        comm_.send(std::span<const std::byte>(), arrival.source, Tag::skip);
        return true;
      }
      comm_.send(coefficients, arrival.source, Tag::coefficients);
      return false;
    });
  }

  // seconds f64, then the node: f32 of one chunk, f64 of several. Returns the seconds.
  static double add_gradient(const Worker& its, std::span<const std::byte> message, std::size_t size,
                             learn::TreeSum& sum) {
    Unpacker unpacker(message);
    const auto seconds = unpacker.number<double>();
    const std::size_t index = its.first / learn::TreeSum::width(its.level);
    if (its.count == 1)
      sum.add(its.level, index, std::span<const float>(unpacker.numbers<float>(size)));
    else
      sum.add(its.level, index, std::span<const double>(unpacker.numbers<double>(size)));
    unpacker.done();
    return seconds;
  }

  void send_parameters(policy::Policy& policy) {
    const std::span<const std::byte> bytes = std::as_bytes(policy.parameters());
    if (sent_.size() == bytes.size() && std::memcmp(sent_.data(), bytes.data(), bytes.size()) == 0) return;
    sent_.assign(bytes.begin(), bytes.end());
    comm_.announce(bytes, Tag::parameters);
  }

  static int rank_of(std::size_t worker) { return static_cast<int>(worker) + 1; }

  World& world_;
  Communicator& comm_;
  std::size_t problems_;
  std::vector<Worker> workers_;  // of ranks 1, 2, ...
  std::size_t working_ = 0;
  std::exception_ptr failure_;      // of the present work
  std::exception_ptr lost_worker_;  // what a worker ended with that answers nothing any more
  std::vector<std::byte> sent_;     // the parameters that the workers have
  LoadBalancer drawing_, logs_, gradients_;
};

std::unique_ptr<learn::LearnerWorkers> make_mpi_learner_workers(World& world, const PolicyPlan& plan) {
  return std::make_unique<MpiLearnerWorkers>(world, plan);
}

}  // namespace emplace::dist
