// The readers of model files, in the order in which they are tried.
#include <filesystem>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/input_file.hpp"
#include "formats/language_reader.hpp"
#include "formats/onnx/onnx.hpp"
#include "formats/openvino/openvino.hpp"
#include "formats/pytorch/pytorch.hpp"
#include "formats/tensorflow/graphdef.hpp"

namespace emplace::formats {

namespace {

Registry<ReaderEntry>& registry() {
  static Registry<ReaderEntry> all(
      "reader", {gguf_reader(), pytorch_reader(), openvino_reader(), tfjs_reader(), huggingface_reader(),
                 saved_model_reader(), cost_graph_reader(), graphdef_reader(), onnx_reader()});
  return all;
}

}  // namespace

std::span<const ReaderEntry> readers() { return registry().entries(); }
void register_reader(ReaderEntry entry) { registry().add(std::move(entry)); }

std::string model_file(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return path;
  const std::string config = (std::filesystem::path(path) / "config.json").string();
  return file_exists(config) ? config : path;
}

const ReaderEntry* reader_of(const std::string& path) {
  const std::string model = model_file(path);
  InputFile file(model);
  const std::string_view head = file.read().substr(0, 4096);
  for (const ReaderEntry& reader : readers())
    if (reader.recognises(model, head)) return &reader;
  return nullptr;
}

void check_reader(const std::string& path, std::string_view name, std::string_view wanted) {
  const ReaderEntry* reader = reader_of(path);
  if (reader == nullptr) throw InputError(path, "is no model file; the model to copy must be {}", wanted);
  if (reader->name != name)
    throw InputError(path, "has the format {}; the model to copy must be {}", reader->name, wanted);
}

std::vector<std::string> files_of_model(const std::string& path) {
  std::vector<std::string> files = {model_file(path)};
  const ReaderEntry* reader = reader_of(path);
  if (reader != nullptr && reader->weights_beside)
    for (std::string& file : reader->weights_beside(files[0])) files.push_back(std::move(file));
  return files;
}

Graph read_graph(const std::string& path, const ReadOptions& options) {
  const ReaderEntry* reader = reader_of(path);
  if (reader == nullptr)
    throw InputError(path, "is no model file of a known format; known: {}", join(entry_names(readers()), ", "));
  return reader->read(model_file(path), options);
}

}  // namespace emplace::formats
