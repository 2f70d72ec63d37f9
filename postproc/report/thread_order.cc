#include "postproc/report/thread_order.h"

#include <algorithm>

#include "postproc/report/jvm_threads.h"

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

}  // namespace jtrace::postproc
