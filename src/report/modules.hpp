// The ops of a placement aggregated for a picture: by the path of their module and by device.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::report {

// Every op is in exactly one part.
struct Modules {
  std::vector<std::uint32_t> of_op;                 // N: the number of the op's part
  std::vector<std::vector<std::uint32_t>> members;  // op ids, ascending
  std::vector<std::string> names;                   // "encoder/3/attention"; parts on several devices share a name
  [[nodiscard]] std::size_t count() const { return members.size(); }
};

// At most `most` parts (at least one for each device in use), each with the ops of one module on one device. The module
// of an op is what the model says, or else the scopes of its name ("encoder/3/attention/MatMul"). Modules are divided
// into their own modules, first those whose ops last longest, as long as all parts fit; if they are too many, into
// ranges of neighbours ("layer/0…11").
Modules modules_of(const Problem& problem, std::span<const std::uint8_t> device, std::size_t most);

}  // namespace emplace::report
