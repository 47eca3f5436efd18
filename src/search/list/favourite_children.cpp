#include "search/list/favourite_children.hpp"

#include <algorithm>

#include "search/exact/integer_program.hpp"

namespace emplace::search {

namespace {

struct TransferEdge {
  std::uint32_t from, to;
  double transfer;
};

// Each pair of ops once, with its costliest tensor.
std::vector<TransferEdge> edges_of(const Problem& problem, const MeanCosts& costs) {
  std::vector<TransferEdge> edges;
  for (std::uint32_t op = 0; op < problem.op_count(); ++op) {
    const std::size_t begin = edges.size();
    for (const std::uint32_t tensor : problem.outputs[op])
      for (const std::uint32_t consumer : problem.consumers[tensor])
        edges.push_back({op, consumer, costs.transfer[tensor]});
    const auto first = edges.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(first, edges.end(), [](const TransferEdge& a, const TransferEdge& b) {
      return a.to != b.to ? a.to < b.to : a.transfer > b.transfer;
    });
    edges.erase(
        std::unique(first, edges.end(), [](const TransferEdge& a, const TransferEdge& b) { return a.to == b.to; }),
        edges.end());
  }
  return edges;
}

// The value x of each edge; empty if no solution was found.
std::vector<double> relax(const Problem& problem, const MeanCosts& costs, const std::vector<TransferEdge>& edges) {
  const std::vector<double> rank = upward_ranks(problem, costs);
  const double scale = 1000 / *std::max_element(rank.begin(), rank.end());  // scales the longest path to 1000
  IntegerProgram program;
  for (std::size_t e = 0; e < edges.size(); ++e) program.add_column(0, 1, 0, false);
  std::vector<int> start;
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    start.push_back(program.add_column(0, IntegerProgram::unlimited, 0, false));
  const int end = program.add_column(0, IntegerProgram::unlimited, 1, false);

  std::vector<std::vector<std::pair<int, double>>> out(problem.op_count()), in(problem.op_count());
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto& [from, to, transfer] = edges[e];
    const int x = static_cast<int>(e);
    const std::pair<int, double> terms[] = {{start[to], 1}, {start[from], -1}, {x, -scale * transfer}};
    program.add_row(terms, scale * costs.op[from], IntegerProgram::unlimited);
    out[from].push_back({x, 1});
    in[to].push_back({x, 1});
  }
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    for (const auto* side : {&out[op], &in[op]})
      if (side->size() > 1) program.add_row(*side, static_cast<double>(side->size()) - 1, IntegerProgram::unlimited);
    const std::pair<int, double> terms[] = {{end, 1}, {start[op], -1}};
    program.add_row(terms, scale * costs.op[op], IntegerProgram::unlimited);
  }
  std::vector<double> solution = minimise(program, {}).solution;
  solution.resize(std::min(solution.size(), edges.size()));
  return solution;
}

// 0 for edges that are the costliest output of their producer and the costliest input of their consumer (the first of
// equals), 1 for the others.
std::vector<double> by_transfer(const Problem& problem, const std::vector<TransferEdge>& edges) {
  constexpr std::size_t none = ~std::size_t{0};
  std::vector<std::size_t> costliest_out(problem.op_count(), none), costliest_in(problem.op_count(), none);
  for (std::size_t e = 0; e < edges.size(); ++e)
    for (std::size_t* best : {&costliest_out[edges[e].from], &costliest_in[edges[e].to]})
      if (*best == none || edges[e].transfer > edges[*best].transfer) *best = e;
  std::vector<double> x(edges.size(), 1);
  for (std::size_t e = 0; e < edges.size(); ++e)
    if (costliest_out[edges[e].from] == e && costliest_in[edges[e].to] == e) x[e] = 0;
  return x;
}

}  // namespace

Favourites favourite_children(const Problem& problem, const MeanCosts& costs, std::size_t most_edges) {
  const std::vector<TransferEdge> edges = edges_of(problem, costs);
  Favourites favourites;
  favourites.consumer.assign(problem.op_count(), static_cast<std::uint32_t>(problem.op_count()));
  std::vector<double> x;
  if (edges.size() <= most_edges) x = relax(problem, costs, edges);
  favourites.relaxed = x.size() == edges.size();
  if (!favourites.relaxed) x = by_transfer(problem, edges);
  for (std::size_t e = 0; e < edges.size(); ++e)
    if (x[e] < 0.5 - 1e-5) favourites.consumer[edges[e].from] = edges[e].to;
  return favourites;
}

}  // namespace emplace::search
