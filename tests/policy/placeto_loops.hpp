// Placeto's network as loops that follow docs/papers/placeto.md, section 2.3 literally.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "policy/placeto/network.hpp"

namespace emplace::test {

using Row = std::vector<double>;

struct Loops {
  const policy::PlacetoParameters& p;
  const policy::PlacetoGraph& graph;
  const std::vector<double>& values;

  [[nodiscard]] Row fnn(const policy::PlacetoParameters::Fnn& layers, Row x, bool relu_at_the_end) const {
    for (std::size_t l = 0; l < layers.weights.size(); ++l) {
      const nn::Slice w = layers.weights[l], b = layers.biases[l];
      Row y(w.columns);
      for (std::size_t j = 0; j < w.columns; ++j) {
        y[j] = values[b.begin + j];
        for (std::size_t i = 0; i < w.rows; ++i) y[j] += x[i] * values[w.begin + i * w.columns + j];
        if (relu_at_the_end || l + 1 < layers.weights.size()) y[j] = std::max(0.0, y[j]);
      }
      x = std::move(y);
    }
    return x;
  }

  // relu(g(sum over the set of relu(f(x_u)))), the sum divided by the size of the set if `normalize` is on.
  [[nodiscard]] Row gather(const policy::PlacetoParameters::Gather& by, const std::vector<Row>& x,
                           std::span<const std::uint32_t> set, bool normalize) const {
    Row sum(x.front().size(), 0.0);
    for (const std::uint32_t u : set) {
      const Row each = fnn(by.before, x[u], true);
      for (std::size_t j = 0; j < sum.size(); ++j)
        sum[j] += each[j] / (normalize ? static_cast<double>(set.size()) : 1);
    }
    return fnn(by.after, sum, true);
  }

  [[nodiscard]] std::vector<Row> messages(const policy::PlacetoParameters::Gather& by, const std::vector<Row>& x,
                                          const Lists& from) const {
    std::vector<Row> y = x;
    for (int k = 0; k < p.shape().message_rounds; ++k) {
      std::vector<Row> next = x;
      for (std::size_t v = 0; v < x.size(); ++v) {
        if (from[v].empty()) continue;
        const Row message = gather(by, y, from[v], false);
        for (std::size_t j = 0; j < message.size(); ++j) next[v][j] += message[j];
      }
      y = std::move(next);
    }
    return y;
  }

  [[nodiscard]] Row logits(std::span<const float> state, std::uint32_t current) const {
    const std::size_t d = p.shape().features;
    std::vector<Row> x;
    for (std::size_t v = 0; v < graph.count(); ++v)
      x.push_back(fnn(p.node,
                      Row(state.begin() + static_cast<std::ptrdiff_t>(v * d),
                          state.begin() + static_cast<std::ptrdiff_t>((v + 1) * d)),
                      false));
    const auto up = messages(p.from_parents, x, graph.parents);
    const auto down = messages(p.from_children, x, graph.children);
    std::vector<Row> h = up;
    for (std::size_t v = 0; v < h.size(); ++v) h[v].insert(h[v].end(), down[v].begin(), down[v].end());
    Row all;
    const auto append = [&](const Row& row) { all.insert(all.end(), row.begin(), row.end()); };
    const bool normalize = p.shape().normalize;
    append(gather(p.ancestors, h, graph.ancestors[current], normalize));
    append(gather(p.descendants, h, graph.descendants[current], normalize));
    append(gather(p.rest, h, graph.rest[current], normalize));
    append(h[current]);
    for (std::size_t k = 1; k <= p.shape().position_waves; ++k) {
      const double angle =
          std::numbers::pi * static_cast<double>(k) * (current + 0.5) / static_cast<double>(graph.count());
      append({std::sin(angle), std::cos(angle)});
    }
    return fnn(p.classifier, all, false);
  }
};

}  // namespace emplace::test
