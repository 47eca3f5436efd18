#include "base/interrupt.hpp"

#include <csignal>

namespace emplace {

namespace {
volatile std::sig_atomic_t stop_flag = 0;
}  // namespace

void request_stop() { stop_flag = 1; }
bool stop_requested() { return stop_flag != 0; }

}  // namespace emplace
