// What ends a training whose numbers left the range of numbers, mostly for a learning rate that is too large.
#pragma once

#include "emplace/base/error.hpp"

namespace emplace {

// A log-probability, advantage, gradient or step is not finite; the message says which, and of which update. The
// policy's parameters may be those of the step that led there.
class NotFinite : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

}  // namespace emplace
