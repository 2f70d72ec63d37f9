#include "agent/recording/compiled_code_part.h"

#include "agent/jvm/jvmti_calls.h"
#include "agent/recording/jvmti_events.h"
#include "proto/trace_format.h"

namespace jtrace {

void CompiledCodePart::Listen(JNIEnv*) {
  if (options_.WantsStubs()) jvm::EnableEvents(jvm_.env, kStubEvents).IgnoreError();
  reports_.Start(options_, jvm_.debug_info_keeper());
}

void CompiledCodePart::AddExisting(JNIEnv*) {
  if (options_.WantsStubs()) jvm_.env->GenerateEvents(JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
  reports_.ReportExisting();
}

void CompiledCodePart::StopListening() {
  jvm::DisableEvents(jvm_.env, kStubEvents).IgnoreError();
  reports_.Stop();
}

// Changes a copy of the options, because other threads read the recording's.
void CompiledCodePart::RequestCodeRecords() {
  if (jvm_.trace.encoder.Wants(format::kJit, format::kJitCode)) return;
  Options options = options_;
  options.codes.SetDefault(Code::kJitCode, true);
  options.codes.SetDefault(Code::kJitInlining, true);
  if (!options.codes.Has(Code::kJitCode)) return;
  jvm_.trace.encoder.SetCodes(options.codes);
  reports_.Start(options, jvm_.debug_info_keeper());
  reports_.ReportExisting();
}

}  // namespace jtrace
