#include "agent/jvm/gc_cause.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "agent/jvm/hotspot/checked_read.h"
#include "agent/jvm/hotspot/vm_structs.h"

namespace jtrace::jvm {
namespace {

// The format of HotSpot's performance data, version 2.0 (perfMemory.hpp).
constexpr uint32_t kMagic = 0xcafec0c0;
struct Prologue {
  uint32_t magic;  // big-endian, regardless of the byte order of the rest
  uint8_t byte_order;
  uint8_t major_version;
  uint8_t minor_version;
  uint8_t accessible;
  int32_t used;
  int32_t overflow;
  int64_t modified;
  int32_t entry_offset;
  int32_t entries;
};
static_assert(sizeof(Prologue) == 32);

struct Entry {
  int32_t length;
  int32_t name_offset;
  int32_t vector_length;  // 0: a scalar
  uint8_t type;
  uint8_t flags;
  uint8_t units;
  uint8_t variability;
  int32_t data_offset;
};
static_assert(sizeof(Entry) == 20);

constexpr absl::string_view kCause = "sun.gc.cause";
constexpr absl::string_view kLastCause = "sun.gc.lastCause";
// The JVM's text between collections.
constexpr absl::string_view kNone = "No GC";

}  // namespace

bool GcCause::FindIn(uintptr_t memory) {
  constexpr int32_t kMaxEntries = 10'000, kLongestText = 4096;
  PageReader reader;
  const auto prologue = reader.Load<Prologue>(memory);
  if (__builtin_bswap32(prologue.magic) != kMagic || prologue.major_version != 2) return false;
  uintptr_t at = memory + static_cast<uintptr_t>(prologue.entry_offset);
  for (int32_t i = 0; i < std::min(prologue.entries, kMaxEntries); ++i) {
    const auto entry = reader.Load<Entry>(at);
    if (entry.length <= 0) return false;
    const std::string name = reader.Text(at + static_cast<uintptr_t>(entry.name_offset));
    const uintptr_t data = at + static_cast<uintptr_t>(entry.data_offset);
    const Text text = {reinterpret_cast<const char*>(data),
                       static_cast<size_t>(entry.vector_length)};
    const bool is_text = entry.vector_length > 0 && entry.vector_length < kLongestText;
    if (is_text && (kCause == name || kLastCause == name)) {
      std::string all(text.size, 0);
      if (!reader.Copy(data, all.data(), all.size())) return false;
      (kCause == name ? cause_ : last_cause_) = text;
    }
    at += static_cast<uintptr_t>(entry.length);
  }
  return cause_.begin != nullptr;
}

bool GcCause::Find(const void* libjvm_address) {
  const auto structs = VmStructs::Of(libjvm_address);
  if (!structs.ok()) return false;
  const uintptr_t prologue = (*structs)->StaticPointer("PerfMemory", "_prologue");
  return prologue != 0 && FindIn(prologue);
}

absl::string_view GcCause::Text::Read() const {
  if (begin == nullptr) return {};
  return {begin, strnlen(begin, size)};
}

absl::string_view GcCause::AtBegin() const {
  const absl::string_view cause = cause_.Read();
  return cause == kNone ? absl::string_view() : cause;
}

absl::string_view GcCause::AtEnd() const {
  const absl::string_view cause = AtBegin();
  return cause.empty() ? last_cause_.Read() : cause;
}

}  // namespace jtrace::jvm
