// Reads TensorFlow's GraphDef (graph.proto), binary and text: one op for each node; constants and variables have
// parameters.
#include "formats/tensorflow/graphdef.hpp"

#include "emplace/base/error.hpp"
#include "formats/proto/cursor.hpp"
#include "formats/proto/sniff.hpp"
#include "formats/tensorflow/calls.hpp"
#include "formats/tensorflow/graph.hpp"

namespace emplace::formats {

namespace {

// The library comes after the nodes that call its functions, so that the file is read twice.
TfLibrary read_library(const std::string& path) {
  static constexpr ProtoField fields[] = {{2, "library", ProtoKind::message}};
  TfLibrary library(path);
  const std::unique_ptr<ProtoCursor> in = open_proto(path);
  while (in->next(fields) != 0) in->message([&] { library.read(*in); });
  return library;
}

Graph read_graphdef(const std::string& path, const ReadOptions& options) {
  static constexpr ProtoField fields[] = {{1, "node", ProtoKind::message}};
  const TfLibrary library = read_library(path);
  const std::unique_ptr<ProtoCursor> in = open_proto(path);
  GraphFromTensorflow graph(path, options);
  TfCalls calls(path, library, graph);
  while (in->next(fields) != 0) in->message([&] { calls.add(read_node_def(*in)); });
  calls.warn();
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
    const bool onnx = head.starts_with('\x08');  // the ir_version of ONNX; a GraphDef starts with a node
    return (path.ends_with(".pb") && !onnx) || path.ends_with(".pbtxt") || path.ends_with(".graphdef") ||
           sniff_proto(head) == TensorflowFile::graph;
  };
  entry.read = read_graphdef;
  return entry;
}

}  // namespace emplace::formats
