#include "agent/hooks/code_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace jtrace::hooks {
namespace {

// The kernel can write to pages that are not writable: their protection does not change.
bool WriteByKernel(uintptr_t address, std::span<const uint8_t> bytes) {
  const int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t written = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(address));
  close(fd);
  return written == static_cast<ssize_t>(bytes.size());
}

// If /proc is unavailable: code stays executable all the time.
bool WriteByOpening(uintptr_t address, std::span<const uint8_t> bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = address & ~(page - 1);
  const uintptr_t end = (address + bytes.size() + page - 1) & ~(page - 1);
  auto* const pages = reinterpret_cast<void*>(begin);
  if (mprotect(pages, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  auto* const at = reinterpret_cast<uint8_t*>(address);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::atomic_ref<uint8_t>(at[i]).store(bytes[i], std::memory_order_seq_cst);
  }
  mprotect(pages, end - begin, PROT_READ | PROT_EXEC);
  return true;
}

absl::Status Write(uintptr_t address, std::span<const uint8_t> bytes) {
  if (WriteByKernel(address, bytes) || WriteByOpening(address, bytes)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("this system does not let programs change their code (", std::strerror(errno),
                   "): neither /proc/self/mem nor mprotect works"));
}

}  // namespace

absl::Status WriteCodeByte(uintptr_t address, uint8_t byte) { return Write(address, {&byte, 1}); }

absl::Status WriteNewCode(uintptr_t address, std::span<const uint8_t> bytes) {
  return Write(address, bytes);
}

void SerializeProcessors() {
  static const bool is_registered =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
  if (is_registered) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

}  // namespace jtrace::hooks
