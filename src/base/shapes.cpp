#include "base/shapes.hpp"

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace {

std::map<std::string, std::vector<std::int64_t>> parse_shapes(const std::vector<std::string>& texts,
                                                              const std::string& place) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError(place, "a shape is written input=1x3x224x224, found {}", quote(text));
    std::vector<std::int64_t> sizes;
    if (equals + 1 < text.size())
      for (const std::string& part : split(std::string_view(text).substr(equals + 1), 'x')) {
        std::int64_t size = 0;
        if (!parse_number(part, size) || size <= 0)
          throw InputError(place, "the sizes of a shape are whole numbers above zero separated by 'x', found {} in {}",
                           quote(part), quote(text));
        sizes.push_back(size);
      }
    if (!shapes.emplace(text.substr(0, equals), std::move(sizes)).second)
      throw InputError(place, "the shape of {} is given twice", quote(text.substr(0, equals)));
  }
  return shapes;
}

}  // namespace emplace
