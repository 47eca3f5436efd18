// The latency of one sample as the simulator `tarnawski-latency` has it (docs/papers/tarnawski.md, section 2.7).
#pragma once

#include <memory>
#include <string>

#include "emplace/simulate/engine.hpp"

namespace emplace::search {

std::unique_ptr<simulate::Engine> make_latency_engine(const Problem& problem);

// "one sample takes 12.3 ms", or why it has no such time; for the note of a placer whose objective is another one.
std::string sample_latency_text(const Outcome& outcome);
std::string sample_latency_text(const Problem& problem, const std::vector<std::uint8_t>& devices);

}  // namespace emplace::search
