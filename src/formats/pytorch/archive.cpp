#include "formats/pytorch/archive.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/input_file.hpp"

namespace emplace::formats {

namespace {

constexpr std::int64_t most_files = 1'000'000;  // a model has one for each weight
// The text of a program becomes about a tenth, and PyTorch does not compress it; a zip bomb becomes a thousandth.
constexpr std::uint64_t most_expansion = 100, always_read = std::uint64_t{16} << 20;

// Nothing is unpacked, but such an archive was made to do harm.
bool leads_out(const std::string& name) {
  const std::filesystem::path path(name);
  return path.is_absolute() || name.find('\\') != std::string::npos ||
         std::ranges::any_of(path, [](const auto& part) { return part == ".."; });
}

std::string error_text(int error) {
  zip_error_t named;
  zip_error_init_with_code(&named, error);
  std::string text = zip_error_strerror(&named);
  zip_error_fini(&named);
  return text;
}

}  // namespace

void ZipArchive::Discard::operator()(struct zip* archive) const { zip_discard(archive); }

ZipArchive::ZipArchive(const std::string& path) : path_(path) {
  const InputFile is_regular(path);  // libzip would wait for a pipe
  int error = 0;
  archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &error));
  if (archive_ == nullptr) throw InputError(path, "is no zip archive, or is damaged: {}", error_text(error));
  const std::int64_t files = zip_get_num_entries(archive_.get(), 0);
  if (files > most_files) throw InputError(path, "holds {} files; at most {} are read", files, most_files);
  for (std::int64_t i = 0; i < files; ++i) {
    const char* name = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    names_.emplace_back(name == nullptr ? "" : name);
    if (leads_out(names_.back())) throw InputError(path, "holds a file that leads out of it: {}", quote(names_.back()));
  }
}

std::string ZipArchive::read(const std::string& name, std::uint64_t most) const {
  const std::string place = fmt::format("{}: {}", path_, name);
  const auto position = static_cast<zip_uint64_t>(std::ranges::find(names_, name) - names_.begin());
  zip_stat_t facts;
  zip_stat_init(&facts);
  if (zip_stat_index(archive_.get(), position, 0, &facts) != 0 || (facts.valid & ZIP_STAT_SIZE) == 0)
    throw InputError(place, "cannot be read: {}", zip_strerror(archive_.get()));
  if (facts.size > most)
    throw InputError(place, "has {}; at most {} are read", human_bytes(static_cast<Bytes>(facts.size)),
                     human_bytes(static_cast<Bytes>(most)));
  if ((facts.valid & ZIP_STAT_COMP_SIZE) != 0 && facts.size > always_read &&
      facts.size / most_expansion > facts.comp_size)
    throw InputError(place, "would become {} from {}, more than {} times as much, as a zip bomb does",
                     human_bytes(static_cast<Bytes>(facts.size)), human_bytes(static_cast<Bytes>(facts.comp_size)),
                     most_expansion);
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(archive_.get(), position, 0),
                                                               zip_fclose);
  if (file == nullptr) throw InputError(place, "cannot be read: {}", zip_strerror(archive_.get()));
  // Grows as bytes come, because the stated length may be a lie.
  std::string content;
  constexpr std::size_t piece = std::size_t{1} << 20;
  while (true) {
    const std::size_t had = content.size();
    const std::uint64_t next = std::min<std::uint64_t>(piece, facts.size - had + 1);
    content.resize(had + next);
    const std::int64_t got = zip_fread(file.get(), content.data() + had, next);
    if (got < 0) throw InputError(place, "is damaged: {}", zip_file_strerror(file.get()));
    content.resize(had + static_cast<std::size_t>(got));
    if (got == 0) break;
    if (content.size() > facts.size) throw InputError(place, "is damaged: it is longer than the archive says");
  }
  if (content.size() != facts.size) throw InputError(place, "is damaged: it is shorter than the archive says");
  return content;
}

}  // namespace emplace::formats
