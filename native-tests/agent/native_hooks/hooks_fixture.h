// The process' hooks in functions of libhooked_functions.so, and the threads' counts there.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/native_hooks/hook_source.h"
#include "agent/native_hooks/hooks.h"
#include "native-tests/agent/native_hooks/hooked_functions.h"

namespace jtrace::native_hooks {

inline constexpr char kObject[] = "libhooked_functions.so";

inline std::vector<HookSpec> Specs(const std::string& text) {
  auto specs = ParseHookSpecs(text);
  EXPECT_TRUE(specs.ok()) << specs.status();
  return specs.value_or(std::vector<HookSpec>());
}

inline std::string In(const char* function, const char* kind) {
  return std::string(kObject) + "!" + function + ":" + kind;
}

class HooksTest : public testing::Test {
 protected:
  HooksTest() {
    reader_.Drain([](const HookRow&) {});
  }
  ~HooksTest() override { hooks_.End(); }

  // The threads' counts since the last call, by function.
  std::map<std::string, HookRow> FetchAll() {
    std::vector<HookRow> rows;
    reader_.Drain([&](const HookRow& row) { rows.push_back(row); });
    std::map<uint32_t, std::string> names;  // after the rows: has all their names
    for (const PlacedHook& placed : hooks_.PlacedSince(0)) {
      names[placed.placement] = placed.name.substr(sizeof kObject);
    }
    std::map<std::string, HookRow> sums;
    for (const HookRow& row : rows) {
      HookRow& sum = sums.try_emplace(names[row.caller.placement], None()).first->second;
      sum.calls += row.calls;
      sum.timed += row.timed;
      sum.total_ns += row.total_ns;
      sum.min_ns = std::min(sum.min_ns, row.min_ns);
      sum.max_ns = std::max(sum.max_ns, row.max_ns);
    }
    return sums;
  }
  HookRow Fetch(const std::string& function) {
    return FetchAll().try_emplace(function, None()).first->second;
  }
  static HookRow None() {
    HookRow row = {};
    row.min_ns = UINT64_MAX;
    return row;
  }
  // The function's first hook of this recording.
  PlacedHook FirstOf(const std::string& function) {
    for (PlacedHook& placed : hooks_.PlacedSince(0)) {
      if (placed.name == std::string(kObject) + "!" + function) return std::move(placed);
    }
    ADD_FAILURE() << "no hook was in " << function;
    return {};
  }
  // Calls until the agent has placed a site at the return address.
  template <typename Call>
  void CallUntilAwaited(const Call& call) {
    for (int i = 0; i < 3; ++i) {
      call();
      reader_.ForEachWantedReturn([this](uintptr_t address) { hooks_.PlaceReturnSite(address); });
    }
    reader_.Drain([](const HookRow&) {});
  }

  // Sites outlive recordings, and a process has one table of them.
  static Losses& AllLosses() {
    static auto* const losses = new Losses;
    return *losses;
  }
  static Hooks& AllHooks() {
    static auto* const hooks = new Hooks(AllLosses());
    return *hooks;
  }
  // Since its first hook of this recording.
  Hooks::Calls Calls(const std::string& function) {
    const PlacedHook first = FirstOf(function);
    const Hooks::Calls now = hooks_.CallsOf(first.site);
    return {now.calls - first.calls_before, now.unattributed - first.unattributed_before};
  }
  void Begin(const std::string& specs) { hooks_.Begin(Specs(specs)); }

  Hooks& hooks_ = AllHooks();
  HookRowReader reader_;
};

}  // namespace jtrace::native_hooks
