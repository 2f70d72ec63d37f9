#include "agent/hotspot/code_notes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "agent/hot/walk/call_instruction.h"

namespace jtrace::sampling {
namespace {

// Fewer calls show nothing.
constexpr int kFewestCalls = 24;
constexpr int kSoundShare = 4;  // one in so many, at least
// Code farther away may belong to any method.
constexpr intptr_t kNearBytes = 80;

bool FollowsCall(const void* pc) {
  uint8_t bytes[8];
  std::memcpy(bytes, static_cast<const uint8_t*>(pc) - sizeof bytes, sizeof bytes);
  return hot::EndsWithCall(bytes);
}

// Whether both have the same methods from the outermost on, up to the length of the shorter one.
bool Fit(const PCStackInfo& a, const PCStackInfo& b) {
  const jint common = std::min(a.numstackframes, b.numstackframes);
  for (jint i = 1; i <= common; ++i) {
    const jint in_a = a.numstackframes - i, in_b = b.numstackframes - i;
    if (a.methods[in_a] != b.methods[in_b]) return false;
    if (i < common && a.bcis[in_a] != b.bcis[in_b]) return false;
  }
  return true;
}

}  // namespace

bool NotesAreWrong(const jvmtiCompiledMethodLoadInlineRecord& record) {
  int looked_at = 0, fitting = 0;
  const PCStackInfo* before = nullptr;
  bool before_is_call = true;
  for (const PCStackInfo& row : std::span(record.pcinfo, static_cast<size_t>(record.numpcs))) {
    const bool is_call = FollowsCall(row.pc);
    if (is_call && !before_is_call &&
        static_cast<const uint8_t*>(row.pc) - static_cast<const uint8_t*>(before->pc) <=
            kNearBytes) {
      ++looked_at;
      fitting += Fit(*before, row);
    }
    before = &row;
    before_is_call = is_call;
  }
  return looked_at >= kFewestCalls && fitting * kSoundShare < looked_at;
}

const jvmtiCompiledMethodLoadInlineRecord* FindInlineRecord(const void* compile_info) {
  const auto* header = static_cast<const jvmtiCompiledMethodLoadRecordHeader*>(compile_info);
  for (; header != nullptr; header = header->next) {
    if (header->kind == JVMTI_CMLR_INLINE_INFO) {
      return reinterpret_cast<const jvmtiCompiledMethodLoadInlineRecord*>(header);
    }
  }
  return nullptr;
}

}  // namespace jtrace::sampling
