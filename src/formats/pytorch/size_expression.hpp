// Sizes that torch.export writes as expressions of symbols, in the notation of SymPy's srepr:
// "Mul(Integer(2), Symbol('s0', integer=True, positive=True))".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace emplace::formats {

using SymbolValues = std::map<std::string, std::int64_t, std::less<>>;

// The symbol's name if the expression is a symbol alone.
std::optional<std::string> symbol_of(std::string_view expression);

// The value of the expression if it is a whole number of at least 0; nothing if a symbol has no value, or if the text
// is not an expression of this notation or uses a function that is not known.
std::optional<std::int64_t> value_of_size(std::string_view expression, const SymbolValues& symbols);

}  // namespace emplace::formats
