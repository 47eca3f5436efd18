#include "dist/policy_archive.hpp"
#include "dist/clients.hpp"

#include "dist/archive.hpp"

namespace emplace::dist {

namespace {

struct SentPolicy {
  std::string name;
  ConfigTable options;
  std::vector<std::string> op_types;
  std::uint64_t seed = 0;
  policy::PolicyUse use = policy::PolicyUse::begin_training;
  std::vector<Grouping> groupings;  // one per problem
};

}  // namespace

}  // namespace emplace::dist

namespace boost::serialization {

template <class Archive>
void serialize(Archive& archive, emplace::Grouping& grouping, unsigned) {
  archive& grouping.unit_of_op& grouping.members& grouping.allowed& grouping.merging;
}

template <class Archive>
void serialize(Archive& archive, emplace::dist::SentPolicy& sent, unsigned) {
  archive& sent.name& sent.options& sent.op_types& sent.seed& sent.use& sent.groupings;
}

}  // namespace boost::serialization

namespace emplace::dist {

// A new field must also be added to serialize() above; then correct this sum.
static_assert(sizeof(Grouping) == 2 * sizeof(std::vector<int>) + sizeof(Lists) + alignof(std::vector<int>));

std::vector<std::byte> pack(const PolicyPlan& plan) {
  SentPolicy sent{plan.name, plan.options, {}, plan.setup.seed, plan.setup.use, {}};
  sent.op_types.assign(plan.setup.op_types.begin(), plan.setup.op_types.end());
  for (const policy::PolicyProblem& problem : plan.setup.problems) sent.groupings.push_back(problem.grouping);
  return packed(sent);
}

RestoredPolicy restore_policy(std::span<const std::byte> message, std::span<const Problem* const> problems) {
  auto sent = unpacked<SentPolicy>(message);
  EMPLACE_CHECK(sent.groupings.size() <= problems.size());
  RestoredPolicy restored;
  restored.problems.reserve(sent.groupings.size());  // the policy keeps their addresses
  for (std::size_t p = 0; p < sent.groupings.size(); ++p)
    restored.problems.emplace_back(problems[p], std::move(sent.groupings[p]));
  restored.policy = find_entry(policy::policies(), sent.name, "policy")
                        .make(sent.options, {restored.problems, sent.op_types, sent.seed, sent.use});
  return restored;
}

}  // namespace emplace::dist
