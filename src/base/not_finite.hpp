// The error that ends a training run whose numbers overflow or become NaN, mostly because the learning rate is too
// large.
#pragma once

#include "emplace/base/error.hpp"

namespace emplace {

// A log-probability, advantage, gradient or step is not finite; the message names the quantity and the update. The
// policy's parameters may already include the step that caused it.
class NotFinite : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

}  // namespace emplace
