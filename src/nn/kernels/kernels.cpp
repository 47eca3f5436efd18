#include "nn/kernels/kernels.hpp"

#include <algorithm>
#include <type_traits>

#include "base/cpu_levels.hpp"
#include "emplace/base/error.hpp"
#include "nn/kernels/kernel_set.hpp"

namespace emplace::nn {

std::string_view name_of(KernelSet set) {
  switch (set) {
    case KernelSet::reference: return "reference";
    case KernelSet::plain: return "plain";
    case KernelSet::avx2: return "avx2";
    case KernelSet::avx512: return "avx512";
  }
  return {};
}

std::vector<KernelSet> kernel_sets() {
  std::vector<KernelSet> sets{KernelSet::reference, KernelSet::plain};
  if (cpu_runs_x86_64_v3()) sets.push_back(KernelSet::avx2);
  if (cpu_runs_x86_64_v4()) sets.push_back(KernelSet::avx512);
  return sets;
}

namespace {

template <class T>
const Kernels<T>& kernels_of(KernelSet set) {
  switch (set) {
    case KernelSet::reference: return kernels_reference<T>();
    case KernelSet::plain: return kernels_plain<T>();
#if defined(__x86_64__)
    case KernelSet::avx2: return kernels_avx2<T>();
    case KernelSet::avx512: return kernels_avx512<T>();
#else
    default: break;
#endif
  }
  EMPLACE_CHECK(false, "no kernels for {}", name_of(set));
  return kernels_plain<T>();
}

struct InUse {
  KernelSet set;
  const Kernels<float>* narrow;
  const Kernels<double>* wide;
  explicit InUse(KernelSet chosen)
      : set(chosen), narrow(&kernels_of<float>(chosen)), wide(&kernels_of<double>(chosen)) {}
};

InUse& in_use() {
  static InUse now(kernel_sets().back());
  return now;
}

}  // namespace

KernelSet kernel_set() { return in_use().set; }

void use_kernel_set(KernelSet set) {
  EMPLACE_CHECK(std::ranges::count(kernel_sets(), set) == 1, "this processor does not run {}", name_of(set));
  in_use() = InUse(set);
}

template <class T>
const Kernels<T>& kernels() {
  if constexpr (std::is_same_v<T, float>)
    return *in_use().narrow;
  else
    return *in_use().wide;
}
template const Kernels<float>& kernels();
template const Kernels<double>& kernels();

}  // namespace emplace::nn
