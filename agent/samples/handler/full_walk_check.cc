#include "agent/samples/handler/full_walk_check.h"

#include <algorithm>

namespace jtrace::samples {
namespace {

uint32_t CopyLeafPart(const Chain& chain, Frame* out) {
  const uint32_t count = std::min(chain.size(), DifferentChains::kFrames);
  for (uint32_t i = 0; i < count; ++i) out[i] = chain.frame(i);
  return count;
}

}  // namespace

constinit DifferentChains different_chains{};

void DifferentChains::Store(uint64_t interrupted_pc, const Chain& remembered_chain,
                            const Chain& full_chain) {
  if (taken.exchange(true, std::memory_order_relaxed)) return;
  pc = interrupted_pc;
  remembered_count = CopyLeafPart(remembered_chain, remembered);
  full_count = CopyLeafPart(full_chain, full);
  ready.store(true, std::memory_order_release);
}

}  // namespace jtrace::samples
