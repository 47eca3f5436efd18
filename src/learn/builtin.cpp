// The list of learners. A new learner needs a source file, a line in methods.hpp and a line here.
#include "learn/methods.hpp"

namespace emplace::learn {

std::span<const LearnerEntry> learners() {
  static const LearnerEntry entries[] = {
      post_learner(),
      cross_entropy_learner(),
      reinforce_learner(),
      ppo_learner(),
  };
  return entries;
}

}  // namespace emplace::learn
