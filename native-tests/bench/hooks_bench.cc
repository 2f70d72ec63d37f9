// The cost of a call of a hooked native function, beside the minimum: a trap whose handler does
// nothing.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstring>

#include "agent/native_hooks/hook_source.h"
#include "agent/native_hooks/patch_site_table.h"
#include "agent/native_hooks/trap_signal.h"

namespace jtrace::native_hooks {
namespace {

// push rbp; pop rbp; ret
constexpr uint8_t kFunction[] = {0x55, 0x5d, 0xc3};
// int3; ret
constexpr uint8_t kTrap[] = {0xcc, 0xc3};

using Function = void (*)();

template <size_t N>
Function MakeCode(const uint8_t (&bytes)[N]) {
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(page, bytes, N);
  return reinterpret_cast<Function>(page);
}

void DoNothing(int, siginfo_t*, void*) {}

void Plain(benchmark::State& state) {
  static const Function function = MakeCode(kFunction);
  for (auto _ : state) function();
}

void Floor(benchmark::State& state) {
  static const Function function = MakeCode(kTrap);
  struct sigaction before;
  struct sigaction action = {};
  action.sa_sigaction = DoNothing;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGTRAP, &action, &before);
  for (auto _ : state) function();
  sigaction(SIGTRAP, &before, nullptr);
}

void Count(benchmark::State& state) {
  static const Function function = MakeCode(kFunction);
  static auto* const table = new PatchSiteTable;
  PrepareTrapHandler().IgnoreError();
  auto site = table->Make(reinterpret_cast<uintptr_t>(function));
  if (!site.ok() ||
      !table->SetBinding(**site, {signal_safe::kHookCount | signal_safe::kHookEntry, 1}).ok()) {
    return state.SkipWithError("no hook");
  }
  for (auto _ : state) function();
  table->SetBinding(**site, {}).IgnoreError();
}

BENCHMARK(Plain);
BENCHMARK(Floor);
BENCHMARK(Count);

}  // namespace
}  // namespace jtrace::native_hooks

BENCHMARK_MAIN();
