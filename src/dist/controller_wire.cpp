#include "dist/controller_wire.hpp"

#include <type_traits>
#include <utility>
#include <variant>

#include "dist/archive.hpp"
#include "dist/pack.hpp"
#include "dist/policy_archive.hpp"

namespace emplace::dist {

namespace {

struct ArchivedControllerPlan {
  std::uint64_t controllers = 1, seed = 0;
  std::string learner, policy;
  ConfigTable learner_options;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& controllers& seed& learner& policy& learner_options;
  }
};

template <class T>
void pack_long_list(Packer& packer, std::span<const T> values) {
  packer.number(static_cast<std::uint64_t>(values.size()));
  packer.numbers(values);
}
template <class T>
std::vector<T> unpack_long_list(Unpacker& unpacker) {
  return unpacker.numbers<T>(unpacker.number<std::uint64_t>());
}

void pack_state(Packer& packer, const State& state) {
  packer.number(static_cast<std::uint32_t>(state.size()));
  for (const auto& [name, array] : state) {
    packer.list(std::vector<char>(name.begin(), name.end()));
    packer.list(array.shape);
    packer.number(static_cast<std::uint8_t>(array.data.index()));
    std::visit([&](const auto& values) { packer.list(values); }, array.data);
  }
}

// Reads a list of the type at position `type` of the variant.
template <std::size_t type = 0>
void unpack_values(Unpacker& unpacker, std::size_t wanted, decltype(StateArray::data)& data) {
  using Data = std::remove_reference_t<decltype(data)>;
  if constexpr (type < std::variant_size_v<Data>) {
    if (wanted != type) return unpack_values<type + 1>(unpacker, wanted, data);
    data = unpacker.list<typename std::variant_alternative_t<type, Data>::value_type>();
  } else {
    EMPLACE_CHECK(false, "a state has an array of type {}", wanted);
  }
}

State unpack_state(Unpacker& unpacker) {
  State state;
  const std::uint32_t arrays = unpacker.count();
  for (std::uint32_t i = 0; i < arrays; ++i) {
    const std::vector<char> name = unpacker.list<char>();
    StateArray& array = state[std::string(name.begin(), name.end())];
    array.shape = unpacker.list<std::uint64_t>();
    unpack_values(unpacker, unpacker.number<std::uint8_t>(), array.data);
  }
  return state;
}

}  // namespace

std::vector<std::byte> pack(const ControllerPlan& plan) {
  ArchivedControllerPlan archived;
  archived.controllers = plan.controllers;
  archived.seed = plan.policy.setup.seed;
  archived.learner = plan.learner;
  archived.policy = text_of(pack(plan.policy));
  archived.learner_options = plan.learner_options;
  return packed(archived);
}

SentControllerPlan unpack_controller_plan(std::span<const std::byte> message) {
  auto archived = unpacked<ArchivedControllerPlan>(message);
  return {static_cast<std::size_t>(archived.controllers), std::move(archived.learner),
          std::move(archived.learner_options), archived.seed, bytes_of(archived.policy)};
}

std::vector<std::byte> pack_batch(const learn::SamplingRequest& request, const State& state,
                                  std::span<const float> parameters) {
  Packer packer(parameters.size_bytes());
  const std::vector<std::byte> of_request = pack(request);
  pack_long_list(packer, std::span(of_request));
  pack_state(packer, state);
  pack_long_list(packer, parameters);
  return packer.take();
}

SentBatch unpack_batch(std::span<const std::byte> message) {
  Unpacker unpacker(message);
  SentBatch batch;
  batch.request = unpack_request(unpack_long_list<std::byte>(unpacker));
  batch.state = unpack_state(unpacker);
  batch.parameters = unpack_long_list<float>(unpacker);
  unpacker.done();
  return batch;
}

std::vector<std::byte> pack(const learn::Contribution& contribution) {
  const std::vector<std::byte> rollouts =
      pack(SentSamples{.begin = 0, .count = 0, .seconds = 0, .rollouts = contribution.rollouts});
  const learn::GradientReport& report = contribution.report;
  Packer packer(rollouts.size() + contribution.gradient.size() * sizeof(float));
  pack_long_list(packer, std::span(rollouts));
  for (const double value : {report.progress, report.baseline, report.entropy, report.entropy_weight})
    packer.number(value);
  packer.number(report.used_samples);
  pack_state(packer, contribution.state);
  pack_long_list(packer, std::span(contribution.gradient));
  return packer.take();
}

learn::Contribution unpack_contribution(std::span<const std::byte> message) {
  Unpacker unpacker(message);
  learn::Contribution contribution;
  contribution.rollouts = unpack_samples(unpack_long_list<std::byte>(unpacker)).rollouts;
  learn::GradientReport& report = contribution.report;
  for (double* const value : {&report.progress, &report.baseline, &report.entropy, &report.entropy_weight})
    *value = unpacker.number<double>();
  report.used_samples = unpacker.number<std::uint64_t>();
  contribution.state = unpack_state(unpacker);
  contribution.gradient = unpack_long_list<float>(unpacker);
  unpacker.done();
  return contribution;
}

}  // namespace emplace::dist
