// Reads TensorFlow's GraphDef (graph.proto), binary and text: one op for each node; constants and variables have
// parameters.
#include "formats/tensorflow/graphdef.hpp"

#include "emplace/base/error.hpp"
#include "formats/proto/cursor.hpp"
#include "formats/proto/sniff.hpp"
#include "formats/tensorflow/graph.hpp"

namespace emplace::formats {

namespace {

bool is_saved_model(std::string_view path) { return path.ends_with("saved_model.pb"); }

Graph read_graphdef(const std::string& path, const ReadOptions& options) {
  static constexpr ProtoField fields[] = {{1, "node", ProtoKind::message}};
  if (is_saved_model(path))
    throw InputError(path, "is a SavedModel, which holds functions and not one graph; freeze it to a GraphDef first");
  const std::unique_ptr<ProtoCursor> in = open_proto(path);
  GraphFromTensorflow graph(path, options);
  while (in->next(fields) != 0) in->message([&] { graph.add(read_node_def(*in)); });
  Graph result = graph.finish();
  result.name = path.substr(path.find_last_of('/') + 1);
  return result;
}

}  // namespace

ReaderEntry graphdef_reader() {
  ReaderEntry entry;
  entry.name = "tensorflow";
  entry.summary = "TensorFlow GraphDef, binary (.pb) or text (.pbtxt); weights may be missing.";
  entry.reference = "TensorFlow graph.proto";
  entry.recognises = [](const std::string& path, std::string_view head) {
    if (is_saved_model(path)) return true;
    const bool onnx = head.starts_with('\x08');  // the ir_version of ONNX; a GraphDef starts with a node
    return (path.ends_with(".pb") && !onnx) || path.ends_with(".pbtxt") || path.ends_with(".graphdef") ||
           sniff_proto(head) == TensorflowFile::graph;
  };
  entry.read = read_graphdef;
  return entry;
}

}  // namespace emplace::formats
