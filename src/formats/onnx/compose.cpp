// Checks that the parts of an ONNX model together compute the same as the model.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <unordered_set>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/onnx/index.hpp"
#include "formats/writers.hpp"

namespace emplace::formats {

namespace {

using Kind = OnnxIndex::Value::Kind;

class BytesOf {
 public:
  explicit BytesOf(const std::string& file) : file_(file), descriptor_(open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0)
      throw EnvironmentError("{} cannot be opened: {}", file, std::generic_category().message(errno));
  }
  ~BytesOf() { close(descriptor_); }
  BytesOf(const BytesOf&) = delete;
  BytesOf& operator=(const BytesOf&) = delete;

  [[nodiscard]] std::string at(std::int64_t begin, std::int64_t count) const {
    std::string bytes(static_cast<std::size_t>(count), '\0');
    for (std::int64_t read = 0; read < count;) {
      const ssize_t got = pread(descriptor_, bytes.data() + read, static_cast<std::size_t>(count - read), begin + read);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw EnvironmentError("{} cannot be read at byte {}", file_, begin + read);
      read += got;
    }
    return bytes;
  }

 private:
  const std::string& file_;
  int descriptor_;
};

bool same_content(const BytesOf& a, const ProtoPlace& at_a, const BytesOf& b, const ProtoPlace& at_b) {
  constexpr std::int64_t window = 1 << 20;
  if (at_a.length() != at_b.length()) return false;
  for (std::int64_t done = 0; done < at_a.length(); done += window) {
    const std::int64_t count = std::min(window, at_a.length() - done);
    if (a.at(at_a.content + done, count) != b.at(at_b.content + done, count)) return false;
  }
  return true;
}

class Composition {
 public:
  Composition(const std::string& model, std::span<const OnnxPart> parts, std::span<const OnnxPass> passes)
      : model_(model),
        index_(model, memory_),
        bytes_(model),
        parts_(parts),
        passes_(passes),
        seen_(index_.nodes.size(), 0) {}

  void check() {
    for (const OnnxPart& part : parts_) check_part(part);
    const auto missing = std::ranges::find(seen_, 0);
    if (missing != seen_.end()) fail(model_, fmt::format("node {} is in no part", missing - seen_.begin()));
    check_outputs();
  }

 private:
  [[noreturn]] static void fail(const std::string& file, const std::string& what) {
    throw BugError(fmt::format("{}: {}", file, what));
  }

  void check_part(const OnnxPart& part) {
    google::protobuf::Arena memory;
    const OnnxIndex index(part.file, memory);
    const BytesOf bytes(part.file);
    const onnx::GraphProto& graph = index.model.graph();
    if (index.nodes.size() != part.nodes.size())
      fail(part.file, fmt::format("has {} nodes, expected {}", index.nodes.size(), part.nodes.size()));
    for (std::size_t i = 0; i < part.nodes.size(); ++i) {
      if (seen_[part.nodes[i]]++ != 0) fail(part.file, fmt::format("node {} is also in another part", part.nodes[i]));
      if (!same_content(bytes_, index_.nodes[part.nodes[i]], bytes, index.nodes[i]))
        fail(part.file, fmt::format("its node {} is not node {} of the model", i, part.nodes[i]));
      for (const std::string& name : index.reads(i))
        if (!index.values.contains(name))
          fail(part.file, fmt::format("a node reads {}, which is not in the file", quote(name)));
    }
    for (const auto& [name, value] : index.values) check_weight(part, index, bytes, name, value);
    for (const auto& input : graph.input()) {
      const auto here = index.values.find(input.name());
      if (here != index.values.end() && here->second.kind != Kind::input) continue;  // a weight
      const auto there = index_.values.find(input.name());
      if (there == index_.values.end())
        fail(part.file, fmt::format("its input {} is not in the model", quote(input.name())));
      if (there->second.kind == Kind::output_of_node && !made_.contains(input.name()))
        fail(part.file, fmt::format("its input {} is not an output of an earlier part", quote(input.name())));
    }
    for (const auto& output : graph.output()) {
      const auto value = index.values.find(output.name());
      if (value == index.values.end() || value->second.kind != Kind::output_of_node ||
          !made_.insert(output.name()).second)
        fail(part.file,
             fmt::format("its output {} is computed by no node of it, or also by another part", quote(output.name())));
    }
  }

  void check_outputs() const {
    std::unordered_set<std::string_view> passed, outputs;
    for (const auto& output : index_.model.graph().output()) outputs.insert(output.name());
    for (const OnnxPass& pass : passes_) {
      const auto value = index_.values.find(pass.output);
      const bool is_there = value != index_.values.end() && value->second.kind != Kind::output_of_node &&
                            (value->second.kind != Kind::input) == pass.is_weight;
      if (!is_there || !outputs.contains(pass.output))
        fail(model_, fmt::format("{} is not an output of the model that is also {}", quote(pass.output),
                                 pass.is_weight ? "a weight" : "an input"));
      passed.insert(pass.output);
    }
    for (const auto& output : index_.model.graph().output())
      if (!made_.contains(output.name()) && !passed.contains(output.name()))
        fail(model_, fmt::format("its output {} is not an output of any part", quote(output.name())));
  }

  void check_weight(const OnnxPart& part, const OnnxIndex& index, const BytesOf& bytes, std::string_view name,
                    const OnnxIndex::Value& value) const {
    if (value.kind != Kind::initializer && value.kind != Kind::sparse_initializer) return;
    const bool sparse = value.kind == Kind::sparse_initializer;
    const auto original = index_.values.find(name);
    if (original == index_.values.end() || original->second.kind != value.kind ||
        !same_content(bytes_, (sparse ? index_.sparse_initializers : index_.initializers)[original->second.index],
                      bytes, (sparse ? index.sparse_initializers : index.initializers)[value.index]))
      fail(part.file, fmt::format("its weight {} differs from the model's", quote(name)));
  }

  const std::string& model_;
  google::protobuf::Arena memory_;
  const OnnxIndex index_;
  const BytesOf bytes_;
  std::span<const OnnxPart> parts_;
  std::span<const OnnxPass> passes_;
  std::vector<char> seen_;                // per node of the model
  std::unordered_set<std::string> made_;  // outputs of the parts so far
};

}  // namespace

void check_onnx_parts(const std::string& model, std::span<const OnnxPart> parts, std::span<const OnnxPass> passes) {
  Composition(model, parts, passes).check();
}

}  // namespace emplace::formats
