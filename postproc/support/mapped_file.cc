#include "postproc/support/mapped_file.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <utility>

namespace jtrace::postproc {
namespace {

// The handler's data of a mapping. Map takes it, the destructor releases it.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};  // of its last page; 0: nothing is mapped
  std::atomic<bool> lost_pages{false};
};

// As many files as a process may have open by default; beyond that nothing is mapped.
constexpr size_t kSlots = 1024;
std::array<Slot, kSlots> slots;  // of the process, as its signal handler is
size_t page_size = 0;            // set before the handler
struct sigaction former;

Slot* SlotAt(uintptr_t address) {
  for (Slot& slot : slots) {
    const uintptr_t end = slot.end.load(std::memory_order_acquire);
    if (address < end && address >= slot.begin.load(std::memory_order_relaxed)) return &slot;
  }
  return nullptr;
}

// Runs in the thread that read the page; makes only system calls.
void OnMissingPage(int, siginfo_t* info, void*) {
  const int saved = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  Slot* const slot = SlotAt(address);
  bool filled = false;
  if (slot != nullptr) {
    const uintptr_t page = address / page_size * page_size;
    const size_t size = slot->end.load(std::memory_order_relaxed) - page;
    filled = mmap(reinterpret_cast<void*>(page), size, PROT_READ,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
    slot->lost_pages.store(true, std::memory_order_relaxed);
  }
  // The signal occurs again, for the previous handler: a fault by itself, a sent signal is sent
  // once more.
  if (!filled) sigaction(SIGBUS, &former, nullptr);
  if (!filled && info->si_code <= 0) raise(SIGBUS);
  errno = saved;
}

void InstallHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = OnMissingPage;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &former);
  });
}

// kSlots if all are taken.
size_t TakeSlot() {
  size_t i = 0;
  while (i < kSlots && slots[i].taken.exchange(true)) ++i;
  return i;
}

}  // namespace

std::optional<MappedFile> MappedFile::Map(int fd, size_t size) {
  InstallHandler();
  const size_t index = TakeSlot();
  if (index == kSlots) return std::nullopt;
  Slot& slot = slots[index];
  void* const mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (mapping == MAP_FAILED) {
    slot.taken.store(false);
    return std::nullopt;
  }
  const auto begin = reinterpret_cast<uintptr_t>(mapping);
  slot.lost_pages.store(false);
  slot.begin.store(begin);
  slot.end.store(begin + (size + page_size - 1) / page_size * page_size);
  MappedFile file;
  file.begin_ = static_cast<const char*>(mapping);
  file.size_ = size;
  file.slot_ = index;
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      slot_(std::exchange(other.slot_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(size_, other.size_);
  std::swap(slot_, other.slot_);
  return *this;
}

MappedFile::~MappedFile() {
  if (begin_ == nullptr) return;
  Slot& slot = slots[slot_];
  slot.end.store(0);
  munmap(const_cast<char*>(begin_), size_);
  slot.taken.store(false);
}

bool MappedFile::has_lost_pages() const {
  return begin_ != nullptr && slots[slot_].lost_pages.load(std::memory_order_relaxed);
}

}  // namespace jtrace::postproc
