#include "dist/policy_replica.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "base/not_finite.hpp"
#include "dist/pack.hpp"
#include "learn/tree_sum.hpp"

namespace emplace::dist {

PolicyReplica::PolicyReplica(const Communicator& comm, std::span<const std::byte> plan,
                             std::span<const Problem* const> problems, evaluate::Evaluator& evaluator)
    : comm_(comm), evaluator_(evaluator), restored_(restore_policy(plan, problems)) {}

void PolicyReplica::take_parameters(std::span<const std::byte> message) {
  const std::span<float> parameters = restored_.policy->parameters();
  EMPLACE_CHECK(message.size() == parameters.size_bytes());
  std::memcpy(parameters.data(), message.data(), message.size());
  restored_.policy->parameters_changed();
}

void PolicyReplica::report_not_finite(const std::function<void()>& work) const {
  try {
    work();
  } catch (const NotFinite& error) {
    comm_.send(std::as_bytes(std::span(std::string_view(error.what()))), master, Tag::not_finite);
  }
}

void PolicyReplica::draw(std::span<const std::byte> message) {
  report_not_finite([&] {
    const double start = mpi::now();
    Unpacker unpacker(message);
    SentSamples samples;
    samples.begin = unpacker.number<std::uint64_t>();
    samples.count = unpacker.number<std::uint64_t>();
    unpacker.done();
    request_.request.part = {samples.begin, samples.begin + samples.count};
    learn::sample_rollouts(*restored_.policy, evaluator_, restored_.problems, request_.request, rollouts_);
    samples.rollouts.swap(rollouts_);
    samples.seconds = mpi::now() - start;
    comm_.send(std::span<const std::byte>(pack(samples)), master, Tag::rollouts);
    samples.rollouts.swap(rollouts_);  // keep the memory
  });
}

std::optional<std::vector<double>> PolicyReplica::receive_coefficients() const {
  Arrival arrival = comm_.wait(master);
  for (; arrival.tag == Tag::stop; arrival = comm_.wait(master))  // a skip follows it
    static_cast<void>(comm_.receive<std::byte>(arrival));
  if (arrival.tag == Tag::coefficients) return comm_.receive<double>(arrival);
  // A release is not received here: serve(), the caller, receives it.
  EMPLACE_CHECK(arrival.tag == Tag::skip || arrival.tag == Tag::release, "the master sent tag {}",
                static_cast<int>(arrival.tag));
  if (arrival.tag == Tag::skip) static_cast<void>(comm_.receive<std::byte>(arrival));
  return std::nullopt;
}

void PolicyReplica::compute(std::span<const std::byte> message) {
  report_not_finite([&] {
    const double start = mpi::now();
    const SentChunks sent = unpack_chunks(message);
    policy::Policy& policy = *restored_.policy;
    const std::span<float> gradient = policy.gradient();
    learn::TreeSum sum(sent.chunks.size());
    for (std::size_t c = 0; c < sent.chunks.size(); ++c) {
      const learn::LearnerWorkers::Chunk& chunk = sent.chunks[c];
      const auto part = std::span(sent.rollouts).subspan(chunk.begin, chunk.end - chunk.begin);
      policy.forward(part, log_);
      comm_.send(std::span<const std::byte>(pack_log(sent.first + c, log_)), master, Tag::log);
      if (!sent.with_gradient) continue;
      const auto coefficients = receive_coefficients();
      if (!coefficients) return;
      std::ranges::fill(gradient, 0.0f);
      policy.backward(part, *coefficients, chunk.entropy_weight);
      sum.add(0, c, std::span<const float>(gradient));
    }
    if (!sent.with_gradient) return;
    Packer packer(8 + gradient.size() * sizeof(double));
    packer.number(mpi::now() - start);
    if (sent.chunks.size() == 1)
      packer.numbers(std::span<const float>(gradient));
    else
      packer.numbers(sum.total());
    comm_.send(std::span<const std::byte>(packer.take()), master, Tag::gradient);
  });
}

}  // namespace emplace::dist
