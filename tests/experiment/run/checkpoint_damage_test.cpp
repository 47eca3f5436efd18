// Damaged checkpoints: they are never read as another state, and the previous checkpoint is used instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/log.hpp"
#include "emplace/base/random.hpp"
#include "experiment/run/checkpoint_hdf5.hpp"
#include "experiment/run/checkpoint_image.hpp"
#include "tests/experiment/run/checkpoint_samples.hpp"

namespace emplace::experiment::checkpoint_damage_test {
namespace {

using ::testing::HasSubstr;

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

std::string flipped(std::string bytes, Stream& stream) {
  bytes[stream.below(static_cast<std::uint32_t>(bytes.size()))] ^= static_cast<char>(1U << stream.below(8));
  return bytes;
}

TEST(DamagedCheckpoint, IsNeverAcceptedAndTheOneBeforeIsLoaded) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), sample_checkpoint(1));
  save_checkpoint(folder.path(), sample_checkpoint(2));
  const std::string newest = folder / "checkpoint.h5";
  const std::string good = read_file(newest);
  Stream stream({.seed = 1});
  log::configure(log::Level::error, false);
  for (int round = 0; round < 1200; ++round) {
    const bool cut = round % 6 == 0;
    const std::string bad =
        cut ? good.substr(0, stream.below(static_cast<std::uint32_t>(good.size()))) : flipped(good, stream);
    write_file(newest, bad);
    ASSERT_THROW(load_checkpoint(newest), InputError);
    ASSERT_TRUE(same_bits(load_newest_checkpoint(folder.path()), sample_checkpoint(1)));
  }
  log::to_file(folder / "log.txt");
  load_newest_checkpoint(folder.path());
  log::to_file("");
  log::configure(log::Level::info, false);
  EXPECT_THAT(read_file(folder / "log.txt"), HasSubstr("is damaged: its bytes do not match the seal in its last line; "
                                                       "continuing from " +
                                                       folder.path()));
}

// The checks below the seal: HDF5's checksums, our bounds and the digest of the content. They run in a separate
// process, because HDF5 1.10 loses ids of damaged files and prints errors about them when it ends: one reason for the
// seal.
TEST(DamagedCheckpoint, IsRefusedOrReadUnchangedEvenWithoutItsSeal) {
  const Checkpoint original = sample_checkpoint();
  const std::string good = checkpoint_image(original);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(300);
    Stream stream({.seed = 2});
    int refused = 0;
    for (int round = 0; round < 2000; ++round) {
      std::string bad = good;
      for (std::uint32_t flips = 1 + stream.below(4); flips > 0; --flips) bad = flipped(bad, stream);
      if (round % 5 == 0) bad.resize(stream.below(static_cast<std::uint32_t>(bad.size())));
      try {
        if (!same_bits(read_checkpoint_image(bad, "file.h5"), original)) _exit(1);
      } catch (const InputError& error) {
        if (!std::string_view(error.what()).starts_with("file.h5: ")) _exit(2);
        ++refused;
      } catch (...) {
        _exit(3);
      }
    }
    _exit(refused > 1000 ? 0 : 4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// Nothing that the digest does not cover is passed over.
TEST(DamagedCheckpoint, IsRefusedForAttributesBelowItsRootAndForEmptyGroups) {
  const TemporaryFolder folder;
  const auto message_after = [&](const auto& change) {
    const std::string file = folder / "changed.h5";
    write_file(file, checkpoint_image(sample_checkpoint()));
    {
      const hdf5::Handle opened(H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "open");
      change(static_cast<hid_t>(opened));
    }
    return message_of([&] { (void)read_checkpoint_image(read_file(file), "file.h5"); });
  };
  const auto add_attribute = [](const char* name) {
    return [name](hid_t file) {
      const hdf5::Handle object(H5Oopen(file, name, H5P_DEFAULT), H5Oclose, "open"),
          space(H5Screate(H5S_SCALAR), H5Sclose, "space"),
          made(H5Acreate2(object, "note", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, "attribute");
    };
  };
  EXPECT_EQ(message_after([](hid_t) {}), "no InputError");
  for (const std::string name : {"policy", "policy/logits"})
    EXPECT_EQ(message_after(add_attribute(name.c_str())),
              "file.h5: '" + name + "' has attributes, which only the root of a checkpoint has");
  EXPECT_EQ(message_after([](hid_t file) {
              const hdf5::Handle made(H5Gcreate2(file, "zzz", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                                      "group");
            }),
            "file.h5: the group /zzz/ is empty");
}

TEST(DamagedCheckpoint, DoesNotPushOutASoundPreviousOne) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), sample_checkpoint(1));
  save_checkpoint(folder.path(), sample_checkpoint(2));
  Stream stream({.seed = 4});
  write_file(folder / "checkpoint.h5", flipped(read_file(folder / "checkpoint.h5"), stream));
  save_checkpoint(folder.path(), sample_checkpoint(3));
  EXPECT_EQ(load_checkpoint(folder / "checkpoint.h5").attributes.at("update"), "3");
  EXPECT_EQ(load_checkpoint(folder / "checkpoint.previous.h5").attributes.at("update"), "1");
}

TEST(DamagedCheckpoint, NamesBothFilesWhenNeitherCanBeRead) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of([&] { load_newest_checkpoint(folder.path()); }),
              ::testing::AllOf(HasSubstr("checkpoint.h5: there is none"), HasSubstr("checkpoint.previous.h5")));
  write_file(folder / "checkpoint.h5", "short");
  write_file(folder / "checkpoint.previous.h5", "");
  EXPECT_THAT(message_of([&] { load_newest_checkpoint(folder.path()); }),
              ::testing::AllOf(HasSubstr("checkpoint.h5: is not an HDF5 file"),
                               HasSubstr("checkpoint.previous.h5: is not an HDF5 file")));
}

TEST(DamagedCheckpoint, ThatIsMissingAfterAKillBetweenTheRenamesIsReplacedByThePrevious) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), sample_checkpoint(1));
  std::filesystem::rename(folder / "checkpoint.h5", folder / "checkpoint.previous.h5");
  EXPECT_EQ(load_newest_checkpoint(folder.path()).attributes.at("update"), "1");
}

// An HDF5 file of another program, with objects that a checkpoint never has.
class ForeignFile {
 public:
  explicit ForeignFile(const char* name = "foreign") {
    const hdf5::Handle access = hdf5::property_list(H5P_FILE_ACCESS);
    hdf5::check(H5Pset_fapl_core(access, 4096, false), "core");
    file_.emplace_back(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "create");
  }
  [[nodiscard]] hid_t id() const { return file_.front(); }
  void text(const std::string& name, const std::string& value) const {
    const hdf5::Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "type");
    H5Tset_size(type, value.size());
    const hdf5::Handle space(H5Screate(H5S_SCALAR), H5Sclose, "space");
    const hdf5::Handle made(H5Acreate2(id(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                            "attribute");
    H5Awrite(made, type, value.data());
  }
  void as_checkpoint() const {
    text("emplace", "checkpoint/1");
    text("digest", std::string(32, '0'));
  }
  void dataset(const char* name, hid_t type, std::vector<hsize_t> extents, std::vector<hsize_t> chunk,
               bool deflate) const {
    const hdf5::Handle creation = hdf5::property_list(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    if (deflate)
      H5Pset_deflate(creation, 9);
    else
      H5Pset_fletcher32(creation);
    const hdf5::Handle space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose,
                             "space");
    const hdf5::Handle made(H5Dcreate2(id(), name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose,
                            "dataset");
  }
  [[nodiscard]] std::string refusal() const {
    H5Fflush(id(), H5F_SCOPE_GLOBAL);
    std::string image(static_cast<std::size_t>(H5Fget_file_image(id(), nullptr, 0)), '\0');
    H5Fget_file_image(id(), image.data(), image.size());
    return message_of([&] { read_checkpoint_image(image, "foreign.h5"); });
  }

 private:
  std::vector<hdf5::Handle> file_;
};

TEST(ForeignHdf5File, IsRefusedWithoutOurAttributes) {
  const ForeignFile file;
  EXPECT_THAT(file.refusal(), HasSubstr("no checkpoint of emplace (no attribute 'emplace')"));
}

TEST(ForeignHdf5File, OfAnotherFormatVersionIsRefusedByItsVersion) {
  const ForeignFile file;
  file.text("emplace", "checkpoint/9");
  EXPECT_THAT(file.refusal(), HasSubstr("has format 'checkpoint/9', this program reads 'checkpoint/1'"));
}

TEST(ForeignHdf5File, WithoutASealIsRefused) {
  const TemporaryFolder folder;
  write_file(folder / "checkpoint.h5", checkpoint_image(sample_checkpoint()));
  EXPECT_THAT(message_of([&] { load_checkpoint(folder / "checkpoint.h5"); }), HasSubstr("its last line is no seal"));
}

TEST(ForeignHdf5File, WithAnotherDigestIsRefused) {
  const ForeignFile file;
  file.as_checkpoint();
  EXPECT_THAT(file.refusal(), HasSubstr("is damaged: its content has digest"));
}

// 2^40 floats that were never written take no space in the file, but would take 4 TiB of our memory.
TEST(ForeignHdf5File, CannotMakeUsAllocateMoreThanItHolds) {
  const ForeignFile file;
  file.as_checkpoint();
  file.dataset("policy", H5T_IEEE_F32LE, {1ULL << 20, 1ULL << 20}, {1024, 16}, false);
  EXPECT_THAT(file.refusal(), HasSubstr("claims more bytes than the file has"));
}

TEST(ForeignHdf5File, MustStoreItsArraysAsWeDo) {
  const ForeignFile compressed;
  compressed.as_checkpoint();
  compressed.dataset("policy", H5T_IEEE_F32LE, {4}, {4}, true);
  EXPECT_THAT(compressed.refusal(), HasSubstr("is not stored as emplace stores it"));
  const ForeignFile short_integers("short");
  short_integers.as_checkpoint();
  short_integers.dataset("policy", H5T_STD_I16LE, {4}, {4}, false);
  EXPECT_THAT(short_integers.refusal(), HasSubstr("has an element type other than float32"));
}

TEST(ForeignHdf5File, MayNotLinkElsewhereOrInCircles) {
  const ForeignFile elsewhere;
  elsewhere.as_checkpoint();
  H5Lcreate_external("other.h5", "/secret", elsewhere.id(), "policy", H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_THAT(elsewhere.refusal(), HasSubstr("is a link to elsewhere"));
  const ForeignFile cycle("cycle");
  cycle.as_checkpoint();
  const hdf5::Handle group(H5Gcreate2(cycle.id(), "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "group");
  H5Lcreate_hard(cycle.id(), "/group", cycle.id(), "/group/again", H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_THAT(cycle.refusal(), HasSubstr("nested deeper than 16"));
}

}  // namespace
}  // namespace emplace::experiment::checkpoint_damage_test
