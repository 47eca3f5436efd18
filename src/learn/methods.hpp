// The entries that builtin.cpp lists; each is defined in its learner's source file.
#pragma once

#include "learn/learner.hpp"

namespace emplace::learn {

LearnerEntry post_learner();
LearnerEntry cross_entropy_learner();
LearnerEntry reinforce_learner();
LearnerEntry ppo_learner();

}  // namespace emplace::learn
