#include "keeper_image.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "emplace/base/error.hpp"

asm(".section .rodata\n"
    ".balign 16\n"
    "emplace_keeper_begin:\n"
    ".incbin \"" EMPLACE_KEEPER
    "\"\n"
    "emplace_keeper_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" const char emplace_keeper_begin[];
extern "C" const char emplace_keeper_end[];

namespace emplace {

namespace {

int make_image() {
  const int fd = ::memfd_create("emplace-keeper", MFD_CLOEXEC);
  for (const char* at = emplace_keeper_begin; fd >= 0 && at < emplace_keeper_end;) {
    const ssize_t put = ::write(fd, at, static_cast<std::size_t>(emplace_keeper_end - at));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw EnvironmentError("no memory for the program that runs others: {}", std::strerror(errno));
    at += put;
  }
  if (fd < 0) throw EnvironmentError("no file in memory for the program that runs others: {}", std::strerror(errno));
  return fd;
}

}  // namespace

int keeper_image() {
  static const int fd = make_image();
  return fd;
}

}  // namespace emplace
