// Plans, simulates and bounds a model in one formation of a machine's devices.
#pragma once

#include <string>
#include <vector>

#include "fit/fit.hpp"
#include "fit/formation.hpp"

namespace emplace::fit {

// Of `request` the model is what one device of a group holds, the machine that of the formation, the sequences those
// of one replica. Both must outlive this object.
class Fitter {
 public:
  // `copies`: how many times as many sequences all replicas have together.
  Fitter(const FitRequest& request, const Formation& formation, double copies)
      : request_(request), formation_(formation), copies_(copies) {}

  void plan();
  [[nodiscard]] const Fit& fit() const { return fit_; }
  // Tokens/s that no plan of the formation passes, which may have no plan; nullopt: not known. After plan().
  [[nodiscard]] std::optional<double> bound() const;
  // Memory, limits and lines of the plan.
  Fit finish();

 private:
  void prepare();
  [[nodiscard]] std::string file_in_lines() const;
  [[nodiscard]] std::string step_source() const;
  [[nodiscard]] std::int64_t sequences_of_a_step() const;
  void add_memory();
  [[nodiscard]] Bytes reserved(std::size_t d) const { return is_host_kind(fit_.kinds[d]) ? 0 : request_.reserve; }
  [[nodiscard]] Problem problem_of(const language::Scenario& scenario, const std::string& name,
                                   Traffic* traffic = nullptr) const;
  bool lacks_buffers();
  void plan_in(const RuntimeSpace& space);
  void compare();
  [[nodiscard]] FitPlan simulated(std::string method, Assignment assignment, std::vector<std::uint8_t> order) const;
  [[nodiscard]] double rate_of(Ticks ticks) const;
  [[nodiscard]] double first_token() const;
  void add_device(std::size_t d);

  const FitRequest& request_;
  const Formation& formation_;
  double copies_;
  Fit fit_;
  std::vector<std::uint8_t> exempt_;
  Traffic traffic_;    // of a decode step
  Bytes buffers_ = 0;  // that the planner takes for a device with layers
  std::vector<Bytes> plan_buffers_;
  Bytes weights_and_cache_ = 0;
  bool serial_ = false;
};

}  // namespace emplace::fit
