#include "agent/metrics/rseq_counters.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "agent/metrics/rseq_add.h"

namespace jtrace::metrics {
namespace {

// Add fails after these: a thread that a debugger single-steps would never succeed.
constexpr int kTries = 16;

int64_t Load(const int64_t& slot) {
  return std::atomic_ref<int64_t>(const_cast<int64_t&>(slot)).load(std::memory_order_relaxed);
}

}  // namespace

RseqCounters::RseqCounters(Way way) : shared_(&fallback_) {
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  if (way == Way::kAtomic || cpus <= 0 || RseqArea() == nullptr) return;
  const size_t bytes = static_cast<size_t>(cpus) * sizeof(Slots);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  by_cpu_ = static_cast<Slots*>(memory);
  cpus_ = static_cast<uint32_t>(cpus);
}

void RseqCounters::Add(uint32_t counter, int64_t delta) {
  if (by_cpu_ != nullptr) {
    void* const area = RseqArea();
    auto* const slots = reinterpret_cast<char*>(&by_cpu_->value[counter]);
    for (int i = 0; i < kTries; ++i) {
      if (RseqAdd(area, slots, sizeof(Slots), cpus_, delta)) return;
    }
  }
  std::atomic_ref<int64_t>(shared_->value[counter]).fetch_add(delta, std::memory_order_relaxed);
}

int64_t RseqCounters::shared(uint32_t counter) const { return Load(shared_->value[counter]); }

int64_t RseqCounters::Total(uint32_t counter) const {
  auto sum = static_cast<uint64_t>(shared(counter));
  for (uint32_t cpu = 0; cpu < cpus_; ++cpu) {
    sum += static_cast<uint64_t>(Load(by_cpu_[cpu].value[counter]));
  }
  return static_cast<int64_t>(sum);
}

bool RseqCounters::UsesRseq() const { return by_cpu_ != nullptr; }

}  // namespace jtrace::metrics
