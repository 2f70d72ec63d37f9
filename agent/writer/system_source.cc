#include "agent/writer/system_source.h"

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/sampling/sampler.h"

namespace jtrace::writer {
namespace {

std::string KernelName(pid_t tid) {
  std::ifstream file(absl::StrCat("/proc/self/task/", tid, "/comm"));
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

InternalThreadSource::InternalThreadSource(jvmti::ThreadRegistry& threads,
                                           sampling::Sampler& sampler, const NameFilter& names,
                                           std::function<bool(pid_t)> is_agent_thread)
    : threads_(threads),
      sampler_(sampler),
      names_(names),
      is_agent_thread_(std::move(is_agent_thread)) {}

void InternalThreadSource::Attach(pid_t tid) {
  attached_.insert(tid);  // tried once: what fails now fails again, and is counted by the sampler
  const std::string name = KernelName(tid);
  if (!names_.Wants(name)) return;
  const uint32_t number = threads_.DefineInternal(tid, name);
  sampler_.AttachThread(tid, number, 0, 0).IgnoreError();
}

void InternalThreadSource::AttachAll() {
  for (const pid_t tid : sampling::ListThreads()) {
    if (!is_agent_thread_(tid) && !threads_.KnowsJavaThread(tid)) Attach(tid);
  }
}

// A thread is attached when two looks in a row find it without a Java thread: one that is just
// starting will report itself as a Java thread before it runs any Java code.
void InternalThreadSource::Seal(uint64_t, proto::Chunk&) {
  std::set<pid_t> now;
  for (const pid_t tid : sampling::ListThreads()) {
    if (!is_agent_thread_(tid) && !threads_.KnowsJavaThread(tid)) now.insert(tid);
  }
  std::erase_if(attached_, [&](pid_t tid) { return !now.contains(tid); });
  for (const pid_t tid : now) {
    if (seen_once_.contains(tid) && !attached_.contains(tid)) Attach(tid);
  }
  seen_once_ = std::move(now);
}

void LossSource::Seal(uint64_t, proto::Chunk& chunk) {
  for (const LossRow& row : losses_.Snapshot()) {
    proto::Loss* loss = chunk.add_loss();
    loss->set_name(row.name);
    loss->set_severity(static_cast<proto::Loss::Severity>(row.severity));
    loss->set_count(row.count);
    loss->set_what(row.what);
    loss->set_advice(row.advice);
  }
}

}  // namespace jtrace::writer
