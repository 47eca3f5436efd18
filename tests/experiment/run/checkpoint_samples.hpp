// A checkpoint with every element type and shape that occurs.
#pragma once

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "experiment/run/checkpoint.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment {

using test::TemporaryFolder;

template <class T>
std::vector<T> counting(std::size_t count, T first) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

inline Checkpoint sample_checkpoint(std::uint64_t update = 7) {
  Checkpoint c;
  put(c.arrays, "policy/logits", std::vector<float>{0.5F, -std::numeric_limits<float>::infinity(), -0.0F, 1e-40F, 3, 4},
      {3, 2});
  put(c.arrays, "policy/layer/bias", counting<float>(1000, 0.25F));
  put(c.arrays, "optimizer/moment", counting<double>(24, -3), {2, 3, 4});
  put_scalar(c.arrays, "optimizer/step", std::uint64_t{std::numeric_limits<std::uint64_t>::max() - 1});
  put_scalar(c.arrays, "learner/baseline", std::nan(""));
  put(c.arrays, "learner/window", std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), -1, 0, 1});
  put(c.arrays, "history/mean_reward", std::vector<double>{}, {0});
  put(c.arrays, "history/none_of_four", std::vector<float>{}, {0, 4});
  put(c.arrays, "best/placement", std::vector<std::uint8_t>{0, 1, 255, 3});
  c.attributes = {
      {"seed", "42"}, {"update", std::to_string(update)}, {"config", "policy = \"post\"\n# µ\n"}, {"note", ""}};
  return c;
}

// Bitwise: NaN equals NaN, 0 differs from -0.
inline bool same_bits(const Checkpoint& a, const Checkpoint& b) {
  if (a.attributes != b.attributes || a.arrays.size() != b.arrays.size()) return false;
  for (auto ia = a.arrays.begin(), ib = b.arrays.begin(); ia != a.arrays.end(); ++ia, ++ib) {
    if (ia->first != ib->first || ia->second.shape != ib->second.shape) return false;
    if (ia->second.data.index() != ib->second.data.index()) return false;
    const bool same = std::visit(
        [&](const auto& x) {
          const auto& y = std::get<std::decay_t<decltype(x)>>(ib->second.data);
          return x.size() == y.size() &&
                 std::equal(reinterpret_cast<const char*>(x.data()), reinterpret_cast<const char*>(x.data() + x.size()),
                            reinterpret_cast<const char*>(y.data()));
        },
        ia->second.data);
    if (!same) return false;
  }
  return true;
}

}  // namespace emplace::experiment
