// Runs CBC and CLP in child processes: valid programs make some of their assertions fail, which ends the process (CBC
// 2.10.8 does so if the cuts at the root leave a column with a lower bound above its upper one).
#pragma once

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emplace::search {

// Returns the text of `work`, which gets a function that tells whether it should end soon. That is so once `stop`,
// which is called in this process, is true. If the solver ends the child, there is no text, and a warning names the
// solver, the reason and the consequence.
std::optional<std::string> run_solver(std::string_view solver, std::string_view consequence,
                                      const std::function<bool()>& stop,
                                      const std::function<std::string(const std::function<bool()>& stopped)>& work);

// Numbers as such a text.
template <class Number>
std::string text_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}
template <class Number>
std::vector<Number> numbers_of(const std::string& text) {
  std::vector<Number> numbers(text.size() / sizeof(Number));
  std::memcpy(numbers.data(), text.data(), numbers.size() * sizeof(Number));
  return numbers;
}

}  // namespace emplace::search
