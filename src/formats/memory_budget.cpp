#include "formats/memory_budget.hpp"

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats {

void MemoryBudget::use(std::size_t bytes) {
  constexpr std::size_t most = std::size_t{4} << 30;
  if (bytes > most - used_)
    throw InputError(file_, "is too large: its ops and tensors need more than {}",
                     human_bytes(static_cast<Bytes>(most)));
  used_ += bytes;
}

}  // namespace emplace::formats
