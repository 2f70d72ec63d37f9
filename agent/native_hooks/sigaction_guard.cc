#include "agent/native_hooks/sigaction_guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "agent/native_hooks/code_writer.h"
#include "agent/native_hooks/displaced_instruction.h"
#include "agent/native_hooks/site_table.h"
#include "agent/native_hooks/trap_action.h"
#include "agent/samples/handler/sample_signal.h"

namespace jtrace::native_hooks {
namespace {

// call or jmp with a distance of 32 bits.
constexpr size_t kBranchBytes = 5;
// The unit of the distance's highest byte.
constexpr intptr_t kStride = intptr_t{1} << 24;

bool BeginsWith(std::span<const uint8_t> code, std::initializer_list<uint8_t> bytes) {
  return code.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), code.begin());
}

// Whether a function makes the system call SYS_rt_sigaction, 13.
bool AsksKernel(uintptr_t function) {
  constexpr size_t kMost = 512;
  const std::vector<uint8_t> bytes = ReadCode(function, kMost);
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

// Memory for code at exactly this place, if it is free.
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

// cmp $SIGTRAP, %edi; jne target; jmp *GuardedSigaction
constexpr size_t kGateBytes = 23;
std::array<uint8_t, kGateBytes> GateCode(uintptr_t at, uintptr_t target) {
  std::array<uint8_t, kGateBytes> code = {0x83, 0xff, SIGTRAP, 0x0f, 0x85, 0, 0, 0,
                                          0,    0xff, 0x25,    0,    0,    0, 0};
  constexpr size_t kJumpEnd = 9;
  constexpr size_t kAddress = 15;
  const auto distance = static_cast<int32_t>(target - (at + kJumpEnd));
  std::memcpy(&code[kJumpEnd - sizeof distance], &distance, sizeof distance);
  const auto guard = reinterpret_cast<uintptr_t>(&GuardedSigaction);
  std::memcpy(&code[kAddress], &guard, sizeof guard);
  return code;
}

// The nearest place that the branch reaches if one of its bytes changes.
std::optional<uintptr_t> MapGate(const DirectBranch& branch) {
  constexpr intptr_t kMost = 127;
  const auto distance = static_cast<intptr_t>(branch.target - (branch.address + kBranchBytes));
  for (intptr_t i = 1; i <= kMost; ++i) {
    for (const intptr_t moved : {-i * kStride, i * kStride}) {
      const intptr_t reach = distance + moved;
      if (reach != static_cast<int32_t>(reach)) continue;
      const uintptr_t gate = branch.target + static_cast<uintptr_t>(moved);
      if (MapAt(gate, kGateBytes)) return gate;
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
  const std::optional<uintptr_t> gate = MapGate(*branch);
  if (!gate.has_value()) return absl::UnavailableError("no memory for code is free near libc");
  if (absl::Status status = WriteNewCode(*gate, GateCode(*gate, branch->target)); !status.ok()) {
    return status;
  }
  samples::kernel_sigaction.store(reinterpret_cast<samples::Sigaction>(branch->target));
  SerializeProcessors();
  // The highest byte of the distance is the instruction's last one.
  const auto distance = static_cast<uint32_t>(*gate - (branch->address + kBranchBytes));
  absl::Status status =
      WriteCodeByte(branch->address + kBranchBytes - 1, static_cast<uint8_t>(distance >> 24));
  SerializeProcessors();
  return status;
}

}  // namespace

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
      if (AsksKernel(target)) return DirectBranch{address + i, target};
    }
    i += length;
  }
  return absl::UnimplementedError("this C library's sigaction has no known form");
}

absl::Status GuardSigaction() {
  static const auto* const status = new absl::Status(Install());
  return *status;
}

}  // namespace jtrace::native_hooks
