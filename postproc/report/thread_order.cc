#include "postproc/report/thread_order.h"

#include <algorithm>

namespace jtrace::postproc {

bool IsThreadOfJvm(const ReportInput& input, NodeId root) {
  if (HasEvents(input, root)) return false;
  const ThreadInfo& thread = input.model.thread(input.tree.node(root).thread);
  return thread.is_vm_internal || JvmThreadOf(thread.name) != JvmThread::kNone;
}

void PutProgramFirst(const ReportInput& input, std::vector<ThreadSummary>& threads) {
  std::stable_partition(threads.begin(), threads.end(), [&](const ThreadSummary& thread) {
    return !IsThreadOfJvm(input, thread.root);
  });
}

namespace {

struct Prefix {
  std::string_view text;
  JvmThread kind;
};

constexpr Prefix kPrefixes[] = {{"C1 Compiler", JvmThread::kJit},
                                {"C2 Compiler", JvmThread::kJit},
                                {"JVMCI Compiler", JvmThread::kJit},
                                {"Sweeper thread", JvmThread::kJit},
                                {"GC Thread", JvmThread::kCollector},
                                {"G1 ", JvmThread::kCollector},
                                {"ParGC Thread", JvmThread::kCollector},
                                {"ZWorker", JvmThread::kCollector},
                                {"ZDirector", JvmThread::kCollector},
                                {"ZDriver", JvmThread::kCollector},
                                {"XWorker", JvmThread::kCollector},
                                {"XDirector", JvmThread::kCollector},
                                {"XDriver", JvmThread::kCollector},
                                {"Shenandoah", JvmThread::kCollector},
                                {"RuntimeWorker", JvmThread::kCollector},
                                {"VM Thread", JvmThread::kOther},
                                {"VM Periodic Tas", JvmThread::kOther},
                                {"Service Thread", JvmThread::kOther},
                                {"Signal Dispatch", JvmThread::kOther},
                                {"Monitor Deflati", JvmThread::kOther},
                                {"Notification Th", JvmThread::kOther},
                                {"Reference Handl", JvmThread::kOther},
                                {"Finalizer", JvmThread::kOther},
                                {"Common-Cleaner", JvmThread::kOther},
                                {"Attach Listener", JvmThread::kOther},
                                {"DestroyJavaVM", JvmThread::kOther},
                                {"jtrace", JvmThread::kJtrace}};

}  // namespace

JvmThread JvmThreadOf(std::string_view name) {
  for (const Prefix& prefix : kPrefixes) {
    if (name.starts_with(prefix.text)) return prefix.kind;
  }
  return JvmThread::kNone;
}

}  // namespace jtrace::postproc
