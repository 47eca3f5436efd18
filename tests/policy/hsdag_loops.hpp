// HSDAG's network as in docs/papers/hsdag.md, section 2.3, without dropout, in double, computed element by element.
#pragma once

#include <cmath>
#include <vector>

#include "policy/hsdag/network.hpp"

namespace emplace::test {

using Table = std::vector<std::vector<double>>;

struct HsdagLoops {
  const policy::HsdagNetwork& network;
  const std::vector<double>& values;

  [[nodiscard]] double at(const nn::Slice& slice, std::size_t i, std::size_t j) const {
    return values[slice.begin + i * slice.columns + j];
  }
  [[nodiscard]] Table linear(const Table& x, const policy::HsdagNetwork::Linear& layer) const {
    Table y;
    for (const auto& row : x) {
      auto& out = y.emplace_back(layer.weight.columns);
      for (std::size_t j = 0; j < out.size(); ++j) {
        out[j] = at(layer.bias, 0, j);
        for (std::size_t i = 0; i < row.size(); ++i) out[j] += row[i] * at(layer.weight, i, j);
      }
    }
    return y;
  }
  [[nodiscard]] Table norm(const Table& x, const policy::HsdagNetwork::Norm& by) const {
    Table y = x;
    for (auto& row : y) {
      double mean = 0, variance = 0;
      for (const double v : row) mean += v / static_cast<double>(row.size());
      for (const double v : row) variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
      for (std::size_t j = 0; j < row.size(); ++j)
        row[j] = (row[j] - mean) / std::sqrt(variance + 1e-5) * at(by.gain, 0, j) + at(by.offset, 0, j);
    }
    return y;
  }
  static Table relu(Table x) {
    for (auto& row : x)
      for (double& v : row) v = std::max(v, 0.0);
    return x;
  }
  static Table add(Table x, const Table& y) {
    for (std::size_t r = 0; r < x.size(); ++r)
      for (std::size_t j = 0; j < x[r].size(); ++j) x[r][j] += y[r][j];
    return x;
  }
  // 1 for each node and its neighbours.
  static Table adjacency(const policy::NodeGraph& graph) {
    Table a(graph.nodes, std::vector<double>(graph.nodes, 0));
    for (std::size_t v = 0; v < graph.nodes; ++v) a[v][v] = 1;
    for (std::size_t e = 0; e < graph.edges(); ++e) a[graph.from[e]][graph.to[e]] = a[graph.to[e]][graph.from[e]] = 1;
    return a;
  }
  static Table product(const Table& a, const Table& x) {
    Table y(a.size(), std::vector<double>(x.front().size(), 0));
    for (std::size_t v = 0; v < a.size(); ++v)
      for (std::size_t u = 0; u < x.size(); ++u)
        for (std::size_t j = 0; j < y[v].size(); ++j) y[v][j] += a[v][u] * x[u][j];
    return y;
  }
  // Kipf, Welling 2017: Dg^-1/2 (A + I) Dg^-1/2 x W + b.
  [[nodiscard]] Table convolution(const Table& x, const policy::HsdagNetwork::GraphLayer& layer, Table a) const {
    std::vector<double> degree(a.size(), 0);
    for (std::size_t v = 0; v < a.size(); ++v)
      for (const double each : a[v]) degree[v] += each;
    for (std::size_t v = 0; v < a.size(); ++v)
      for (std::size_t u = 0; u < a.size(); ++u) a[v][u] /= std::sqrt(degree[v] * degree[u]);
    return linear(product(a, x), layer.linear);
  }
  // Velickovic et al. 2018, equations 1 to 4, with one head: z = x W; weights softmax_u LeakyReLU(a . [z_v, z_u]).
  [[nodiscard]] Table attention(const Table& x, const policy::HsdagNetwork::GraphLayer& layer, Table a) const {
    Table z = linear(x, layer.linear);
    for (auto& row : z)
      for (std::size_t j = 0; j < row.size(); ++j) row[j] -= at(layer.linear.bias, 0, j);
    for (std::size_t v = 0; v < a.size(); ++v) {
      double sum = 0;
      for (std::size_t u = 0; u < a.size(); ++u) {
        double e = 0;
        for (std::size_t j = 0; j < z[v].size(); ++j)
          e += at(layer.attention, j, 0) * z[v][j] + at(layer.attention, j, 1) * z[u][j];
        a[v][u] *= std::exp(e > 0 ? e : 0.2 * e);
        sum += a[v][u];
      }
      for (double& weight : a[v]) weight /= sum;
    }
    Table y = product(a, z);
    for (auto& row : y)
      for (std::size_t j = 0; j < row.size(); ++j) row[j] += at(layer.linear.bias, 0, j);
    return y;
  }
  [[nodiscard]] Table gnn(const Table& x, const policy::HsdagNetwork::Gnn& layers,
                          const policy::NodeGraph& graph) const {
    Table y = x;
    for (const auto& layer : layers.layers) {
      const Table a = adjacency(graph);
      switch (network.sizes().encoder) {
        case policy::HsdagEncoder::gcn: y = relu(convolution(y, layer, a)); break;
        case policy::HsdagEncoder::gat: y = relu(attention(y, layer, a)); break;
        // Xu et al. 2019, equation 4.1, with epsilon = 0.
        case policy::HsdagEncoder::gin: y = relu(linear(relu(linear(product(a, y), layer.inner)), layer.linear)); break;
      }
    }
    return norm(add(x, y), layers.norm);
  }
  [[nodiscard]] Table residual(const Table& x, const policy::HsdagNetwork::Residual& layer) const {
    return norm(add(x, linear(x, layer.linear)), layer.norm);
  }

  // Z and logits; `assignments` of each pass are given, and its scores are put into `scores`.
  std::pair<Table, Table> run(const Table& x, policy::NodeGraph graph,
                              const std::vector<std::vector<std::uint32_t>>& assignments,
                              std::vector<std::vector<double>>& scores) const {
    Table h = relu(norm(linear(relu(norm(linear(x, network.in_first), network.in_first_norm)), network.in_second),
                        network.in_second_norm));
    for (const std::vector<std::uint32_t>& cluster : assignments) {
      const Table z = gnn(h, network.gnn1, graph);
      Table product;
      for (std::size_t e = 0; e < graph.edges(); ++e) {
        auto& row = product.emplace_back(z[graph.from[e]]);
        for (std::size_t j = 0; j < row.size(); ++j) row[j] *= z[graph.to[e]][j];
      }
      auto& s = scores.emplace_back();
      for (const auto& row :
           linear(relu(norm(linear(product, network.edge_first), network.edge_norm)), network.edge_second))
        s.push_back(1 / (1 + std::exp(-row[0])));
      const Table q = residual(gnn(h, network.gnn2, graph), network.pre);
      const std::size_t count = *std::max_element(cluster.begin(), cluster.end()) + 1U;
      Table sum(count, std::vector<double>(q.front().size(), 0));
      std::vector<std::size_t> size(count, 0);
      for (std::size_t v = 0; v < q.size(); ++v) {
        ++size[cluster[v]];
        for (std::size_t j = 0; j < q[v].size(); ++j) sum[cluster[v]][j] += q[v][j];
      }
      h = residual(sum, network.post);
      std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
      std::vector<double> w(count, 0);
      for (std::size_t e = 0; e < graph.edges(); ++e) {
        const std::uint32_t a = cluster[graph.from[e]], b = cluster[graph.to[e]];
        ends.emplace_back(a, b);
        if (a == b) w[a] += 2 * s[e];
      }
      for (std::size_t c = 0; c < count; ++c)
        for (double& v : h[c]) v *= size[c] == 1 ? 1 : w[c];
      policy::make_graph(count, ends, graph);
    }
    const Table z = relu(linear(relu(linear(h, network.out_first)), network.out_second));
    return {z, linear(relu(linear(z, network.head_first)), network.head_second)};
  }
};

}  // namespace emplace::test
