// Texts with some bytes changed, cut out or doubled, for RapidCheck.
#pragma once

#include <rapidcheck.h>

#include <string>

namespace emplace::cost {

inline std::string damaged(std::string text) {
  for (int changes = *rc::gen::inRange(1, 4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, text.size());
    switch (*rc::gen::inRange(0, 3)) {
      case 0: text[at] = *rc::gen::arbitrary<char>(); break;
      case 1: text.erase(at, *rc::gen::inRange<std::size_t>(1, 9)); break;
      default: text.insert(at, text.substr(at, 9)); break;
    }
  }
  return text;
}

}  // namespace emplace::cost
