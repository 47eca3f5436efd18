#include <cstdint>
#include <cstdio>

#include <coin/CbcConfig.h>
#include <coin/Cbc_C_Interface.h>
#include <coin/ClpConfig.h>
#include <coin/Clp_C_Interface.h>
#include <fmt/core.h>
#include <google/protobuf/stubs/common.h>
#include <jemalloc/jemalloc.h>
#include <metis.h>
#include <onnx/common/version.h>
#include <scotch.h>
#include <spdlog/version.h>
#include <toml++/toml.h>
#include <xxhash.h>
#include <Eigen/Core>
#include <boost/version.hpp>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "doctor/machine.hpp"
#include "experiment/run/hdf5_library.hpp"

// Null in programs that are not linked with jemalloc, such as tests.
#pragma weak mallctl

namespace emplace::doctor {

namespace {

// 90100 is 9.1.0 in hundreds, 3021012 is 3.21.12 in thousands.
std::string in_parts(std::int64_t number, std::int64_t part) {
  return fmt::format("{}.{}.{}", number / part / part, number / part % part, number % part);
}

std::string running_scotch() {
  int version = 0, release = 0, patch = 0;
  SCOTCH_version(&version, &release, &patch);
  return fmt::format("{}.{}.{}", version, release, patch);
}

std::string running_jemalloc() {
  const char* text = nullptr;
  std::size_t bytes = sizeof text;
  if (mallctl == nullptr || mallctl("version", &text, &bytes, nullptr, 0) != 0 || text == nullptr) return "";
  return std::string(text).substr(0, std::string_view(text).find('-'));
}

}  // namespace

std::vector<Library> libraries() {
  std::vector<Library> list = dist::mpi_libraries();
  list.push_back(experiment::hdf5_library());
  list.push_back(
      {"Scotch", fmt::format("{}.{}.{}", SCOTCH_VERSION, SCOTCH_RELEASE, SCOTCH_PATCHLEVEL), running_scotch()});
  list.push_back({"METIS", fmt::format("{}.{}.{}", METIS_VER_MAJOR, METIS_VER_MINOR, METIS_VER_SUBMINOR), ""});
  list.push_back({"Cbc", CBC_VERSION, Cbc_getVersion()});
  list.push_back({"Clp", CLP_VERSION, Clp_Version()});
  list.push_back({"Eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION), ""});
  list.push_back({"Boost", in_parts(BOOST_VERSION / 100 * 1000 + BOOST_VERSION % 100, 1000), ""});
  list.push_back({"protobuf", in_parts(GOOGLE_PROTOBUF_VERSION, 1000), ""});
  list.push_back({"ONNX", ONNX_NAMESPACE::LAST_RELEASE_VERSION, ""});
  list.push_back({"pugixml", fmt::format("{}.{}", PUGIXML_VERSION / 1000, PUGIXML_VERSION % 1000 / 10), ""});
  list.push_back(
      {"nlohmann-json",
       fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH),
       ""});
  list.push_back({"toml++", fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH), ""});
  list.push_back({"fmt", in_parts(FMT_VERSION, 100), ""});
  list.push_back({"spdlog", fmt::format("{}.{}.{}", SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH), ""});
  list.push_back({"jemalloc",
                  fmt::format("{}.{}.{}", JEMALLOC_VERSION_MAJOR, JEMALLOC_VERSION_MINOR, JEMALLOC_VERSION_BUGFIX),
                  running_jemalloc()});
  list.push_back({"xxHash", in_parts(XXH_VERSION_NUMBER, 100), ""});
  return list;
}

Check check_library(const Library& library) {
  if (library.running.empty()) return {library.name, Check::Level::ok, library.headers};
  // The version text of the running library may have more than the number.
  if (library.running.find(library.headers) == std::string::npos)
    return {library.name, Check::Level::warning,
            fmt::format("compiled with {}, but {} runs: install the one it was compiled with, or build again",
                        library.headers, library.running)};
  return {library.name, Check::Level::ok, library.running};
}

}  // namespace emplace::doctor
