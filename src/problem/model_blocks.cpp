#include "problem/model_blocks.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <unordered_map>

namespace emplace {

namespace {

// "framework/grad/lstm/0/step3/cell#1" -> "lstm/0/step3/cell"
std::string_view path_in_model(std::string_view name) {
  constexpr std::array<std::string_view, 4> parts_of_training = {"framework/", "grad/", "update/", "variable/"};
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view part : parts_of_training)
      if (name.starts_with(part)) {
        name.remove_prefix(part.size());
        again = true;
      }
  }
  if (name.starts_with('/')) name.remove_prefix(1);
  return name.substr(0, name.rfind('#'));
}

std::string_view module_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// The path up to its first component "stepN"; "" if it has none.
std::string_view time_step_of(std::string_view path) {
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.starts_with("step") && part.size() > 4 && part.find_first_not_of("0123456789", 4) == part.npos)
      return path.substr(0, end);
    begin = end + 1;
  }
  return {};
}

bool is_convolution(std::string_view type) {
  return !type.ends_with("Grad") && (type.starts_with("Conv") || type.starts_with("DepthwiseConv"));
}

bool continues_block(std::string_view type) {
  constexpr std::array<std::string_view, 13> types = {"BatchNormalization",
                                                      "FusedBatchNorm",
                                                      "InstanceNormalization",
                                                      "LayerNormalization",
                                                      "LRN",
                                                      "Relu",
                                                      "LeakyRelu",
                                                      "Clip",
                                                      "Sigmoid",
                                                      "Tanh",
                                                      "MaxPool",
                                                      "AveragePool",
                                                      "GlobalAveragePool"};
  return std::ranges::any_of(types, [&](std::string_view each) { return type.starts_with(each); });
}

class BlockFinder {
 public:
  explicit BlockFinder(const Problem& problem) : problem_(problem) {
    for (const std::string& name : problem.op_names) path_.push_back(path_in_model(name));
    add_convolutions();
    add_followers();
  }

  [[nodiscard]] std::string_view block_of(std::size_t op) const {
    if (const std::string_view step = time_step_of(path_[op]); !step.empty()) return step;
    for (std::string_view path = path_[op]; !path.empty(); path = module_of(path))
      if (const auto found = block_of_path_.find(path); found != block_of_path_.end()) return found->second;
    return {};
  }

 private:
  // No training step added it.
  [[nodiscard]] bool is_of_model(std::size_t op) const {
    std::string_view name = problem_.op_names[op];
    if (name.starts_with('/')) name.remove_prefix(1);
    return name == path_[op];
  }

  void add_convolutions() {
    std::unordered_map<std::string_view, std::size_t> convolutions;  // by module
    const auto visit = [&](const auto& use) {
      for (std::size_t op = 0; op < problem_.op_count(); ++op)
        if (is_of_model(op) && is_convolution(problem_.op_types[op])) use(path_[op]);
    };
    visit([&](std::string_view path) { ++convolutions[module_of(path)]; });
    visit([&](std::string_view path) {
      const std::string_view module = module_of(path);
      const std::string_view block = !module.empty() && convolutions[module] == 1 ? module : path;
      block_of_path_.emplace(block, block);
    });
  }

  // Ops that read the results of one block and of nothing else in a block.
  void add_followers() {
    for (const std::uint32_t op : problem_.topological) {
      if (!is_of_model(op) || !continues_block(problem_.op_types[op]) || !block_of(op).empty()) continue;
      std::set<std::string_view> read;
      for (const std::uint32_t tensor : problem_.inputs[op])
        if (const std::string_view block = block_of(problem_.producer[tensor].index()); !block.empty())
          read.insert(block);
      if (read.size() == 1) block_of_path_.emplace(path_[op], *read.begin());
    }
  }

  const Problem& problem_;
  std::vector<std::string_view> path_;                                    // N, in the model
  std::unordered_map<std::string_view, std::string_view> block_of_path_;  // of modules and of ops
};

}  // namespace

std::vector<std::string> model_blocks(const Problem& problem) {
  const BlockFinder finder(problem);
  std::vector<std::string> blocks;
  for (std::size_t op = 0; op < problem.op_count(); ++op) blocks.emplace_back(finder.block_of(op));
  return blocks;
}

}  // namespace emplace
