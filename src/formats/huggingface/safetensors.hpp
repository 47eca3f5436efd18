// The headers of *.safetensors files: names, types and bytes of weights, which are never read themselves.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "emplace/base/types.hpp"

namespace emplace::formats {

// A weight of the file: its name, its type ("BF16") and its bytes.
using TakeStored = std::function<void(std::string_view name, std::string_view type, Bytes bytes)>;

// InputError for a file that is damaged.
void read_safetensors(const std::string& path, const TakeStored& take);

}  // namespace emplace::formats
