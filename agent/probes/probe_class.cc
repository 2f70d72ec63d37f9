#include "agent/probes/probe_class.h"

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

extern "C" {
extern const unsigned char jtrace_probe_class[];
extern const unsigned long jtrace_probe_class_size;
}

namespace jtrace {
namespace {

// The literals of ARENA, FLAT and THREAD_SPARE in JTraceProbe.java.
constexpr uint64_t kArenaPlaceholder = 0x4A54524143450001;
constexpr uint64_t kFlatPlaceholder = 0x4A54524143450002;
constexpr uint64_t kThreadSparePlaceholder = 0x4A54524143450003;

// CONSTANT_Long_info (JVMS §4.4.5): tag and eight bytes, big-endian.
std::array<uint8_t, 9> LongConstant(uint64_t value) {
  std::array<uint8_t, 9> bytes = {5};
  for (int i = 0; i < 8; ++i) bytes[1 + i] = static_cast<uint8_t>(value >> (56 - 8 * i));
  return bytes;
}

// CONSTANT_Utf8_info (JVMS §4.4.7): tag, length, bytes.
std::vector<uint8_t> Utf8Constant(absl::string_view text) {
  std::vector<uint8_t> bytes(3 + text.size());
  bytes[0] = 1;
  bytes[1] = static_cast<uint8_t>(text.size() >> 8);
  bytes[2] = static_cast<uint8_t>(text.size());
  std::copy(text.begin(), text.end(), bytes.begin() + 3);
  return bytes;
}

absl::Status Replace(std::vector<uint8_t>& bytes, absl::Span<const uint8_t> from,
                     absl::Span<const uint8_t> to, absl::string_view what) {
  const auto found = std::search(bytes.begin(), bytes.end(), from.begin(), from.end());
  if (found == bytes.end() ||
      std::search(found + 1, bytes.end(), from.begin(), from.end()) != bytes.end()) {
    return absl::InternalError(absl::StrCat("probe class: no single constant ", what));
  }
  const auto rest = bytes.erase(found, found + static_cast<ptrdiff_t>(from.size()));
  bytes.insert(rest, to.begin(), to.end());
  return absl::OkStatus();
}

absl::Status Replace(std::vector<uint8_t>& bytes, uint64_t placeholder, uint64_t value) {
  return Replace(bytes, LongConstant(placeholder), LongConstant(value),
                 absl::StrCat(absl::Hex(placeholder)));
}

}  // namespace

absl::Span<const uint8_t> EmbeddedProbeClass() {
  return {jtrace_probe_class, jtrace_probe_class_size};
}

absl::Status RenameProbeClass(std::vector<uint8_t>& bytes, absl::string_view from,
                              absl::string_view to) {
  return Replace(bytes, Utf8Constant(from), Utf8Constant(to), from);
}

absl::StatusOr<std::vector<uint8_t>> PatchProbeClass(absl::Span<const uint8_t> class_bytes,
                                                     const ProbeConstants& constants) {
  std::vector<uint8_t> bytes(class_bytes.begin(), class_bytes.end());
  absl::Status status = Replace(bytes, kArenaPlaceholder, constants.arena);
  if (status.ok()) status = Replace(bytes, kFlatPlaceholder, constants.flat ? 1 : 0);
  if (status.ok()) status = Replace(bytes, kThreadSparePlaceholder, constants.thread_spare);
  if (!status.ok()) return status;
  return bytes;
}

}  // namespace jtrace
