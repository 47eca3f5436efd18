#include "dist/policy_archive.hpp"

#include "dist/archive.hpp"

namespace emplace::dist {

namespace {

struct SentUnits {
  Grouping grouping;
  std::vector<std::uint32_t> outputs;     // N: how many each op has
  std::vector<std::uint32_t> dimensions;  // by output: how many it has
  std::vector<std::int64_t> sizes;        // of all dimensions
};

struct SentPolicy {
  std::string name;
  ConfigTable options;
  std::vector<std::string> op_types;
  std::uint64_t seed = 0;
  policy::PolicyUse use = policy::PolicyUse::begin_training;
  std::vector<SentUnits> units;  // of each problem
};

SentUnits units_of(const policy::PolicyProblem& problem) {
  SentUnits units{problem.grouping, {}, {}, {}};
  const OutputShapes& shapes = problem.shapes;
  for (std::size_t op = 0; op < shapes.op_count(); ++op) {
    units.outputs.push_back(static_cast<std::uint32_t>(shapes.output_count(op)));
    for (std::size_t k = 0; k < shapes.output_count(op); ++k) {
      const std::span<const std::int64_t> sizes = shapes.output(op, k);
      units.dimensions.push_back(static_cast<std::uint32_t>(sizes.size()));
      units.sizes.insert(units.sizes.end(), sizes.begin(), sizes.end());
    }
  }
  return units;
}

OutputShapes shapes_of(const SentUnits& units) {
  OutputShapes shapes;
  std::span<const std::int64_t> sizes(units.sizes);
  std::size_t output = 0;
  for (const std::uint32_t outputs : units.outputs) {
    shapes.add_op();
    for (const std::size_t end = output + outputs; output < end; ++output) {
      const std::uint32_t count = units.dimensions.at(output);
      shapes.add_output(sizes.first(count));
      sizes = sizes.subspan(count);
    }
  }
  return shapes;
}

}  // namespace

}  // namespace emplace::dist

namespace boost::serialization {

template <class Archive>
void serialize(Archive& archive, emplace::Grouping& grouping, unsigned) {
  archive& grouping.unit_of_op& grouping.members& grouping.allowed& grouping.merging;
}

template <class Archive>
void serialize(Archive& archive, emplace::dist::SentUnits& units, unsigned) {
  archive& units.grouping& units.outputs& units.dimensions& units.sizes;
}

template <class Archive>
void serialize(Archive& archive, emplace::dist::SentPolicy& sent, unsigned) {
  archive& sent.name& sent.options& sent.op_types& sent.seed& sent.use& sent.units;
}

}  // namespace boost::serialization

namespace emplace::dist {

// A new field must also be added to serialize() above; then correct this sum.
static_assert(sizeof(Grouping) == 2 * sizeof(std::vector<int>) + sizeof(Lists) + alignof(std::vector<int>));

std::vector<std::byte> pack(const PolicyPlan& plan) {
  SentPolicy sent{plan.name, plan.options, {}, plan.setup.seed, plan.setup.use, {}};
  sent.op_types.assign(plan.setup.op_types.begin(), plan.setup.op_types.end());
  for (const policy::PolicyProblem& problem : plan.setup.problems) sent.units.push_back(units_of(problem));
  return packed(sent);
}

RestoredPolicy restore_policy(std::span<const std::byte> message, std::span<const Problem* const> problems) {
  auto sent = unpacked<SentPolicy>(message);
  EMPLACE_CHECK(sent.units.size() <= problems.size());
  RestoredPolicy restored;
  restored.problems.reserve(sent.units.size());  // the policy keeps their addresses
  for (std::size_t p = 0; p < sent.units.size(); ++p)
    restored.problems.emplace_back(problems[p], std::move(sent.units[p].grouping), shapes_of(sent.units[p]));
  restored.policy = find_entry(policy::policies(), sent.name, "policy")
                        .make(sent.options, {restored.problems, sent.op_types, sent.seed, sent.use});
  return restored;
}

}  // namespace emplace::dist
