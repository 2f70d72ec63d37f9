#include "agent/jvm/hotspot/checked_read.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace jtrace::jvm {
namespace {

// The kernel reads the memory here, too: write(2) fails if its buffer is not mapped.
bool CopyThroughPipe(uintptr_t address, char* to, size_t bytes) {
  constexpr size_t kMaxAtOnce = 4096;  // an empty pipe takes at least this much
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  bool copied = true;
  for (size_t done = 0; done < bytes && copied;) {
    const size_t count = std::min(kMaxAtOnce, bytes - done);
    const auto written = write(ends[1], reinterpret_cast<const void*>(address + done), count);
    copied = written > 0 && read(ends[0], to + done, static_cast<size_t>(written)) == written;
    if (copied) done += static_cast<size_t>(written);
  }
  close(ends[0]);
  close(ends[1]);
  return copied;
}

}  // namespace

bool CheckedCopy(uintptr_t address, void* to, size_t bytes) {
  const int saved = errno;
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(address), bytes};
  const ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  // EFAULT and a short count mean unreadable memory. Other errors mean that the call is forbidden.
  const bool is_forbidden = copied < 0 && errno != EFAULT;
  const bool whole = is_forbidden ? CopyThroughPipe(address, static_cast<char*>(to), bytes)
                                  : copied == static_cast<ssize_t>(bytes);
  errno = saved;
  return whole;
}

PageReader::PageReader() : pages_(std::make_unique_for_overwrite<std::array<Page, kPages>>()) {}

const PageReader::Page& PageReader::PageAt(uintptr_t address) {
  const uintptr_t begin = address & ~(kPageBytes - 1);
  Page& page = (*pages_)[begin / kPageBytes % kPages];
  if (page.begin != begin) {
    page.begin = begin;
    page.readable = CheckedCopy(begin, page.bytes.data(), kPageBytes);
  }
  return page;
}

bool PageReader::Copy(uintptr_t address, void* to, size_t bytes) {
  auto* out = static_cast<char*>(to);
  while (bytes > 0) {
    const Page& page = PageAt(address);
    if (!page.readable) return false;
    const size_t at = address % kPageBytes;
    const size_t count = std::min(bytes, kPageBytes - at);
    std::memcpy(out, page.bytes.data() + at, count);
    out += count;
    address += count;
    bytes -= count;
  }
  return true;
}

std::string PageReader::Text(uintptr_t address, size_t most) {
  std::string text;
  while (text.size() < most) {
    const Page& page = PageAt(address);
    if (!page.readable) return {};
    const size_t at = address % kPageBytes;
    const size_t count = std::min(most - text.size(), kPageBytes - at);
    const char* const begin = page.bytes.data() + at;
    const size_t length = strnlen(begin, count);
    text.append(begin, length);
    if (length < count) break;
    address += count;
  }
  return text;
}

}  // namespace jtrace::jvm
