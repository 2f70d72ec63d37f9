#include "agent/signal_safe/patch_sites.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace jtrace::signal_safe {

constinit std::atomic<PatchSites*> patch_sites{nullptr};
constinit std::atomic<HookPage*> hook_pages{nullptr};
constinit std::atomic<uint32_t> hook_page_count{0};
constinit std::atomic<uintptr_t> hook_pages_low{UINTPTR_MAX};
constinit std::atomic<uintptr_t> hook_pages_high{0};

void DisableAllHooks() {
  const PatchSites* const sites = patch_sites.load(std::memory_order_acquire);
  if (sites == nullptr) return;
  const long memory = syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (memory < 0) return;
  for (const std::atomic<PatchSite*>& slot : sites->slots) {
    PatchSite* const site = slot.load(std::memory_order_acquire);
    if (site == nullptr || site->binding.exchange({}).actions == 0) continue;
    syscall(SYS_pwrite64, memory, &site->byte, sizeof site->byte, site->address);
  }
  syscall(SYS_close, memory);
}

uintptr_t OriginalPc(uintptr_t pc) {
  if (pc < hook_pages_low.load(std::memory_order_relaxed) ||
      pc >= hook_pages_high.load(std::memory_order_relaxed)) {
    return pc;
  }
  const HookPage* const pages = hook_pages.load(std::memory_order_acquire);
  const uint32_t count = hook_page_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    const uintptr_t begin = pages[i].begin.load(std::memory_order_relaxed);
    if (pc < begin || pc >= begin + kHookPageBytes) continue;
    const PatchSite* const site =
        pages[i].sites[(pc - begin) / kHookSlotBytes].load(std::memory_order_acquire);
    if (site == nullptr) return pc;
    return pc - site->slot < site->done ? site->address : site->after;
  }
  return pc;
}

}  // namespace jtrace::signal_safe
