#include "postproc/report/thread_order.h"

#include <algorithm>
#include <iterator>

namespace jtrace::postproc {
namespace {

// Linux keeps 15 characters of a name.
constexpr std::string_view kThreadsOfJvm[] = {
    "C1 Compiler",     "C2 Compiler",     "JVMCI Compiler",
    "Sweeper thread",  "GC Thread",       "G1 ",
    "ParGC Thread",    "ZWorker",         "ZDirector",
    "ZDriver",         "XWorker",         "XDirector",
    "XDriver",         "Shenandoah",      "RuntimeWorker",
    "VM Thread",       "VM Periodic Tas", "Service Thread",
    "Signal Dispatch", "Monitor Deflati", "Notification Th",
    "Reference Handl", "Finalizer",       "Common-Cleaner",
    "Attach Listener", "DestroyJavaVM",   "jtrace"};

}  // namespace

bool IsThreadOfJvm(const ReportInput& input, NodeId root) {
  if (HasEvents(input, root)) return false;
  const ThreadInfo& thread = input.model.thread(input.tree.node(root).thread);
  return thread.is_vm_internal ||
         std::any_of(std::begin(kThreadsOfJvm), std::end(kThreadsOfJvm),
                     [&](std::string_view name) { return thread.name.starts_with(name); });
}

void PutProgramFirst(const ReportInput& input, std::vector<ThreadSummary>& threads) {
  std::stable_partition(threads.begin(), threads.end(), [&](const ThreadSummary& thread) {
    return !IsThreadOfJvm(input, thread.root);
  });
}

}  // namespace jtrace::postproc
