#include "formats/language_reader.hpp"

#include "emplace/base/error.hpp"
#include "formats/gguf/gguf.hpp"
#include "formats/huggingface/huggingface.hpp"
#include "language/language_graph.hpp"

namespace emplace::formats {

namespace {

ReaderEntry language_reader(const char* name, const char* summary, const char* reference,
                            language::LanguageModel (*read)(const std::string& path)) {
  ReaderEntry entry;
  entry.name = name;
  entry.summary = summary;
  entry.reference = reference;
  entry.options = list_options<language::Scenario>;
  entry.read = [read](const std::string& path, const ReadOptions& options) {
    if (options.batch || !options.shapes.empty())
      throw InputError(path,
                       "batch and shape are for models with open sizes; a language model takes "
                       "?context=...&sequences=...&batch=... after its name");
    const auto scenario = read_options<language::Scenario>(options.query);
    const language::LanguageModel model = read(path);
    return language::language_graph(model, scenario, path);
  };
  return entry;
}

}  // namespace

ReaderEntry gguf_reader() {
  ReaderEntry entry = language_reader("gguf", "Headers of GGUF files, also of models in several parts.",
                                      "github.com/ggml-org/ggml/blob/master/docs/gguf.md", read_gguf);
  entry.recognises = [](const std::string&, std::string_view head) { return head.starts_with("GGUF"); };
  return entry;
}

ReaderEntry huggingface_reader() {
  ReaderEntry entry =
      language_reader("huggingface", "config.json of Hugging Face models, with the *.safetensors files beside it.",
                      "huggingface.co/docs/transformers", read_huggingface);
  entry.recognises = is_model_config;
  return entry;
}

bool is_language_model(const std::string& path) {
  const ReaderEntry* reader = reader_of(path);
  return reader != nullptr && (reader->name == "gguf" || reader->name == "huggingface");
}

language::LanguageModel read_language_model(const std::string& path) {
  if (!is_language_model(path))
    throw InputError(path, "is no language model; GGUF files and config.json of Hugging Face models are read");
  const std::string file = model_file(path);
  return reader_of(file)->name == "gguf" ? read_gguf(file) : read_huggingface(file);
}

}  // namespace emplace::formats
