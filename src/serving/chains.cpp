#include "serving/chains.hpp"

#include <atomic>
#include <exception>
#include <thread>

namespace emplace::serving {

namespace {

constexpr std::size_t chains_of_a_budget = 4;

}  // namespace

Result run_chains(const Request& request, std::uint64_t method,
                  const std::function<ChainResult(Chain& chain)>& search) {
  const search::Deadline deadline(request.seconds, request.stop);
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  const bool by_clock = request.seconds.has_value() && !request.evaluations;
  const std::size_t count = by_clock ? threads : chains_of_a_budget;
  const std::uint64_t budget = by_clock ? std::uint64_t{1} << 62 : request.evaluations.value_or(default_evaluations);
  std::vector<ChainResult> found(count);
  std::vector<std::exception_ptr> failed(count);
  // The first chain that found what nothing exceeds. Those before it go on, so that which one is the first does not
  // depend on the clock.
  std::atomic<std::size_t> done = count;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        const std::function<bool()> ended = [&, i] {
          return done < i || (by_clock && done < count) || deadline.passed();
        };
        Chain chain{request, FlowEvaluator(*request.cluster),
                    Stream({.seed = request.seed,
                            .purpose = Purpose::serving_search,
                            .update = (request.slice << 8) | method,
                            .index = static_cast<std::uint32_t>(i)}),
                    budget / count + (i < budget % count ? 1 : 0), ended};
        if (chain.evaluations == 0) continue;
        found[i] = search(chain);
        if (request.enough > 0 && found[i].rate >= request.enough)
          for (std::size_t first = done; i < first && !done.compare_exchange_weak(first, i);) {
          }
      } catch (...) {
        failed[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < std::min(threads, count); ++t) others.emplace_back(work);
    work();
  }
  for (const std::exception_ptr& error : failed)
    if (error) std::rethrow_exception(error);
  Result result;
  result.layout.resize(request.cluster->size());
  for (std::size_t i = 0; i <= std::min<std::size_t>(done, count - 1); ++i) {
    result.evaluations += found[i].evaluations;
    if (found[i].rate > result.throughput) {
      result.throughput = found[i].rate;
      result.layout = found[i].layout;
    }
  }
  return result;
}

}  // namespace emplace::serving
