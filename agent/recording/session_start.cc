#include "agent/recording/session_start.h"

#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "agent/base/clock.h"
#include "agent/base/version.h"
#include "agent/jvm/hotspot/jvm_flags.h"
#include "agent/jvm/hotspot/vm_structs.h"
#include "agent/jvm/jvmti_calls.h"

namespace jtrace {
namespace {

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

// What decides whether C2 and C1 inline a call.
void AddInliningLimits(const void* libjvm_address, proto::SessionStart& start) {
  constexpr std::string_view kLimits[] = {"MaxInlineSize",
                                          "FreqInlineSize",
                                          "InlineSmallCode",
                                          "MaxTrivialSize",
                                          "MaxInlineLevel",
                                          "MaxRecursiveInlineLevel",
                                          "TypeProfileMajorReceiverPercent",
                                          "C1MaxInlineSize",
                                          "C1MaxInlineLevel",
                                          "C1MaxRecursiveInlineLevel"};
  constexpr std::string_view kRatios[] = {"InlineFrequencyRatio", "MinInlineFrequencyRatio"};
  const auto structs = jvm::VmStructs::Of(libjvm_address);
  if (!structs.ok()) return;
  const jvm::JvmFlags flags(**structs);
  for (const std::string_view name : kLimits) {
    const std::optional<int64_t> value = flags.Int(name);
    if (!value.has_value()) continue;
    proto::Flag& limit = *start.add_inlining_limit();
    limit.set_name(std::string(name));
    limit.set_value(*value);
  }
  for (const std::string_view name : kRatios) {
    const std::optional<double> value = flags.Double(name);
    if (!value.has_value()) continue;
    proto::Flag& limit = *start.add_inlining_limit();
    limit.set_name(std::string(name));
    limit.set_real(*value);
  }
}

}  // namespace

Program ProgramOf(jvmtiEnv* env) {
  return {.jvm = absl::StrCat(jvm::SystemProperty(env, "java.vm.name"), " ",
                              jvm::SystemProperty(env, "java.vm.version")),
          .command = jvm::SystemProperty(env, "sun.java.command")};
}

proto::SessionStart DescribeSession(const JvmState& jvm, const Options& options,
                                    const Program& program) {
  proto::SessionStart start;
  start.set_agent_version(JTRACE_VERSION);
  start.set_unix_time_ns(UnixNanos() - jvm.trace.clock.Now());
  start.set_pid(getpid());
  start.set_host(HostName());
  start.set_jvm(program.jvm);
  start.set_command(program.command);
  start.set_options(DescribeOptions(options));
  start.set_codes(ChangedCodes(options));
  start.set_mode(std::string(ModeName(options.mode)));
  start.set_record(std::string(RecordName(options.record)));
  start.set_clock(std::string(ClockName(options.clock)));
  AddInliningLimits(jvm.libjvm_address(), start);
  return start;
}

}  // namespace jtrace
