// Language models and machines small enough to work out by hand.
#pragma once

#include <string>

#include "emplace/machine/machine.hpp"
#include "language/architecture.hpp"

namespace emplace::fit {

// Two layers of width 64 with four heads; with experts if `experts` is above zero.
inline language::Architecture tiny_architecture(std::int64_t layers = 2, std::int64_t experts = 0) {
  language::Architecture a;
  a.name = "tiny";
  a.architecture = experts > 0 ? "qwen3moe" : "llama";
  a.layers = layers;
  a.hidden = 64;
  a.vocabulary = 512;
  a.heads = a.kv_heads = 4;
  a.key_size = a.value_size = 16;
  a.inner = 128;
  a.experts = experts;
  a.experts_used = experts > 0 ? 2 : 0;
  a.expert_inner = experts > 0 ? 32 : 0;
  return a;
}
inline language::LanguageModel tiny_model(std::int64_t layers = 2, std::int64_t experts = 0) {
  return language::make_language_model(tiny_architecture(layers, experts), "tiny");
}

// A host with plenty of memory, and an accelerator of this memory that is ten times as fast.
inline machine::Machine tiny_machine(const std::string& memory, const std::string& more = "") {
  return machine::parse_machine(R"(
name = "tiny"
[[device]]
name = "cpu"
kind = "cpu"
memory = "1 GB"
memory_bytes_per_s = 1e9
launch_overhead_s = 0
peak_flops = { default = 1e15 }
efficiency = { default = 1 }
[[device]]
name = "gpu"
kind = "gpu"
memory = ")" + memory + R"("
memory_bytes_per_s = 1e10
launch_overhead_s = 0
peak_flops = { default = 1e15 }
efficiency = { default = 1 }
[[channel]]
name = "bus"
latency_s = 1e-6
bytes_per_s = 1e9
serves = ["cpu -> gpu", "gpu -> cpu"]
)" + more,
                                "tiny.toml");
}

}  // namespace emplace::fit
