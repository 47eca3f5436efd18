#include "formats/onnx/fix_inputs.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats {

void fix_shape(Shape& shape, std::span<const std::int64_t> sizes, const std::string& input, const std::string& file) {
  if (shape.ranked && shape.dims.size() != sizes.size())
    throw InputError(file, "input {} has {} dimensions, the shape given for it has {}", quote(input), shape.dims.size(),
                     sizes.size());
  shape.ranked = true;
  shape.dims.resize(sizes.size(), Shape::unknown_dimension);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1) throw InputError(file, "the shape given for input {} has size {}", quote(input), sizes[i]);
    if (shape.dims[i] >= 0 && shape.dims[i] != sizes[i])
      throw InputError(file,
                       "dimension {} of input {} is {} in the file, and so are the shapes inside the graph; the shape "
                       "given for it has {}",
                       i, quote(input), shape.dims[i], sizes[i]);
    shape.dims[i] = sizes[i];
  }
}

bool fix_batch(Shape& shape, std::int64_t batch, const std::string& file) {
  if (batch < 1) throw InputError(file, "the batch size must be at least 1, got {}", batch);
  if (shape.dims.empty() || shape.dims[0] >= 0) return false;
  shape.dims[0] = batch;
  return true;
}

void check_input(const Shape& shape, const std::string& input, const std::string& file) {
  if (std::count(shape.dims.begin(), shape.dims.end(), 0) > 0)
    throw InputError(file, "input {} has shape {}, with a dimension of size 0", quote(input), shape.str());
}

std::string known_inputs(const std::string& wanted, std::span<const std::string> inputs) {
  const std::string near = did_you_mean(wanted, inputs);
  if (!near.empty()) return near;
  std::vector<std::string> names;
  for (const std::string& name : inputs.first(std::min<std::size_t>(inputs.size(), 8))) names.push_back(quote(name));
  return names.empty() ? "; it has none" : "; there are: " + join(names, ", ");
}

void warn_unused_batch(std::int64_t batch, const std::string& file) {
  log_warning("{}: the batch size {} changes nothing: no input has an open first dimension", file, batch);
}

}  // namespace emplace::formats
