#include "postproc/model/thread_start.h"

#include <string_view>

namespace jtrace::postproc {
namespace {

// mov %rax,%rdi; mov $SYS_exit,%eax; syscall: what follows the call of the thread's function.
constexpr std::string_view kExitCall("\x48\x89\xc7\xb8\x3c\x00\x00\x00\x0f\x05", 10);
// mov $SYS_clone3,%eax; syscall
constexpr std::string_view kClone3Call("\xb8\xb3\x01\x00\x00\x0f\x05", 7);
// mov $-EINVAL,%eax: the function's first instruction.
constexpr std::string_view kClone3Begin("\xb8\xea\xff\xff\xff", 5);
constexpr uint64_t kMostBytes = 96;  // from the begin of the function to the call

}  // namespace

std::optional<uint64_t> FindClone3(const ElfImage& image, uint64_t address) {
  if (address < kMostBytes || !image.BytesAt(address + 1).starts_with(kExitCall))
    return std::nullopt;
  const std::string_view before = image.BytesAt(address - kMostBytes).substr(0, kMostBytes);
  const size_t call = before.rfind(kClone3Call);
  const size_t begin = call == std::string_view::npos ? call : before.rfind(kClone3Begin, call);
  if (begin == std::string_view::npos) return std::nullopt;
  return address - kMostBytes + begin;
}

}  // namespace jtrace::postproc
