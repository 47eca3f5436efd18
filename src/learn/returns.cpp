#include "returns.hpp"

#include <algorithm>

namespace emplace {

std::vector<double> returns_of(std::span<const double> rewards, ReturnForm form, double discount) {
  std::vector<double> returns(rewards.size());
  if (rewards.empty()) return returns;
  double later = 0;              // the discounted return of the next round
  double best = rewards.back();  // reward from here on
  for (std::size_t i = rewards.size(); i-- > 0;) {
    const double before = i > 0 ? rewards[i - 1] : 0.0;
    best = std::max(best, rewards[i]);
    later = rewards[i] - before + discount * later;
    switch (form) {
      case ReturnForm::final: returns[i] = rewards.back(); break;
      case ReturnForm::step: returns[i] = later; break;
      case ReturnForm::best: returns[i] = best - before; break;
    }
  }
  return returns;
}

}  // namespace emplace
