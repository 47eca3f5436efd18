// Any file is a Graph or an InputError. Besides bytes, whole nodes are mutated: other operators with attributes of
// their schema, other inputs, other shapes, so that libonnx's shape inference is reached in earnest.
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "graph/ops/op_table.hpp"

// Some of libonnx's functions ask for as much memory as an attribute says. In the program that is a bad_alloc, because
// the child process that runs them has a limit; a sanitizer would end the process instead.
void* operator new(std::size_t bytes) {
  void* memory = bytes > std::size_t{1} << 30 ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// The sanitizer's own forms that are not replaced here (arrays, nothrow) meet this delete too.
extern "C" const char* __asan_default_options() { return "alloc_dealloc_mismatch=0"; }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t largest);

namespace {

using Random = std::minstd_rand;

std::size_t below(Random& random, std::size_t count) { return count == 0 ? 0 : random() % count; }

std::int64_t any_size(Random& random) {
  static const std::int64_t sizes[] = {0, 1, 2, 3, 4, 7, 8, 64, -1, -2, 1000, 1LL << 31, 1LL << 40, (1LL << 62) - 1};
  return sizes[below(random, below(random, 4) == 0 ? std::size(sizes) : 8)];
}

void fill(onnx::TensorProto& tensor, Random& random) {
  static const int types[] = {onnx::TensorProto::INT64, onnx::TensorProto::FLOAT, onnx::TensorProto::INT32,
                              onnx::TensorProto::BOOL};
  tensor.clear_dims();
  tensor.clear_raw_data();
  tensor.clear_int64_data();
  tensor.clear_float_data();
  tensor.set_data_type(types[below(random, below(random, 2) == 0 ? 1 : 4)]);
  const std::size_t count = below(random, 6);
  if (below(random, 4) > 0) tensor.add_dims(static_cast<std::int64_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    tensor.add_int64_data(any_size(random));
    tensor.add_float_data(static_cast<float>(any_size(random)) / 2);
  }
}

void fill(onnx::AttributeProto& attribute, const onnx::OpSchema::Attribute& wanted, Random& random) {
  static const char* const words[] = {"SAME_UPPER", "VALID",     "NOTSET",    "floor",
                                      "bilinear",   "ij,jk->ik", "i...->...", "reflect"};
  attribute.set_name(wanted.name);
  attribute.set_type(wanted.type);
  attribute.set_i(any_size(random));
  attribute.set_f(static_cast<float>(any_size(random)));
  attribute.set_s(words[below(random, std::size(words))]);
  if (wanted.type == onnx::AttributeProto::TENSOR) fill(*attribute.mutable_t(), random);
  for (std::size_t i = below(random, 5); i > 0; --i) {
    attribute.add_ints(any_size(random));
    attribute.add_floats(static_cast<float>(any_size(random)));
    attribute.add_strings(words[below(random, std::size(words))]);
  }
}

std::vector<std::string> names_in(const onnx::GraphProto& graph) {
  std::vector<std::string> names{""};
  for (const auto& input : graph.input()) names.push_back(input.name());
  for (const auto& tensor : graph.initializer()) names.push_back(tensor.name());
  for (const auto& node : graph.node()) names.insert(names.end(), node.output().begin(), node.output().end());
  return names;
}

void add_node(onnx::GraphProto& graph, Random& random) {
  static const std::vector<onnx::OpSchema> schemas = onnx::OpSchemaRegistry::get_all_schemas_with_history();
  const onnx::OpSchema& schema = schemas[below(random, schemas.size())];
  const std::vector<std::string> names = names_in(graph);
  auto& node = *graph.add_node();
  node.set_op_type(schema.Name());
  node.set_domain(schema.domain());
  const auto many = [&](int least, int most) {
    return static_cast<std::size_t>(least) +
           below(random, static_cast<std::size_t>(std::min(most, least + 4) - least + 1));
  };
  for (std::size_t i = many(schema.min_input(), schema.max_input()); i > 0; --i)
    node.add_input(names[below(random, names.size())]);
  for (std::size_t i = many(schema.min_output(), schema.max_output()); i > 0; --i)
    node.add_output("t" + std::to_string(random()));
  for (const auto& [name, attribute] : schema.attributes()) {
    if (!attribute.required && below(random, 2) == 0) continue;
    auto& added = *node.add_attribute();
    fill(added, attribute, random);
    if (attribute.type == onnx::AttributeProto::GRAPH) {
      for (std::size_t i = below(random, 3); i > 0; --i)
        added.mutable_g()->add_input()->set_name("s" + std::to_string(i));
      if (below(random, 2) == 0 && graph.ByteSizeLong() < 4000) add_node(*added.mutable_g(), random);
      const std::vector<std::string> inner = names_in(added.g());
      for (std::size_t i = below(random, 4); i > 0; --i) {
        const auto& pool = below(random, 2) == 0 ? names : inner;
        added.mutable_g()->add_output()->set_name(pool[below(random, pool.size())]);
      }
    }
  }
}

void mutate(onnx::ModelProto& model, Random& random) {
  auto& graph = *model.mutable_graph();
  switch (below(random, 6)) {
    case 0:
    case 1: add_node(graph, random); break;
    case 2: {
      auto& input = *graph.add_input();
      input.set_name("i" + std::to_string(random()));
      auto& tensor = *input.mutable_type()->mutable_tensor_type();
      tensor.set_elem_type(1 + static_cast<int>(below(random, 16)));
      for (std::size_t i = below(random, 5); i > 0; --i)
        tensor.mutable_shape()->add_dim()->set_dim_value(any_size(random));
      break;
    }
    case 3: {
      auto& tensor = *graph.add_initializer();
      tensor.set_name("w" + std::to_string(random()));
      fill(tensor, random);
      break;
    }
    case 4:
      if (graph.node_size() > 0) {
        auto& node = *graph.mutable_node(static_cast<int>(below(random, static_cast<std::size_t>(graph.node_size()))));
        const std::vector<std::string> names = names_in(graph);
        if (node.input_size() > 0)
          node.set_input(static_cast<int>(below(random, static_cast<std::size_t>(node.input_size()))),
                         names[below(random, names.size())]);
      }
      break;
    default:
      model.set_ir_version(3 + static_cast<int>(below(random, 6)));
      model.clear_opset_import();
      model.add_opset_import()->set_version(1 + static_cast<int>(below(random, 18)));
      for (const char* domain : {"ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview.training"}) {
        auto& import = *model.add_opset_import();
        import.set_domain(domain);
        import.set_version(1 + static_cast<int>(below(random, 3)));
      }
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t largest,
                                               unsigned seed) {
  Random random(seed);
  onnx::ModelProto model;
  if (below(random, 4) == 0 || (size > 0 && !model.ParseFromArray(data, static_cast<int>(size))))
    return LLVMFuzzerMutate(data, size, largest);
  for (std::size_t i = 1 + below(random, 4); i > 0; --i) mutate(model, random);
  const std::string text = model.SerializeAsString();
  if (text.size() > largest) return LLVMFuzzerMutate(data, size, largest);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = [] {
    emplace::log::configure(emplace::log::Level::off, false);
    return ::memfd_create("fuzz", 0);
  }();
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  try {
    emplace::formats::ReadOptions options;
    if (size % 2 == 0) options.batch = 4;
    const emplace::Graph graph = emplace::find_entry(emplace::formats::readers(), "onnx", "reader")
                                     .read("/proc/self/fd/" + std::to_string(file), options);
    graph.validate("accepted");
    static_cast<void>(emplace::statistics(graph));
  } catch (const emplace::InputError&) {
  }
  return 0;
}
