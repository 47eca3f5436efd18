// A digest of everything that an evaluation's outcome depends on.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <memory>
#include <type_traits>

#include "base/version.hpp"
#include "evaluate/cached/cached_evaluator.hpp"

namespace emplace::evaluate {

namespace {

class Digest {
 public:
  Digest() { XXH3_128bits_reset(state_.get()); }

  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    XXH3_128bits_update(state_.get(), &value, sizeof value);
  }
  void text(std::string_view value) {
    number(std::uint64_t{value.size()});
    XXH3_128bits_update(state_.get(), value.data(), value.size());
  }
  void texts(const std::vector<std::string>& values) {
    number(std::uint64_t{values.size()});
    for (const std::string& value : values) text(value);
  }
  template <class T>
  void numbers(const std::vector<T>& values) {
    static_assert(std::has_unique_object_representations_v<T>);
    number(std::uint64_t{values.size()});
    XXH3_128bits_update(state_.get(), values.data(), values.size() * sizeof(T));
  }
  void lists(const Lists& values) {
    numbers(values.begin);
    numbers(values.items);
  }
  [[nodiscard]] std::string hexadecimal() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
};

// Everything of a problem on which a simulation depends. Fields that are derived from other fields are left out.
void add_costs(Digest& digest, const Problem& p) {
  for (const Device& device : p.devices) {
    digest.text(device.name);
    digest.text(device.kind);
    digest.number(device.memory);
  }
  for (const Channel& channel : p.channels) {
    digest.text(channel.name);
    digest.number(channel.latency_s);
    digest.number(channel.bytes_per_s);
    digest.number(channel.contention);
  }
  digest.lists(p.routes);
  digest.number(p.given_transfer_times);
  digest.texts(p.op_names);
  digest.texts(p.op_types);
  digest.numbers(p.op_time);
  digest.numbers(p.zero_cost);
  digest.numbers(p.resident);
  digest.numbers(p.scratch);
  digest.numbers(p.group);
  digest.texts(p.group_names);
  digest.numbers(p.backward);
  digest.numbers(p.producer);
  digest.numbers(p.tensor_bytes);
  digest.lists(p.consumers);
  digest.numbers(p.transfer_time);
  if (p.max_cuts == no_cut_limit) return;
  digest.text("max_cuts");
  digest.number(p.max_cuts);
}

void add(Digest& digest, const Problem& p) {
  digest.text(p.name);
  add_costs(digest, p);
}

}  // namespace

std::string problem_digest(const Problem& p) {
  Digest digest;
  for (const std::uint64_t size : {p.devices.size(), p.channels.size()}) digest.number(size);
  add_costs(digest, p);
  digest.numbers(p.shapes.known);
  digest.numbers(p.shapes.type);
  digest.numbers(p.shapes.begin);
  digest.numbers(p.shapes.dimensions);
  for (const OpLabels* labels : {&p.layer, &p.module}) {
    digest.numbers(labels->of_op);
    digest.texts(labels->names);
  }
  return digest.hexadecimal();
}

std::string evaluation_identity(std::span<const Problem* const> problems, const Scoring& scoring,
                                const EvaluatorChoice& choice) {
  Digest digest;
  digest.text(choice.name);
  digest.text(choice.options.to_toml());
  if (!entry_of(choice).measures) digest.text(version());
  digest.number(scoring.schedule);
  digest.number(scoring.objective);
  digest.number(scoring.pipeline.overlap);
  digest.number(scoring.pipeline.separate_phases);
  digest.number(std::uint64_t{problems.size()});
  for (const Problem* problem : problems) add(digest, *problem);
  return digest.hexadecimal();
}

}  // namespace emplace::evaluate
