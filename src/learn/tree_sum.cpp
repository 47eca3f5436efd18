#include "learn/tree_sum.hpp"

#include "emplace/base/error.hpp"

namespace emplace::learn {

TreeSum::TreeSum(std::size_t leaves) : leaves_(leaves) { EMPLACE_CHECK(leaves > 0); }

TreeSum::Node TreeSum::highest(Node node) const {
  auto [level, index] = node;
  while (width(level) < leaves_ && index % 2 == 0 && (index + 1) * width(level) >= leaves_) {
    ++level;
    index /= 2;
  }
  return {level, index};
}

template <class T>
void TreeSum::take(Node node, std::span<const T> values) {
  EMPLACE_CHECK(node.second * width(node.first) < leaves_);
  node = highest(node);
  const auto sibling = waiting_.find({node.first, node.second ^ 1});
  if (sibling == waiting_.end()) {
    std::vector<double> copy;
    if (!free_.empty()) {
      copy = std::move(free_.back());
      free_.pop_back();
    }
    copy.assign(values.begin(), values.end());
    const bool is_new = waiting_.emplace(node, std::move(copy)).second;
    EMPLACE_CHECK(is_new, "node {} of level {} twice", node.second, node.first);
    return;
  }
  std::vector<double> sum = std::move(sibling->second);
  waiting_.erase(sibling);
  EMPLACE_CHECK(sum.size() == values.size());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];  // a + b and b + a have the same bits
  const Node parent = highest({node.first + 1, node.second / 2});
  if (!waiting_.contains({parent.first, parent.second ^ 1})) {
    waiting_.emplace(parent, std::move(sum));
    return;
  }
  take(parent, std::span<const double>(sum));
  free_.push_back(std::move(sum));
}

template void TreeSum::take(Node node, std::span<const float> values);
template void TreeSum::take(Node node, std::span<const double> values);

bool TreeSum::complete() const { return waiting_.size() == 1 && width(waiting_.begin()->first.first) >= leaves_; }

std::span<const double> TreeSum::total() const {
  EMPLACE_CHECK(complete());
  return waiting_.begin()->second;
}

}  // namespace emplace::learn
