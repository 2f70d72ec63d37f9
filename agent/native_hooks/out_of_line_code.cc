#include "agent/native_hooks/out_of_line_code.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace jtrace::native_hooks {
namespace {

// The kernel writes to pages that are not writable, so their protection does not change.
bool WriteByKernel(uintptr_t address, std::span<const uint8_t> bytes) {
  const int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t written = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(address));
  close(fd);
  return written == static_cast<ssize_t>(bytes.size());
}

// If /proc is unavailable. The pages stay executable meanwhile, because threads run them.
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

// 2 GB, less 64 MB that an instruction's own displacement may add.
constexpr uintptr_t kReach = (uintptr_t{1} << 31) - (uintptr_t{1} << 26);

uintptr_t Distance(uintptr_t a, uintptr_t b) { return a > b ? a - b : b - a; }

// Free pages within kReach of `address` according to /proc/self/maps, the nearest first.
std::vector<uintptr_t> FreePagesNear(uintptr_t address) {
  std::vector<uintptr_t> free;
  std::ifstream maps("/proc/self/maps");
  std::string line;
  uintptr_t end_before = 0;
  const auto add = [&](uintptr_t page) {
    if (Distance(page, address) < kReach) free.push_back(page);
  };
  while (std::getline(maps, line)) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2) continue;
    if (end_before != 0 && begin - end_before >= 4 * signal_safe::kHookPageBytes) {
      // Not directly beside a mapping that may grow.
      add(end_before + signal_safe::kHookPageBytes);
      add(begin - 2 * signal_safe::kHookPageBytes);
    }
    end_before = end;
  }
  std::sort(free.begin(), free.end(), [address](uintptr_t a, uintptr_t b) {
    return Distance(a, address) < Distance(b, address);
  });
  return free;
}

void* MapPage(uintptr_t at, int flags) {
  return mmap(reinterpret_cast<void*>(at), signal_safe::kHookPageBytes, PROT_READ | PROT_EXEC,
              MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

// These return 0 if there is no such memory.
uintptr_t MapNear(uintptr_t address) {
  for (const uintptr_t page : FreePagesNear(address)) {
    void* const mapped = MapPage(page, MAP_FIXED_NOREPLACE);
    if (mapped != MAP_FAILED) return reinterpret_cast<uintptr_t>(mapped);
  }
  return 0;
}
uintptr_t MapAnywhere() {
  void* const mapped = MapPage(0, 0);
  return mapped != MAP_FAILED ? reinterpret_cast<uintptr_t>(mapped) : 0;
}

signal_safe::HookPage* PublishedPages() {
  if (signal_safe::HookPage* pages = signal_safe::hook_pages.load()) return pages;
  auto* const pages = new (std::nothrow) signal_safe::HookPage[signal_safe::kMaxHookPages]();
  signal_safe::hook_pages.store(pages, std::memory_order_release);
  return pages;
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

OutOfLineCode::Page* OutOfLineCode::PageWithRoom(uintptr_t address, uintptr_t reach) {
  Page* found = nullptr;
  for (uint32_t i = 0; i < signal_safe::hook_page_count.load(); ++i) {
    if (pages_[i].used < signal_safe::kSlotsOfPage && Distance(pages_[i].begin, address) < reach) {
      found = &pages_[i];
    }
  }
  return found;
}

absl::StatusOr<OutOfLineCode::Page*> OutOfLineCode::AddPage(uintptr_t begin) {
  if (begin == 0) {
    return absl::UnavailableError(
        absl::StrCat("this system gives no executable memory: ", std::strerror(errno)));
  }
  const uint32_t count = signal_safe::hook_page_count.load();
  pages_[count] = {begin, 0};
  signal_safe::hook_pages.load()[count].begin.store(begin);
  signal_safe::hook_page_count.store(count + 1, std::memory_order_release);
  signal_safe::hook_pages_low.store(std::min(signal_safe::hook_pages_low.load(), begin));
  signal_safe::hook_pages_high.store(
      std::max(signal_safe::hook_pages_high.load(), begin + signal_safe::kHookPageBytes));
  return &pages_[count];
}

absl::StatusOr<uintptr_t> OutOfLineCode::Allocate(uintptr_t address) {
  Page* page = PageWithRoom(address, kReach);
  const bool may_add = signal_safe::hook_page_count.load() < signal_safe::kMaxHookPages &&
                       PublishedPages() != nullptr;
  const uintptr_t near = page == nullptr && may_add ? MapNear(address) : 0;
  // Most instructions also run far away.
  if (page == nullptr && near == 0) page = PageWithRoom(address, UINTPTR_MAX);
  if (page == nullptr) {
    if (!may_add) return absl::ResourceExhaustedError("there is no room for more hooks");
    const auto added = AddPage(near != 0 ? near : MapAnywhere());
    if (!added.ok()) return added.status();
    page = *added;
  }
  return page->begin + page->used++ * signal_safe::kHookSlotBytes;
}

void OutOfLineCode::Release(uintptr_t slot) {
  for (uint32_t i = 0; i < signal_safe::hook_page_count.load(); ++i) {
    if (slot - pages_[i].begin < signal_safe::kHookPageBytes) --pages_[i].used;
  }
}

void OutOfLineCode::Publish(uintptr_t slot, signal_safe::PatchSite* site) {
  signal_safe::HookPage* const pages = signal_safe::hook_pages.load();
  for (uint32_t i = 0; i < signal_safe::hook_page_count.load(); ++i) {
    if (slot - pages_[i].begin >= signal_safe::kHookPageBytes) continue;
    pages[i].sites[(slot - pages_[i].begin) / signal_safe::kHookSlotBytes].store(site);
  }
}

}  // namespace jtrace::native_hooks
