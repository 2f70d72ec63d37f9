#include "agent/hotspot/code_notes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "agent/hot/walk/call_instruction.h"
#include "agent/hot/walk/debug_info.h"

namespace jtrace::sampling {
namespace {

using Scope = hot::DebugInfo::Scope;

// Fewer calls show nothing.
constexpr int kFewestCalls = 24;
constexpr int kSoundShare = 4;  // one in so many, at least
// Code farther away may belong to any method.
constexpr int32_t kNearBytes = 80;
constexpr size_t kMaxInlineDepth = 200;

// A described place, and the methods that are active there, the innermost first.
struct Row {
  int32_t pc = 0;
  bool is_call = true;
  std::vector<Scope> scopes;
};

// In the code cache, which stays mapped.
bool FollowsCall(const hot::CodeBlob& nmethod, int32_t pc) {
  constexpr int32_t kBytes = 8;
  if (pc < kBytes || nmethod.code + static_cast<uintptr_t>(pc) > nmethod.end) return false;
  uint8_t bytes[kBytes];
  std::memcpy(bytes, reinterpret_cast<const uint8_t*>(nmethod.code) + pc - kBytes, kBytes);
  return hot::EndsWithCall(bytes);
}

void ReadScopes(const hot::DebugInfo& info, int32_t scope, std::vector<Scope>& scopes) {
  scopes.clear();
  Scope read;
  while (scope > 0 && scopes.size() < kMaxInlineDepth && info.ReadScope(scope, &read)) {
    scopes.push_back(read);
    scope = read.sender;
  }
}

// Whether both have the same methods from the outermost on, up to the length of the shorter one.
bool Fit(const std::vector<Scope>& a, const std::vector<Scope>& b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 1; i <= common; ++i) {
    const Scope &in_a = a[a.size() - i], &in_b = b[b.size() - i];
    if (in_a.method != in_b.method) return false;
    if (i < common && in_a.bci != in_b.bci) return false;
  }
  return true;
}

}  // namespace

bool NotesAreWrong(const hot::VmLayout& vm, const hot::CodeBlob& nmethod) {
  const hot::DebugInfo info(vm, nmethod);
  int looked_at = 0, fitting = 0;
  Row before, row;
  for (int i = 0; i < info.count(); ++i) {
    hot::DebugInfo::PcDesc desc;
    if (!info.ReadPcDesc(i, &desc)) break;
    if (desc.scope <= 0) continue;
    row.pc = desc.pc;
    row.is_call = FollowsCall(nmethod, desc.pc);
    // Most places are neither directly before a call nor one.
    const bool is_looked_at = row.is_call && !before.is_call && row.pc - before.pc <= kNearBytes;
    if (is_looked_at || !row.is_call) ReadScopes(info, desc.scope, row.scopes);
    if (is_looked_at) {
      ++looked_at;
      fitting += Fit(before.scopes, row.scopes);
    }
    std::swap(before, row);
  }
  return looked_at >= kFewestCalls && fitting * kSoundShare < looked_at;
}

}  // namespace jtrace::sampling
