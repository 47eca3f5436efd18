#include "policy/common/network_policy.hpp"

#include <cmath>

#include "base/not_finite.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::policy {

void NetworkPolicy::use(const nn::ParameterLayout& layout) {
  slices_.assign(layout.infos().begin(), layout.infos().end());
  parameters_.assign(layout.size(), 0.0F);
  gradient_.assign(layout.size(), 0.0F);
}

void NetworkPolicy::parameters_changed() {
  for (const auto& [name, slice, start] : slices_)
    for (const float value : std::span(parameters_).subspan(slice.begin, slice.size()))
      if (!std::isfinite(value))
        throw InputError("checkpoint", "policy/{} holds {} where a finite number is wanted", name, value);
}

std::vector<Policy::ParameterInfo> NetworkPolicy::layout() const {
  std::vector<ParameterInfo> infos;
  for (const auto& [name, slice, start] : slices_) infos.push_back({name, {slice.rows, slice.columns}});
  return infos;
}

void require_finite(std::span<const float> logits) {
  for (const float value : logits)
    if (!std::isfinite(value)) throw NotFinite("the network computes a logit of {}", value);
}

std::size_t common_device_count(std::span<const PolicyProblem> problems, std::string_view policy) {
  EMPLACE_CHECK(!problems.empty());
  const Problem& first = *problems.front().problem;
  for (const PolicyProblem& each : problems)
    if (each.problem->device_count() != first.device_count())
      throw InputError("policy " + std::string(policy),
                       "all problems of one network need the same number of devices, but {} has {} and {} has {}",
                       quote(first.name), first.device_count(), quote(each.problem->name),
                       each.problem->device_count());
  return first.device_count();
}

std::size_t common_unit_count(std::span<const PolicyProblem> problems, std::string_view policy) {
  constexpr std::size_t most = 8192;
  const PolicyProblem& first = problems.front();
  const std::string place = "policy " + std::string(policy);
  for (const PolicyProblem& each : problems) {
    const std::size_t units = each.grouping.count();
    if (units != first.grouping.count())
      throw InputError(place,
                       "the network's input has a column for each unit, so all problems need the same number of units, "
                       "but {} has {} and {} has {}",
                       quote(first.problem->name), first.grouping.count(), quote(each.problem->name), units);
    if (units > most)
      throw InputError(place, "takes at most {} units, but {} has {}; a coarser grouping or `groups` reduces them",
                       most, quote(each.problem->name), units);
  }
  return first.grouping.count();
}

}  // namespace emplace::policy
