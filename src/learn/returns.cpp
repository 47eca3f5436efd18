#include "learn/returns.hpp"

#include <algorithm>
#include <cmath>

namespace emplace::learn {

void returns_of(std::span<const double> rewards, ReturnForm form, double discount, std::vector<double>& returns) {
  returns.assign(rewards.size(), 0.0);
  if (rewards.empty()) return;
  double later = 0;              // the discounted return of the next round
  double best = rewards.back();  // best reward from this round on
  double whole = 0;              // sum in which the last reward has the largest weight
  for (const double reward : rewards) whole = reward + discount * whole;
  for (std::size_t i = rewards.size(); i-- > 0;) {
    const double before = i > 0 ? rewards[i - 1] : 0.0;
    best = std::max(best, rewards[i]);
    later = rewards[i] - before + discount * later;
    switch (form) {
      case ReturnForm::final: returns[i] = rewards.back(); break;
      case ReturnForm::step: returns[i] = later; break;
      case ReturnForm::best: returns[i] = best - before; break;
      case ReturnForm::own: returns[i] = std::pow(discount, static_cast<double>(i + 1)) * rewards[i]; break;
      case ReturnForm::late: returns[i] = whole; break;
    }
  }
}

}  // namespace emplace::learn
