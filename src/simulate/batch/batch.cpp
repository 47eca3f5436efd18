// The batch engine: simulates 16 placements at a time with a kernel chosen for the processor. What the kernels do not
// compute (why a placement is infeasible, exact peaks) comes from the exact engine.
#include "simulate/batch/batch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <new>

#include "base/cpu_levels.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/simulate/engine.hpp"
#include "problem/cuts.hpp"
#include "simulate/batch/bound_program.hpp"
#include "simulate/batch/program.hpp"
#include "simulate/batch/scalar.hpp"
#include "simulate/exact/layout.hpp"

namespace emplace::simulate {

std::string_view name_of(BatchKernel kernel) {
  switch (kernel) {
    case BatchKernel::scalar: return "scalar";
    case BatchKernel::plain: return "plain";
    case BatchKernel::avx2: return "avx2";
    case BatchKernel::avx512: return "avx512";
  }
  return {};
}

std::vector<BatchKernel> batch_kernels() {
  std::vector<BatchKernel> kernels{BatchKernel::scalar, BatchKernel::plain};
  if (cpu_runs_x86_64_v3()) kernels.push_back(BatchKernel::avx2);
  if (cpu_runs_x86_64_v4()) kernels.push_back(BatchKernel::avx512);
  return kernels;
}

namespace {

// An upper limit of all times in a simulation: the sum of everything that can happen (docs/simulation.md, totals).
double all_times(const Problem& p) {
  const std::size_t devices = p.device_count();
  const std::size_t classes = p.route_classes.size();
  double sum = 0;
  const auto largest = [](const std::vector<Ticks>& rows, std::size_t row, std::size_t width) {
    Ticks most = 0;
    for (std::size_t i = row * width; i < (row + 1) * width; ++i) most = std::max(most, rows[i]);
    return static_cast<double>(most);
  };
  for (std::size_t op = 0; op < p.op_count(); ++op) sum += largest(p.op_time, op, devices);
  for (std::size_t t = 0; t < p.tensor_count(); ++t)
    sum += largest(p.transfer_time, t, classes) * static_cast<double>(devices);
  return sum;
}
constexpr double exact_in_a_double = 0x1p53;

// Zeroed memory, aligned for the widest vectors.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) : memory_(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}))) {
    std::fill(memory_.get(), memory_.get() + bytes, std::byte{});
  }
  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(memory_.get());
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> memory_;
};

// The program and the scratch memory with which the kernels bound peaks of memory.
class Bound {
 public:
  Bound(const Problem& problem, std::span<const std::uint32_t> order, std::vector<batch::Stretch>& stretches)
      : program_(problem, order, stretches),
        sent_(program_.tensors * words_bytes(problem) + 8),
        lanes_((program_.tensors + 2 * program_.inputs) * sizeof(std::uint16_t)),
        late_((most_of_a_stretch(stretches) + 1) * sizeof(batch::BoundView::Late)),
        times_(2 * most_of_a_stretch(stretches) * batch::lanes * sizeof(float)),
        levels_((2 * stretches.size() + 7) * problem.device_count() * batch::lanes * sizeof(std::int32_t)) {
    view_ = program_.view();
    view_.sent = sent_.as<std::uint8_t>();
    view_.all_away = lanes_.as<std::uint16_t>();
    view_.last = view_.all_away + program_.tensors;
    view_.last_sent = view_.last + program_.inputs;
    view_.late = late_.as<batch::BoundView::Late>();
    view_.end = times_.as<float>();
    view_.until = view_.end + most_of_a_stretch(stretches) * batch::lanes;
    const std::size_t row = problem.device_count() * batch::lanes;
    view_.highest = levels_.as<std::int32_t>();
    view_.peak = view_.highest + stretches.size() * row;
    view_.clock = levels_.as<float>() + (stretches.size() + 1) * row;
    view_.state = view_.clock + stretches.size() * row;
    for (const Device& device : problem.devices)
      most_.push_back(device.memory == no_memory_limit ? device.memory : device.memory / program_.unit);
  }
  [[nodiscard]] const batch::BoundView& view() const { return view_; }
  // Whether any device's bound is above its memory.
  [[nodiscard]] bool exceeds_memory(std::size_t lane) const {
    for (std::size_t d = 0; d < most_.size(); ++d)
      if (view_.peak[d * batch_lanes + lane] > most_[d]) return true;
    return false;
  }

 private:
  static std::size_t words_bytes(const Problem& problem) { return (problem.device_count() + 3) / 4 * 8; }
  // The largest number of ops or of tensors in one stretch.
  static std::size_t most_of_a_stretch(const std::vector<batch::Stretch>& stretches) {
    std::size_t most = 0;
    for (std::size_t s = 0; s + 1 < stretches.size(); ++s)
      most = std::max({most, stretches[s + 1].op - stretches[s].op, stretches[s + 1].tensor - stretches[s].tensor});
    return most;
  }

  const BatchBoundProgram program_;
  Scratch sent_, lanes_, late_, times_, levels_;
  batch::BoundView view_;
  std::vector<Bytes> most_;  // D: memory of each device, in whole units
};

class Batch final : public BatchEngine {
 public:
  Batch(const Problem& problem, std::span<const std::uint32_t> order, BatchKernel kernel)
      : problem_(problem),
        network_(problem),
        program_(problem, network_, order),
        scalar_(problem, network_, order),
        exact_(make_exact_engine(problem, Schedule::in_order)),
        kernel_(kernel),
        limited_(memory_can_overflow(problem)),
        in_lanes_(network_.one_line &&
                  problem.device_count() <= (network_.private_pairs ? batch::most_devices : batch::most_on_lines)),
        device_(problem.op_count() * batch::lanes + 16),
        where_(problem.op_count() * ((problem.device_count() + 3) / 4) * 8 + 8),
        ready_(program_.slots * batch::lanes * sizeof(double)),
        device_free_(std::max<std::size_t>(problem.device_count(), 8) * batch::lanes * sizeof(double)),
        pair_free_((problem.device_count() * problem.device_count() + 2) * batch::lanes * sizeof(double)),
        makespan_(batch::lanes * sizeof(double)) {
    one_.order.assign(order.begin(), order.end());
    one_.device.resize(problem.op_count());
    view_ = program_.view();
    view_.ops = problem.op_count();
    view_.placement = lane_.data();
    view_.device = device_.as<std::uint8_t>();
    view_.where = where_.as<std::uint8_t>();
    view_.ready = ready_.as<double>();
    view_.device_free = device_free_.as<double>();
    view_.pair_free = pair_free_.as<double>();
    view_.makespan = makespan_.as<double>();
    if (limited_ && in_lanes_ && problem.device_count() <= batch::most_bounded &&
        BatchBoundProgram::supports(problem)) {
      bound_ = std::make_unique<Bound>(problem, order, program_.stretches);
      view_.bound = &bound_->view();
    }
    for (std::uint32_t group = 0; group < problem.group_names.size(); ++group) {
      for (std::uint32_t op = 0; op < problem.op_count(); ++op)
        if (problem.group[op] == GroupId{group}) group_ops_.items.push_back(op);
      group_ops_.begin.push_back(static_cast<std::uint32_t>(group_ops_.items.size()));
    }
  }

  void evaluate(std::span<const std::uint8_t* const> devices, std::span<Outcome> outcomes,
                std::span<Bytes> peaks) override {
    EMPLACE_CHECK(outcomes.size() == devices.size());
    const std::size_t row = problem_.device_count();
    EMPLACE_CHECK(peaks.empty() || peaks.size() == devices.size() * row);
    for (std::size_t begin = 0; begin < devices.size(); begin += batch_lanes) {
      const std::size_t count = std::min(batch_lanes, devices.size() - begin);
      for (std::size_t lane = 0; lane < batch_lanes; ++lane) lane_[lane] = devices[begin + std::min(lane, count - 1)];
      const bool scalar = kernel_ == BatchKernel::scalar;
      const bool need_exact = !peaks.empty() || (limited_ && (scalar || !bound_)) || (!scalar && !in_lanes_);
      if (!need_exact && !scalar) run_kernel();
      for (std::size_t lane = 0; lane < count; ++lane) {
        Outcome& outcome = outcomes[begin + lane];
        if (!need_exact) outcome = outcome_of(lane);
        if (need_exact || !outcome.timed() || (bound_ && bound_->exceeds_memory(lane)))
          outcome = ask_exact(lane, peaks.empty() ? peaks : peaks.subspan((begin + lane) * row, row));
      }
    }
  }

 private:
  void run_kernel() {
    switch (kernel_) {
      case BatchKernel::scalar: break;
      case BatchKernel::plain: return batch::run_plain(view_);
      case BatchKernel::avx2: return batch::run_avx2(view_);
      case BatchKernel::avx512: return batch::run_avx512(view_);
    }
  }

  // The outcome without memory. If an op cannot run or a route is missing, it is not timed, and has no reason yet.
  Outcome outcome_of(std::size_t lane) {
    Outcome outcome;
    if (kernel_ == BatchKernel::scalar)
      outcome.makespan = scalar_.makespan(lane_[lane]);
    else if (!std::isinf(view_.makespan[lane]))
      outcome.makespan = static_cast<Ticks>(view_.makespan[lane]);
    for (std::uint32_t group = 0; group < group_ops_.rows() && outcome.feasible(); ++group) {
      const auto ops = group_ops_[group];
      const std::uint8_t* const device = lane_[lane];
      unsigned differences = 0;
      for (const std::uint32_t op : ops) differences |= unsigned{device[op]} ^ device[ops[0]];
      if (differences != 0) {
        outcome.why = Infeasible::split_group;
        outcome.subject = group;
      }
    }
    judge_cuts(problem_, lane_[lane], outcome);
    return outcome;
  }

  Outcome ask_exact(std::size_t lane, std::span<Bytes> peaks) {
    std::copy_n(lane_[lane], one_.device.size(), one_.device.begin());
    const Outcome outcome = exact_->evaluate(one_, {.usage = peaks.empty() ? nullptr : &usage_, .timeline = nullptr});
    std::fill(peaks.begin(), peaks.end(), 0);
    if (!peaks.empty()) std::copy(usage_.device_peak.begin(), usage_.device_peak.end(), peaks.begin());
    return outcome;
  }

  const Problem& problem_;
  const Network network_;
  BatchProgram program_;
  BatchScalar scalar_;
  const std::unique_ptr<Engine> exact_;
  const BatchKernel kernel_;
  const bool limited_;   // false: no placement can exceed a memory
  const bool in_lanes_;  // true: vector kernels; false: one placement at a time
  Lists group_ops_;
  Scratch device_, where_, ready_, device_free_, pair_free_, makespan_;
  std::array<const std::uint8_t*, batch_lanes> lane_{};
  std::unique_ptr<Bound> bound_;  // null if memory is not limited or not bounded
  batch::View view_;
  Placement one_;  // for the exact engine
  Usage usage_;
};

}  // namespace

bool batch_supports(const Problem& problem) {
  return !Network(problem).any_deferred && all_times(problem) < exact_in_a_double;
}

std::unique_ptr<BatchEngine> make_batch_engine(const Problem& problem, std::span<const std::uint32_t> order,
                                               BatchKernel kernel) {
  const Network network(problem);
  for (std::size_t pair = 0; pair < network.deferred.size(); ++pair)
    if (network.deferred[pair])
      throw InputError({},
                       "in the batch engine only one device may send over a channel with contention; channel {} "
                       "carries what several devices send, or shares a route with a channel that does",
                       quote(problem.channels[network.contended[pair][0]].name));
  if (const double sum = all_times(problem); !(sum < exact_in_a_double))
    throw InputError({}, "the batch engine needs times that add up to less than 2^53 ps; these add up to {:.4g}", sum);
  Placement all_on_the_first{std::vector<std::uint8_t>(problem.op_count(), 0), {order.begin(), order.end()}};
  if (order.empty()) throw InputError({}, "the batch engine needs an order");
  check_placement(problem, all_on_the_first);
  return std::make_unique<Batch>(problem, order, kernel);
}

}  // namespace emplace::simulate
