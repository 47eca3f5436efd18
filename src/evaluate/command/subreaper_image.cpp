#include "evaluate/command/subreaper_image.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "emplace/base/error.hpp"

asm(".section .rodata\n"
    ".balign 16\n"
    "emplace_subreaper_begin:\n"
    ".incbin \"" EMPLACE_SUBREAPER
    "\"\n"
    "emplace_subreaper_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" const char emplace_subreaper_begin[];
extern "C" const char emplace_subreaper_end[];

namespace emplace::evaluate {

namespace {

int make_image() {
  const int fd = ::memfd_create("emplace-subreaper", MFD_CLOEXEC);
  for (const char* at = emplace_subreaper_begin; fd >= 0 && at < emplace_subreaper_end;) {
    const ssize_t put = ::write(fd, at, static_cast<std::size_t>(emplace_subreaper_end - at));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0)
      throw EnvironmentError("cannot write the helper program that runs the user's program to memory: {}",
                             std::strerror(errno));
    at += put;
  }
  if (fd < 0)
    throw EnvironmentError("cannot make a file in memory for the helper program that runs the user's program: {}",
                           std::strerror(errno));
  return fd;
}

}  // namespace

int subreaper_image() {
  static const int fd = make_image();
  return fd;
}

}  // namespace emplace::evaluate
