#include "cost/computed_kernels.hpp"

#include <algorithm>
#include <iterator>

namespace emplace::cost {

Names ops_by_name(const Graph& graph) {
  Names names;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) names.emplace(graph.ops[i].name, i);
  return names;
}

Names producers_by_tensor(const Graph& graph) {
  Names names;
  for (const GraphTensor& tensor : graph.tensors)
    if (!tensor.producer.is_none()) names.emplace(tensor.name, tensor.producer);
  return names;
}

OpId op_of_kernel(const Names& producers, std::string_view name) {
  constexpr std::string_view blocked_layout = "_nchwc";
  auto at = producers.find(name);
  if (at == producers.end() && name.ends_with(blocked_layout))
    at = producers.find(name.substr(0, name.size() - blocked_layout.size()));
  return at == producers.end() ? OpId{} : at->second;
}

namespace {

using Found = RowOfRun::Found;

class Computed {
 public:
  Computed(const Profile& profile, const PassResult& kernels, const Names& ops, const Names& producers)
      : profile_(profile), kernels_(kernels), ops_(ops), producers_(producers), rows_(profile.rows.size()) {}

  std::vector<RowOfRun> rows() {
    for (std::size_t i = 0; i < rows_.size(); ++i) find(profile_.rows[i], rows_[i]);
    for (const ProfileRow& row : profile_.rows) fused_.push_back(row.fused);
    got_more_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].found == Found::unmatched) pass_on(i);
    take_in_unmeasured();
    return std::move(rows_);
  }

 private:
  [[nodiscard]] OpId op_called(const std::string& name) const {
    const auto at = ops_.find(name);
    return at != ops_.end() ? at->second : op_of_kernel(producers_, name);
  }

  void find(const ProfileRow& row, RowOfRun& into) const {
    bool folded = false;
    const auto add = [&](const std::string& name) {
      const OpId op = op_called(name);
      if (op.is_none()) return;
      const OpId kernel = kernels_.became[op.index()];
      if (kernel.is_none())
        folded = true;
      else
        into.kernels.push_back(kernel);
    };
    for (const std::string& part : row.parts) add(part);
    if (into.kernels.empty() && !folded) add(row.op);
    std::sort(into.kernels.begin(), into.kernels.end());
    into.kernels.erase(std::unique(into.kernels.begin(), into.kernels.end()), into.kernels.end());
    into.found = into.kernels.empty() ? folded ? Found::folded : Found::unmatched : Found::used;
    if (into.found == Found::used && !row.type.empty() && !fits(row.type, into.kernels.front())) {
      into.found = Found::other_type;
      into.kernels.clear();
    }
  }

  [[nodiscard]] bool fits(const std::string& type, OpId kernel) const {
    const GraphOp& op = kernels_.graph.ops[kernel.index()];
    return type == op.type || std::any_of(op.merged_types.begin(), op.merged_types.end(),
                                          [&](const auto& merged) { return merged.first == type; });
  }

  void pass_on(std::size_t row) {
    constexpr int longest_way = 8;
    std::uint32_t reader = profile_.rows[row].reader;
    for (int step = 0; step < longest_way && reader != ProfileRow::none; ++step) {
      if (rows_[reader].found == Found::used) {
        rows_[row].found = Found::beside;
        rows_[row].counts_with = reader;
        fused_[reader] = got_more_[reader] = true;
        return;
      }
      reader = profile_.rows[reader].reader;
    }
  }

  // Ops of the passes' graph are in topological order, so that readers are seen first.
  void take_in_unmeasured() {
    const Graph& graph = kernels_.graph;
    constexpr std::uint32_t nobody = ProfileRow::none, several = nobody - 1;
    std::vector<std::uint32_t> row_of(graph.ops.size(), nobody);
    for (std::uint32_t row = 0; row < rows_.size(); ++row)
      for (const OpId kernel : rows_[row].kernels) {
        std::uint32_t& of = row_of[kernel.index()];
        of = of == nobody ? row : several;
      }
    for (std::size_t i = graph.ops.size(); i-- > 0;) {
      if (row_of[i] != nobody) continue;
      std::uint32_t only = nobody, more = nobody;  // of the rows that read it: the only one, one that got more time
      for (const TensorId output : graph.ops[i].outputs)
        for (const OpId reader : graph.tensors[output.index()].consumers) {
          const std::uint32_t row = row_of[reader.index()];
          only = row != nobody && (only == nobody || only == row) ? row : several;
          if (row < several && got_more_[row]) more = row;
        }
      const std::uint32_t row = more != nobody ? more : only;
      if (row >= several || !fused_[row]) continue;
      row_of[i] = row;
      rows_[row].kernels.emplace_back(i);
    }
  }

  const Profile& profile_;
  const PassResult& kernels_;
  const Names& ops_;
  const Names& producers_;
  std::vector<RowOfRun> rows_;
  std::vector<bool> fused_;     // per row: whether it computes more than it names
  std::vector<bool> got_more_;  // per row: whether the time of a row beside the graph is added to it
};

}  // namespace

std::vector<RowOfRun> computed_kernels(const Profile& profile, const PassResult& kernels, const Names& ops,
                                       const Names& producers) {
  return Computed(profile, kernels, ops, producers).rows();
}

std::vector<std::vector<OpId>> ran_together(const std::vector<RowOfRun>& rows, std::size_t kernels) {
  std::vector<std::size_t> rows_of(kernels);
  for (const RowOfRun& row : rows)
    for (const OpId kernel : row.kernels) ++rows_of[kernel.index()];
  std::vector<std::vector<OpId>> sets;
  for (const RowOfRun& row : rows) {
    std::vector<OpId> set;
    std::ranges::copy_if(row.kernels, std::back_inserter(set),
                         [&](OpId kernel) { return rows_of[kernel.index()] == 1; });
    if (set.size() > 1) sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace emplace::cost
