// Reads TensorFlow's SavedModel (saved_model.proto, meta_graph.proto): of its graph what a signature computes, with the
// functions that it calls. Saving and restoring variables is no part of it.
#include <algorithm>
#include <map>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/proto/cursor.hpp"
#include "formats/proto/sniff.hpp"
#include "formats/tensorflow/calls.hpp"
#include "formats/tensorflow/graph.hpp"
#include "formats/tensorflow/graphdef.hpp"

namespace emplace::formats {

namespace {

struct SavedModel {
  explicit SavedModel(const std::string& file) : library(file), memory(file) {}
  TfLibrary library;
  std::vector<TfNode> nodes;
  std::map<std::string, std::vector<std::string>> signatures;  // name -> the tensors that it computes
  MemoryBudget memory;
  std::size_t graphs = 0;
};

void read_graph_def(ProtoCursor& in, SavedModel& model) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{1, "node", message}, {2, "library", message}};
  while (const std::uint32_t field = in.next(fields))
    in.message([&] {
      if (field == 2) return model.library.read(in);
      model.nodes.push_back(read_node_def(in));
      model.memory.use(memory_of(model.nodes.back()));
    });
}

// Calls `value(key)` for an entry of a map, where the cursor is at the value.
template <class Value>
void read_map_entry(ProtoCursor& in, Value&& value) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{1, "key", text}, {2, "value", message}};
  std::string key;
  while (const std::uint32_t field = in.next(fields)) {
    if (field == 1)
      key = in.name();
    else
      in.message([&] { value(key); });
  }
}

void read_signature(ProtoCursor& in, std::vector<std::string>& outputs) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{2, "outputs", message}}, tensor_fields[] = {{1, "name", text}};
  while (in.next(fields) != 0)
    in.message([&] {
      read_map_entry(in, [&](const std::string&) {
        while (in.next(tensor_fields) != 0) outputs.push_back(in.name());
      });
    });
}

void read_meta_graph(ProtoCursor& in, SavedModel& model) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{2, "graph_def", message}, {5, "signature_def", message}};
  while (const std::uint32_t field = in.next(fields))
    in.message([&] {
      if (field == 2) return read_graph_def(in, model);
      read_map_entry(in, [&](const std::string& name) {
        model.memory.use(256 + name.size());
        read_signature(in, model.signatures[name]);
      });
    });
}

// The signature that is read: the default one, else the first one that computes something.
const std::vector<std::string>* chosen_signature(const SavedModel& model, const std::string& file) {
  const auto wanted = [&](const auto& signature) {
    return !signature.second.empty() && !signature.first.starts_with("__saved_model_");
  };
  auto chosen = model.signatures.find("serving_default");
  if (chosen == model.signatures.end()) chosen = std::ranges::find_if(model.signatures, wanted);
  if (chosen == model.signatures.end()) return nullptr;
  std::vector<std::string> others;
  for (const auto& signature : model.signatures)
    if (wanted(signature) && signature.first != chosen->first && others.size() < 8)
      others.push_back(quote(signature.first));
  if (!others.empty())
    log_warning("{}: of its signatures {} is read, not {}", file, quote(chosen->first), join(others, ", "));
  return &chosen->second;
}

std::string_view node_of(std::string_view input) {
  if (input.starts_with('^')) input.remove_prefix(1);
  return input.substr(0, input.find(':'));
}

// Whether each node is needed for the tensors.
std::vector<bool> needed_for(const std::vector<std::string>& tensors, const std::vector<TfNode>& nodes,
                             const std::string& file) {
  std::unordered_map<std::string_view, std::size_t> at;
  for (std::size_t i = 0; i < nodes.size(); ++i) at.emplace(nodes[i].name, i);
  std::vector<bool> needed(nodes.size());
  std::vector<std::size_t> left;
  const auto need = [&](std::string_view name) {
    const auto found = at.find(name);
    if (found == at.end() || needed[found->second]) return found != at.end();
    needed[found->second] = true;
    left.push_back(found->second);
    return true;
  };
  for (const std::string& tensor : tensors)
    if (!need(node_of(tensor)))
      throw InputError(file, "its signature computes {}, which is no node of the graph", quote(tensor));
  while (!left.empty()) {
    const TfNode& node = nodes[left.back()];
    left.pop_back();
    for (const std::string& input : node.inputs) need(node_of(input));  // a missing one is reported with the node
  }
  return needed;
}

Graph read_saved_model(const std::string& path, const ReadOptions& options) {
  using enum ProtoKind;
  static constexpr ProtoField fields[] = {{2, "meta_graphs", message}};
  SavedModel model(path);
  const std::unique_ptr<ProtoCursor> in = open_proto(path);
  while (in->next(fields) != 0)
    in->message([&] {
      if (model.graphs++ == 0) return read_meta_graph(*in, model);
      while (in->next({}) != 0) continue;
    });
  if (model.graphs == 0) throw InputError(path, "is no SavedModel: it holds no graph");
  if (model.graphs > 1) log_warning("{}: the first of its {} graphs is read", path, model.graphs);
  GraphFromTensorflow graph(path, options);
  TfCalls calls(path, model.library, graph);
  std::vector<bool> needed(model.nodes.size(), true);
  if (const auto* outputs = chosen_signature(model, path)) needed = needed_for(*outputs, model.nodes, path);
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    if (needed[i]) calls.add(std::move(model.nodes[i]));
  calls.warn();
  Graph result = graph.finish();
  const std::string folder = parent_folder(path);
  result.name = folder.substr(folder.find_last_of('/') + 1);
  return result;
}

}  // namespace

ReaderEntry saved_model_reader() {
  ReaderEntry entry;
  entry.name = "tensorflow-saved-model";
  entry.summary = "TensorFlow SavedModel (saved_model.pb or .pbtxt): what its default signature computes.";
  entry.reference = "TensorFlow saved_model.proto";
  entry.recognises = [](const std::string& path, std::string_view) {
    return path.ends_with("saved_model.pb") || path.ends_with("saved_model.pbtxt");
  };
  entry.read = read_saved_model;
  return entry;
}

}  // namespace emplace::formats
