// The readers of model files, in the order in which they are tried.
#include <vector>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/input_file.hpp"
#include "formats/onnx/onnx.hpp"
#include "formats/openvino/openvino.hpp"
#include "formats/pytorch/pytorch.hpp"
#include "formats/tensorflow/graphdef.hpp"

namespace emplace::formats {

namespace {

Registry<ReaderEntry>& registry() {
  static Registry<ReaderEntry> all("reader", {pytorch_reader(), openvino_reader(), tfjs_reader(), saved_model_reader(),
                                              cost_graph_reader(), graphdef_reader(), onnx_reader()});
  return all;
}

}  // namespace

std::span<const ReaderEntry> readers() { return registry().entries(); }
void register_reader(ReaderEntry entry) { registry().add(std::move(entry)); }

const ReaderEntry* reader_of(const std::string& path) {
  InputFile file(path);
  const std::string_view head = file.read().substr(0, 4096);
  for (const ReaderEntry& reader : readers())
    if (reader.recognises(path, head)) return &reader;
  return nullptr;
}

void check_reader(const std::string& path, std::string_view name, std::string_view wanted) {
  const ReaderEntry* reader = reader_of(path);
  if (reader == nullptr) throw InputError(path, "is no model file; the model to copy must be {}", wanted);
  if (reader->name != name)
    throw InputError(path, "has the format {}; the model to copy must be {}", reader->name, wanted);
}

std::vector<std::string> files_of_model(const std::string& path) {
  std::vector<std::string> files = {path};
  const ReaderEntry* reader = reader_of(path);
  if (reader != nullptr && reader->weights_beside)
    for (std::string& file : reader->weights_beside(path)) files.push_back(std::move(file));
  return files;
}

Graph read_graph(const std::string& path, const ReadOptions& options) {
  const ReaderEntry* reader = reader_of(path);
  if (reader == nullptr)
    throw InputError(path, "is no model file of a known format; known: {}", join(entry_names(readers()), ", "));
  return reader->read(path, options);
}

}  // namespace emplace::formats
