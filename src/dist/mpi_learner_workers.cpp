// LearnerWorkers over MPI: idle workers get samples to draw and runs of chunks to compute; results are stored by index.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>

#include "dist/clients.hpp"
#include "dist/communicator.hpp"
#include "dist/load_balancer.hpp"
#include "dist/pack.hpp"
#include "dist/policy_archive.hpp"
#include "dist/rollout_wire.hpp"
#include "dist/work_pool.hpp"
#include "emplace/dist/world.hpp"
#include "learn/tree_sum.hpp"

namespace emplace::dist {

namespace {

using Chunk = learn::LearnerWorkers::Chunk;
using Weigh = learn::LearnerWorkers::Weigh;

// The number of items for this worker; at least one if no other worker has work.
std::size_t wanted(const WorkPool& pool, const LoadBalancer& balancer, std::size_t worker, std::size_t left) {
  return std::max<std::size_t>(balancer.count(worker, left), pool.pieces() == 0 && left > 0 ? 1 : 0);
}

void check_tag(const Arrival& arrival, bool expected) {
  EMPLACE_CHECK(expected, "rank {} sent tag {}", arrival.source, static_cast<int>(arrival.tag));
}

// Gives each worker work, and more whenever it has finished, until no worker has any left.
void work(WorkPool& pool, WorkPool::Client& client) {
  for (std::size_t worker = 0; worker < pool.size(); ++worker)
    if (!pool.failed()) pool.attempt([&] { client.deal(worker); });
  pool.finish(client);
}

// Has the workers draw and evaluate the samples of a request.
class Sampling final : public WorkPool::Client {
 public:
  Sampling(Communicator& comm, WorkPool& pool, LoadBalancer& balancer, std::size_t samples)
      : comm_(comm), pool_(pool), balancer_(balancer), samples_(samples) {}

  void deal(std::size_t worker) override {
    const std::size_t count = wanted(pool_, balancer_, worker, samples_ - next_);
    if (count == 0) return;
    Packer packer;
    packer.number(static_cast<std::uint64_t>(next_));
    packer.number(static_cast<std::uint64_t>(count));
    pool_.send(worker, packer.take(), Tag::samples);
    next_ += count;
  }

  bool take(std::size_t worker, const Arrival& arrival) override {
    check_tag(arrival, arrival.tag == Tag::rollouts);
    const std::vector<std::byte> message = comm_.receive<std::byte>(arrival);
    pool_.attempt([&] {
      SentSamples samples = unpack_samples(message);
      balancer_.took(worker, static_cast<double>(samples.count), samples.seconds);
      pieces_.emplace(samples.begin, std::move(samples.rollouts));
    });
    return true;
  }

  void move_to(std::vector<policy::Rollout>& rollouts) {
    rollouts.clear();
    for (auto& [begin, piece] : pieces_) std::ranges::move(piece, std::back_inserter(rollouts));
  }

 private:
  Communicator& comm_;
  WorkPool& pool_;
  LoadBalancer& balancer_;
  const std::size_t samples_;
  std::size_t next_ = 0;
  std::map<std::size_t, std::vector<policy::Rollout>> pieces_;  // by the index of their first sample
};

// Calls `weigh` with the log-probabilities of all chunks. If there is a `sum`, it sends the coefficients that `weigh`
// returns to the worker and adds the worker's gradients to the sum.
class ChunkWork final : public WorkPool::Client {
 public:
  ChunkWork(Communicator& comm, WorkPool& pool, LoadBalancer& balancer, std::span<const policy::Rollout> rollouts,
            std::span<const Chunk> chunks, const Weigh& weigh, learn::TreeSum* sum, std::size_t parameters)
      : comm_(comm),
        pool_(pool),
        balancer_(balancer),
        rollouts_(rollouts),
        chunks_(chunks),
        weigh_(weigh),
        sum_(sum),
        parameters_(parameters),
        workers_(pool.size()) {}

  void deal(std::size_t worker) override {
    const std::size_t count = wanted(pool_, balancer_, worker, chunks_.size() - next_);
    if (count == 0) return;
    // The chunks of one node of the sum: 2^level chunks, from a multiple of 2^level on.
    const unsigned level = std::min(static_cast<unsigned>(std::bit_width(count)) - 1,
                                    next_ == 0 ? 63U : static_cast<unsigned>(std::countr_zero(next_)));
    Worker& its = workers_[worker];
    its = {.first = next_, .count = std::min(learn::TreeSum::width(level), chunks_.size() - next_), .level = level};
    its.since = mpi::now();
    pool_.send(worker, pack_chunks(next_, level, sum_ != nullptr, rollouts_, chunks_.subspan(next_, its.count)),
               Tag::chunks);
    next_ += its.count;
  }

  bool take(std::size_t worker, const Arrival& arrival) override {
    Worker& its = workers_[worker];
    check_tag(arrival, arrival.tag == Tag::log || (arrival.tag == Tag::gradient && sum_ != nullptr));
    const std::vector<std::byte> message = comm_.receive<std::byte>(arrival);
    if (arrival.tag == Tag::gradient) {
      pool_.attempt([&] { balancer_.took(worker, static_cast<double>(its.count), add_gradient(its, message)); });
      return true;
    }
    check_tag(arrival, ++its.logs <= its.count);
    return take_log(worker, message);
  }

 private:
  struct Worker {
    std::size_t first = 0, count = 0, logs = 0;
    unsigned level = 0;
    double since = 0;
  };

  bool take_log(std::size_t worker, std::span<const std::byte> message) {
    Worker& its = workers_[worker];
    SentLog sent;
    std::span<const double> coefficients;
    pool_.attempt([&] {
      sent = unpack_log(message);
      EMPLACE_CHECK(sent.chunk + 1 == its.first + its.logs);
      if (!pool_.failed()) coefficients = weigh_(sent.chunk, sent.log);
    });
    const int rank = WorkPool::rank_of(worker);
    if (sum_ == nullptr) {
      if (its.logs < its.count) return false;
      balancer_.took(worker, static_cast<double>(its.count), mpi::now() - its.since);
      return true;
    }
    if (pool_.failed()) {
      comm_.send(std::span<const std::byte>(), rank, Tag::skip);
      return true;
    }
    comm_.send(coefficients, rank, Tag::coefficients);
    return false;
  }

  // The message: seconds f64, then the gradient of the node, as f32 for one chunk and f64 for several. Returns the
  // seconds.
  double add_gradient(const Worker& its, std::span<const std::byte> message) {
    Unpacker unpacker(message);
    const auto seconds = unpacker.number<double>();
    const std::size_t index = its.first / learn::TreeSum::width(its.level);
    if (its.count == 1)
      sum_->add(its.level, index, std::span<const float>(unpacker.numbers<float>(parameters_)));
    else
      sum_->add(its.level, index, std::span<const double>(unpacker.numbers<double>(parameters_)));
    unpacker.done();
    return seconds;
  }

  Communicator& comm_;
  WorkPool& pool_;
  LoadBalancer& balancer_;
  const std::span<const policy::Rollout> rollouts_;
  const std::span<const Chunk> chunks_;
  const Weigh& weigh_;
  learn::TreeSum* const sum_;
  const std::size_t parameters_;
  std::vector<Worker> workers_;
  std::size_t next_ = 0;
};

class MpiLearnerWorkers final : public learn::LearnerWorkers {
 public:
  MpiLearnerWorkers(World& world, const PolicyPlan& plan)
      : comm_(world.communicator()),
        pool_(world.work_pool()),
        problems_(plan.setup.problems.size()),
        drawing_(pool_.size()),
        logs_(pool_.size()),
        gradients_(pool_.size()) {
    EMPLACE_CHECK(world.is_master() && world.has_workers(), "learner workers need an evaluator over MPI first");
    comm_.announce(pack(plan), Tag::policy);
  }

  void sample_rollouts(policy::Policy& policy, const learn::SamplingRequest& request,
                       std::vector<policy::Rollout>& rollouts) override {
    send_parameters(policy);
    comm_.announce(pack(request), Tag::request);
    Sampling sampling(comm_, pool_, drawing_, learn::sample_count(request, problems_));
    work(pool_, sampling);
    sampling.move_to(rollouts);
  }

  void forward(policy::Policy& policy, std::span<const policy::Rollout> rollouts, std::span<const Chunk> chunks,
               const SeeLog& see) override {
    const Weigh on_log = [&](std::size_t chunk, const policy::LogProbabilities& log) {
      see(chunk, log);
      return std::span<const double>();
    };
    send_parameters(policy);
    ChunkWork chunk_work(comm_, pool_, logs_, rollouts, chunks, on_log, nullptr, 0);
    work(pool_, chunk_work);
  }

  void gradient(policy::Policy& policy, std::span<const policy::Rollout> rollouts, std::span<const Chunk> chunks,
                const Weigh& weigh, std::span<float> total) override {
    EMPLACE_CHECK(!chunks.empty());
    learn::TreeSum sum(chunks.size());
    send_parameters(policy);
    ChunkWork chunk_work(comm_, pool_, gradients_, rollouts, chunks, weigh, &sum, policy.gradient().size());
    work(pool_, chunk_work);
    std::ranges::copy(sum.total(), total.begin());
  }

 private:
  void send_parameters(policy::Policy& policy) {
    const std::span<const std::byte> bytes = std::as_bytes(policy.parameters());
    if (sent_.size() == bytes.size() && std::memcmp(sent_.data(), bytes.data(), bytes.size()) == 0) return;
    sent_.assign(bytes.begin(), bytes.end());
    comm_.announce(bytes, Tag::parameters);
  }

  Communicator& comm_;
  WorkPool& pool_;
  std::size_t problems_;
  std::vector<std::byte> sent_;  // the parameters that the workers have
  LoadBalancer drawing_, logs_, gradients_;
};

}  // namespace

std::unique_ptr<learn::LearnerWorkers> make_mpi_learner_workers(World& world, const PolicyPlan& plan) {
  return std::make_unique<MpiLearnerWorkers>(world, plan);
}

}  // namespace emplace::dist
