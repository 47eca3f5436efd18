// The program `emplace` with one more reader of model files, `chain`: a text file with one line "OP_TYPE FLOATS" for
// each op of a chain, of which FLOATS is the size of its result. Usage: write_a_reader cost MODEL.chain MACHINE, and
// every other command of emplace
#include <emplace/emplace.hpp>
#include <fstream>

namespace {

using namespace emplace;

Graph read_chain(const std::string& path, const formats::ReadOptions&) {
  std::ifstream file(path);
  Graph graph;
  graph.name = path;
  TensorId last = graph.add_input("input", DType::f32, {1, 1});
  std::string type;
  for (std::int64_t floats = 0; file >> type >> floats;) {
    if (floats < 1) throw InputError(path, "op {} has {} floats, wanted 1 or more", graph.ops.size(), floats);
    GraphOp op;
    op.name = fmt::format("op{}", graph.ops.size());
    op.type = type;
    op.inputs = {Operand::of(last)};
    last = graph.add_output(graph.add_op(op), op.name + ":0", DType::f32, {1, floats});
  }
  if (!file.eof()) throw InputError(path, "line {}: wanted OP_TYPE FLOATS", graph.ops.size() + 1);
  graph.validate(path);
  return graph;
}

}  // namespace

int main(int argc, char** argv) {
  formats::ReaderEntry chain;
  chain.name = "chain";
  chain.summary = "A chain of ops, one line OP_TYPE FLOATS per op.";
  chain.recognises = [](const std::string& path, std::string_view) { return path.ends_with(".chain"); };
  chain.read = read_chain;
  formats::register_reader(chain);
  return app::run_program(argc, argv);
}
