#include "agent/native_hooks/trap_signal.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "agent/native_hooks/displaced_instruction.h"
#include "agent/native_hooks/hook_thread.h"
#include "agent/native_hooks/out_of_line_code.h"
#include "agent/native_hooks/patch_site_table.h"
#include "agent/native_hooks/trap_action.h"
#include "agent/signal_safe/previous_actions.h"

// Null before version 2.32 of the C library.
// NOLINTNEXTLINE(readability-redundant-declaration): this one is weak.
extern "C" const char* sigabbrev_np(int signal) noexcept __attribute__((weak));

namespace jtrace::native_hooks {
namespace {

absl::Status ReserveThreads() {
  if (hook_threads.load() != nullptr) return absl::OkStatus();
  void* const memory = mmap(nullptr, sizeof(HookThread) * kMaxHookThreads, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return absl::ErrnoToStatus(errno, "no address space for hooks");
  hook_threads.store(static_cast<HookThread*>(memory), std::memory_order_release);
  return absl::OkStatus();
}

std::string SignalName(int signal) {
  const char* name = sigabbrev_np == nullptr ? nullptr : sigabbrev_np(signal);
  return name == nullptr ? absl::StrCat("signal ", signal) : absl::StrCat("SIG", name);
}

absl::string_view Basename(absl::string_view path) { return path.substr(path.rfind('/') + 1); }

uint64_t BlockedSignals(const std::string& status_file) {
  std::ifstream lines(status_file);
  std::string line;
  while (std::getline(lines, line)) {
    absl::string_view text = line;
    if (!absl::ConsumePrefix(&text, "SigBlk:\t")) continue;
    return std::strtoull(std::string(text).c_str(), nullptr, 16);
  }
  return 0;
}

bool IsBlocked(uint64_t blocked, int signal) { return (blocked >> (signal - 1) & 1) != 0; }

// Signal 32 belongs to glibc. A thread that blocks it is inside of glibc, which calls only
// functions there that are refused anyway (refusals.h).
bool BlocksTraps(uint64_t blocked) {
  constexpr int kOfGlibc = 32;
  return IsBlocked(blocked, SIGTRAP) && !IsBlocked(blocked, kOfGlibc);
}

// Whether SIGTRAP is blocked at ten looks 1 ms apart: signal handlers may block it while they run.
bool BlocksTrapsForGood(const std::string& status_file) {
  constexpr int kLooks = 10;
  constexpr timespec kMoment = {0, 1'000'000};
  for (int i = 0; i < kLooks; ++i) {
    if (i != 0) nanosleep(&kMoment, nullptr);
    if (!BlocksTraps(BlockedSignals(status_file))) return false;
  }
  return true;
}

// Only handlers of the program are listed: jtrace's own call nothing that may be hooked.
std::vector<std::string> HandlersThatBlockTraps() {
  std::vector<std::string> names;
  Dl_info own = {};
  dladdr(reinterpret_cast<const void*>(&FindTrapBlockers), &own);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action;
    if (signal == SIGTRAP || sigaction(signal, nullptr, &action) != 0) continue;
    const bool is_handled = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    if (!is_handled || sigismember(&action.sa_mask, SIGTRAP) == 0) continue;
    Dl_info object = {};
    dladdr(reinterpret_cast<const void*>(action.sa_handler), &object);
    if (object.dli_fbase == own.dli_fbase) continue;
    names.push_back(absl::StrCat(
        "the handler of ", SignalName(signal),
        object.dli_fname != nullptr ? absl::StrCat(" in ", Basename(object.dli_fname)) : ""));
  }
  return names;
}

std::string FirstLine(const std::string& file) {
  std::ifstream lines(file);
  std::string line;
  std::getline(lines, line);
  return line;
}

// call or jmp with a distance of 32 bits.
constexpr size_t kBranchBytes = 5;
// How far the branch moves if the highest byte of its distance changes by one.
constexpr intptr_t kStride = intptr_t{1} << 24;

bool BeginsWith(std::span<const uint8_t> code, std::initializer_list<uint8_t> bytes) {
  return code.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), code.begin());
}

// Whether a function makes the system call SYS_rt_sigaction (13).
bool CallsKernel(uintptr_t function) {
  constexpr size_t kMaxBytes = 512;
  const std::vector<uint8_t> bytes = ReadCode(function, kMaxBytes);
  bool is_number_loaded = false;
  for (std::span<const uint8_t> code = bytes; !code.empty();) {
    if (BeginsWith(code, {0xb8, 13, 0, 0, 0}) || BeginsWith(code, {0x48, 0xc7, 0xc0, 13, 0, 0, 0}))
      is_number_loaded = true;  // mov $13, %eax or %rax
    if (BeginsWith(code, {0x0f, 0x05})) return is_number_loaded;
    if (BeginsWith(code, {0xc3})) return false;  // ret: what follows may be another function
    const size_t length = InstructionLength(code);
    if (length == 0) return false;
    code = code.subspan(length);
  }
  return false;
}

absl::StatusOr<DirectBranch> KernelSigactionOfLibc() {
  void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void* const function = libc != nullptr ? dlsym(libc, "sigaction") : nullptr;
  Dl_info info = {};
  void* symbol = nullptr;
  if (function == nullptr || dladdr1(function, &info, &symbol, RTLD_DL_SYMENT) == 0 ||
      symbol == nullptr) {
    return absl::UnimplementedError("libc.so.6 has no sigaction");
  }
  return FindKernelSigaction(reinterpret_cast<uintptr_t>(function),
                             static_cast<const ElfW(Sym)*>(symbol)->st_size);
}

// Maps memory for code at exactly this place. False: it is not free.
bool MapAt(uintptr_t address, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = address & ~(page - 1);
  const uintptr_t end = (address + bytes + page - 1) & ~(page - 1);
  auto* const wanted = reinterpret_cast<void*>(begin);
  void* const mapped = mmap(wanted, end - begin, PROT_READ | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped == wanted) return true;
  if (mapped != MAP_FAILED) munmap(mapped, end - begin);  // an old kernel chose another place
  return false;
}

// cmp $SIGTRAP, %edi; jne target; jmp *InterceptedSigaction
constexpr size_t kTrampolineBytes = 23;
std::array<uint8_t, kTrampolineBytes> TrampolineCode(uintptr_t at, uintptr_t target) {
  std::array<uint8_t, kTrampolineBytes> code = {0x83, 0xff, SIGTRAP, 0x0f, 0x85, 0, 0, 0,
                                                0,    0xff, 0x25,    0,    0,    0, 0};
  constexpr size_t kJumpEnd = 9;
  constexpr size_t kAddress = 15;
  const auto distance = static_cast<int32_t>(target - (at + kJumpEnd));
  std::memcpy(&code[kJumpEnd - sizeof distance], &distance, sizeof distance);
  const auto guard = reinterpret_cast<uintptr_t>(&InterceptedSigaction);
  std::memcpy(&code[kAddress], &guard, sizeof guard);
  return code;
}

// Maps the nearest free place that the branch reaches if only its last byte changes.
std::optional<uintptr_t> MapTrampoline(const DirectBranch& branch) {
  constexpr intptr_t kMaxDistance = 127;
  const auto distance = static_cast<intptr_t>(branch.target - (branch.address + kBranchBytes));
  for (intptr_t i = 1; i <= kMaxDistance; ++i) {
    for (const intptr_t moved : {-i * kStride, i * kStride}) {
      const intptr_t reach = distance + moved;
      if (reach != static_cast<int32_t>(reach)) continue;
      const uintptr_t trampoline = branch.target + static_cast<uintptr_t>(moved);
      if (MapAt(trampoline, kTrampolineBytes)) return trampoline;
    }
  }
  return std::nullopt;
}

absl::Status IdentifyProcess() {
  void* const memory = mmap(nullptr, sizeof(std::atomic<int32_t>), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return absl::ErrnoToStatus(errno, "no memory");
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (madvise(memory, page, MADV_WIPEONFORK) != 0) {
    return absl::UnimplementedError("this kernel does not show which process is a child of fork");
  }
  auto* const owner = new (memory) std::atomic<int32_t>(getpid());
  trap_action_owner.store(owner, std::memory_order_release);
  return absl::OkStatus();
}

absl::Status Install() {
#ifdef __SANITIZE_THREAD__
  return absl::UnimplementedError("the sanitizer's runtime has its own handlers");
#endif
  const auto branch = KernelSigactionOfLibc();
  if (!branch.ok()) return branch.status();
  if (absl::Status status = IdentifyProcess(); !status.ok()) return status;
  const std::optional<uintptr_t> trampoline = MapTrampoline(*branch);
  if (!trampoline.has_value())
    return absl::UnavailableError("no memory for code is free near libc");
  if (absl::Status status = WriteNewCode(*trampoline, TrampolineCode(*trampoline, branch->target));
      !status.ok()) {
    return status;
  }
  signal_safe::kernel_sigaction.store(reinterpret_cast<signal_safe::Sigaction>(branch->target));
  SerializeProcessors();
  // The highest byte of the distance is the instruction's last one.
  const auto distance = static_cast<uint32_t>(*trampoline - (branch->address + kBranchBytes));
  absl::Status status =
      WriteCodeByte(branch->address + kBranchBytes - 1, static_cast<uint8_t>(distance >> 24));
  SerializeProcessors();
  return status;
}

}  // namespace

absl::Status EnsureTrapHandler() {
  switch (InstallTrapHandler()) {
    case InstallResult::kInstalled:
      return absl::OkStatus();
    case InstallResult::kNoRoom:
      return absl::FailedPreconditionError(
          "the program has had too many different actions for SIGTRAP, which hooks use");
    case InstallResult::kFailed:
      break;
  }
  return absl::ErrnoToStatus(errno, "sigaction");
}

absl::Status CheckTraps() {
  const std::vector<std::string> deaf = FindTrapBlockers();
  if (!deaf.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(absl::StrJoin(deaf, ", "), deaf.size() == 1 ? " blocks" : " block",
                     " SIGTRAP, which hooks use: a hook there would end the program"));
  }
  return EnsureTrapHandler();
}

absl::Status PrepareTrapHandler() {
  if (absl::Status status = ReserveThreads(); !status.ok()) return status;
  InterceptSigaction().IgnoreError();  // Hooks reports it
  return CheckTraps();
}

uint64_t ObjectsLoadedSoFar() {
  uint64_t loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        *static_cast<uint64_t*>(into) = info->dlpi_adds;
        return 1;
      },
      &loaded);
  return loaded;
}

std::vector<std::string> FindTrapBlockers() {
#ifdef __SANITIZE_THREAD__
  return {};  // its runtime blocks all signals in every handler
#endif
  std::vector<std::string> names = HandlersThatBlockTraps();
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return names;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    const std::string task = absl::StrCat("/proc/self/task/", entry->d_name);
    if (!BlocksTrapsForGood(task + "/status")) continue;
    names.push_back(absl::StrCat("thread '", FirstLine(task + "/comm"), "'"));
  }
  closedir(tasks);
  return names;
}

absl::StatusOr<DirectBranch> FindKernelSigaction(uintptr_t address, size_t size) {
  const std::vector<uint8_t> bytes = ReadCode(address, size);
  for (size_t i = 0; i + kBranchBytes <= bytes.size();) {
    const std::span<const uint8_t> code = std::span(bytes).subspan(i);
    const size_t length = InstructionLength(code);
    if (length == 0) break;
    constexpr uint8_t kCall = 0xe8;
    constexpr uint8_t kJump = 0xe9;
    if (length == kBranchBytes && (code[0] == kCall || code[0] == kJump)) {
      int32_t distance = 0;
      std::memcpy(&distance, &code[1], sizeof distance);
      const uintptr_t after = address + i + kBranchBytes;
      const uintptr_t target = after + static_cast<uintptr_t>(intptr_t{distance});
      if (CallsKernel(target)) return DirectBranch{address + i, target};
    }
    i += length;
  }
  return absl::UnimplementedError("this C library's sigaction has no known form");
}

absl::Status InterceptSigaction() {
  static const auto* const status = new absl::Status(Install());
  return *status;
}

}  // namespace jtrace::native_hooks
