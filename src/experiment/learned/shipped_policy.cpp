#include "experiment/learned/shipped_policy.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/machine/machine.hpp"
#include "emplace/problem/builder.hpp"

namespace emplace::experiment {

namespace fs = std::filesystem;

namespace {

// The file that this code is in: the program, or the Python module.
fs::path own_file() {
  Dl_info info{};
  std::error_code none;
  // The name of a program is what its caller wrote, which may be found by PATH; /proc has its place.
  if (dladdr(reinterpret_cast<const void*>(&own_file), &info) != 0 && info.dli_fname != nullptr &&
      std::string_view(info.dli_fname).ends_with(".so"))
    return fs::weakly_canonical(info.dli_fname, none);
  return fs::read_symlink("/proc/self/exe", none);
}

// InputError for parameters of another version of the policy, which any problem shows.
void check_parameters(const TrainedPolicy& policy) {
  ProblemBuilder builder("one op");
  const std::size_t devices = policy.device_count();
  for (std::size_t d = 0; d < devices; ++d)
    builder.add_device({.name = std::to_string(d), .kind = "cpu", .memory = no_memory_limit});
  builder.add_op({.name = "op",
                  .type = "",
                  .seconds = std::vector<double>(devices, 1.0),
                  .resident = 0,
                  .scratch = 0,
                  .colocate = ""});
  const Problem problem = builder.build();
  const policy::PolicyProblem only(&problem, policy.group(problem));
  (void)policy.make({&only, 1});
}

ShippedPolicy read(const std::string& folder) {
  try {
    if (!has_checkpoint(folder)) return {nullptr, folder + "/checkpoint.h5 is missing"};
    auto policy = std::make_shared<const TrainedPolicy>(TrainedPolicy::load(folder));
    check_parameters(*policy);
    return {std::move(policy), ""};
  } catch (const InputError& error) {
    return {nullptr, error.what()};
  }
}

}  // namespace

std::string shipped_policy_folder() {
  if (const char* const named = std::getenv(policy_variable); named != nullptr && *named != '\0') return named;
  const fs::path below = "configs/policies/learned", share = "share/emplace";
  const fs::path program = own_file();
  constexpr int most_above = 5;  // build/PRESET/tests/FOLDER/test_FOLDER
  fs::path above = program.parent_path();
  for (int i = 0; i < most_above && !above.empty(); ++i, above = above.parent_path())
    for (const fs::path& folder : {above / below, above / share / below})
      if (has_checkpoint(folder.string())) return folder.string();
  return (program.parent_path().parent_path() / share / below).string();
}

ShippedPolicy shipped_policy() {
  static std::mutex mutex;
  static std::map<std::string, ShippedPolicy> known;
  const std::string folder = shipped_policy_folder();
  const std::lock_guard lock(mutex);
  const auto found = known.find(folder);
  return found != known.end() ? found->second : known[folder] = read(folder);
}

std::string unseen_by(const TrainedPolicy& policy, const Problem& problem) {
  std::size_t most = 0;
  std::set<std::string> kinds;
  for (const std::string& source : policy.recipe().sources()) {
    const std::size_t at = source.rfind('@');
    if (at == std::string::npos) continue;
    try {
      const machine::Machine machine = machine::load_machine(source.substr(at + 1), policy.run());
      most = std::max(most, machine.devices.size());
      for (const machine::MachineDevice& device : machine.devices) kinds.insert(device.kind);
    } catch (const InputError&) {  // a file of the one who trained it
    }
  }
  std::vector<std::string> unseen;
  if (most > 0 && problem.device_count() > most) unseen.push_back(fmt::format("more than {} devices", most));
  std::set<std::string> new_kinds;
  for (const Device& device : problem.devices)
    if (!kinds.empty() && !kinds.contains(device.kind)) new_kinds.insert(quote(device.kind));
  if (!new_kinds.empty())
    unseen.push_back(fmt::format("devices of kind {}", join(std::vector(new_kinds.begin(), new_kinds.end()), ", ")));
  std::string text = unseen.empty() ? "" : "the policy never saw " + join(unseen, " and ");
  if (const std::string types = policy.unseen_types(problem); !types.empty())
    text += (text.empty() ? "" : "; ") + types;
  return text;
}

}  // namespace emplace::experiment
