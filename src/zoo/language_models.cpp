// Language models by family and size: a step of decode or prefill from the numbers of language_presets.cpp.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/query.hpp"
#include "emplace/base/error.hpp"
#include "formats/huggingface/huggingface.hpp"
#include "language/language_graph.hpp"
#include "language/weight_type.hpp"
#include "zoo/language_presets.hpp"
#include "zoo/models.hpp"

namespace emplace::zoo {

namespace {

struct LanguageFamily {
  const char* name;
  const char* summary;
  const char* reference;
};

constexpr LanguageFamily families[] = {
    {"llama", "Llama 2, 3.1 and 3.2: transformers whose heads share keys and values.", "Dubey et al. 2024"},
    {"mistral", "Mistral's dense models, the first of them with a sliding window.", "Jiang et al. 2023"},
    {"mixtral", "Mixtral: mixtures of 8 experts of which a token uses 2.", "Jiang et al. 2024"},
    {"qwen2", "Qwen 2.5.", "Qwen Team 2024"},
    {"qwen3", "Qwen 3, dense and as mixtures of 128 experts.", "Qwen Team 2025"},
    {"gemma2", "Gemma 2: every other layer has a sliding window.", "Gemma Team 2024"},
    {"gemma3", "Gemma 3: five of six layers have a sliding window.", "Gemma Team 2025"},
    {"deepseek", "DeepSeek V2 and V3: latent attention, shared and routed experts.", "DeepSeek-AI 2024"},
    {"gpt-oss", "gpt-oss: mixtures of experts, every other layer has a sliding window.", "OpenAI 2025"},
};

// Options of a family: the first preset of the table is its default.
struct LanguageOptions {
  std::vector<std::string> sizes;
  std::string size;
  std::string type = "BF16";
  language::Scenario scenario;

  explicit LanguageOptions(const LanguageFamily& family) {
    for (const LanguagePreset& preset : language_presets())
      if (std::string_view(preset.family) == family.name) sizes.emplace_back(preset.size);
    size = sizes.front();
  }
};

void describe(LanguageOptions& o, OptionVisitor& visit) {
  visit("size", o.size, {.choices = o.sizes, .help = "Published size."});
  visit("type", o.type, {.help = "Type of all matrices: BF16, Q8_0, Q4_K, ..."});
  describe(o.scenario, visit);
}

language::LanguageModel model_of(const LanguageFamily& family, const LanguageOptions& o, const ConfigTable& table) {
  const auto preset = std::ranges::find_if(language_presets(), [&](const LanguagePreset& each) {
    return std::string_view(each.family) == family.name && o.size == each.size;
  });
  std::vector<std::string> notes;
  const std::string name = fmt::format("{}-{}", family.name, o.size);
  language::Architecture numbers = formats::model_config(config_of(*preset), name, notes);
  numbers.name = name;
  const language::WeightType& type = language::weight_type(o.type, table.place_of("type"));
  numbers.type = type.name;
  numbers.vector_type = type.block == 1 && type.block_bytes > 1 ? numbers.type : "F32";
  const std::string place = table.place().empty() ? name : table.place();
  return language::make_language_model(numbers, place);
}

Graph build(const LanguageFamily& family, const ConfigTable& table) {
  LanguageOptions o(family);
  OptionReader reader(table);
  describe(o, reader);
  table.refuse_unread(reader.names());
  const std::string name = fmt::format("{}-{}", family.name, o.size);
  const std::string place = table.place().empty() ? name : table.place();
  return language::language_graph(model_of(family, o, table), o.scenario, place);
}

}  // namespace

std::vector<ZooEntry> language_model_entries() {
  std::vector<ZooEntry> entries;
  for (const LanguageFamily& family : families) {
    ZooEntry entry;
    entry.name = family.name;
    entry.summary = family.summary;
    entry.reference = family.reference;
    entry.options = [&family] {
      LanguageOptions options(family);
      OptionLister lister;
      describe(options, lister);
      return std::move(lister.options);
    };
    entry.expert = expert_in_parts;
    entry.build = [&family](const ConfigTable& table) { return build(family, table); };
    entry.trains = false;
    entries.push_back(std::move(entry));
  }
  return entries;
}

language::LanguageModel zoo_language_model(std::string_view specification, const std::string& place) {
  const NamedQuery query = parse_query(specification, place);
  std::vector<std::string> names;
  for (const LanguageFamily& family : families) {
    names.emplace_back(family.name);
    if (query.name != family.name) continue;
    LanguageOptions o(family);
    OptionReader reader(query.options);
    describe(o, reader);
    query.options.refuse_unread(reader.names());
    if (o.scenario != language::Scenario())
      throw InputError(place,
                       "of a language model only size and type are wanted here; the rest are options of the command");
    return model_of(family, o, query.options);
  }
  throw_unknown_entry(query.name, names, "language model", place);
}

}  // namespace emplace::zoo
