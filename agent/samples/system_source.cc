#include "agent/samples/system_source.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/base/clock.h"
#include "agent/base/loader_list.h"
#include "agent/samples/object_copy.h"
#include "agent/samples/sampler.h"
#include "agent/samples/timers.h"

namespace jtrace::samples {
namespace {

constexpr uint64_t kLookPeriodNs = 100'000'000;
constexpr uint64_t kShareOfTime = 100;  // looks take at most one part in this many of the time
constexpr uint64_t kLateWorthReportingNs = 50'000'000;
constexpr uint64_t kMostToEndNs =
    2'000'000;  // the processor time that the JVM takes to end a thread

std::string KernelName(pid_t tid) {
  std::ifstream file(absl::StrCat("/proc/self/task/", tid, "/comm"));
  std::string name;
  std::getline(file, name);
  return name;
}

constexpr uint64_t kPage = 4096;

std::string ExecutablePath() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : "";
}

std::string PathOf(const ListedObject& object) {
  if (object.bias == getauxval(AT_SYSINFO_EHDR)) return "[vdso]";
  return object.name.empty() ? ExecutablePath() : object.name;
}

void AddModules(const ListedObject& object, std::vector<MappedModule>& modules) {
  for (const Elf64_Phdr& segment : object.headers) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t lead = segment.p_vaddr % kPage;
    const uint64_t start = object.bias + segment.p_vaddr - lead;
    modules.push_back({.start = start,
                       .end = object.bias + segment.p_vaddr + segment.p_memsz,
                       .file_offset = segment.p_offset - lead,
                       .path = PathOf(object),
                       .build_id = object.build_id});
  }
}

int ReadCounters(dl_phdr_info* info, size_t, void* data) {
  auto& counters = *static_cast<std::pair<uint64_t, uint64_t>*>(data);
  counters = {info->dlpi_adds, info->dlpi_subs};
  return 1;  // the first object has all of it
}

void Define(const MappedModule& module, uint64_t time_ns, bool unloaded,
            trace::RecordEncoder& encoder, proto::Chunk& chunk) {
  proto::Module* record = chunk.add_module();
  record->set_time_ns(time_ns);
  record->set_unloaded(unloaded);
  record->set_start(module.start);
  record->set_end(module.end);
  record->set_file_offset(module.file_offset);
  record->set_path(encoder.String(module.path));
  record->set_build_id(module.build_id);
}

}  // namespace

InternalThreadSource::InternalThreadSource(jvm::ThreadRegistry& threads, Sampler& sampler,
                                           const NameFilter& names,
                                           std::function<bool(pid_t)> is_agent_thread,
                                           Losses& losses)
    : threads_(threads),
      sampler_(sampler),
      names_(names),
      is_agent_thread_(std::move(is_agent_thread)),
      losses_(losses) {}

void InternalThreadSource::Attach(pid_t tid, Seen& seen) {
  if (seen.number == 0) {
    const std::string name = KernelName(tid);
    seen.refused = !names_.Wants(name);
    if (seen.refused) return;
    seen.number = threads_.DefineInternal(tid, name);
  }
  seen.refused = !sampler_.AttachThread(tid, seen.number, 0, 0).ok();  // which counts it
}

void InternalThreadSource::AttachAll() {
  for (const pid_t tid : ListThreads()) {
    if (is_agent_thread_(tid)) continue;
    Seen& seen = seen_[tid];
    if (!threads_.HasJavaThread(tid)) Attach(tid, seen);
  }
}

void InternalThreadSource::Poll(proto::Chunk&) {
  const uint64_t begin_ns = MonotonicNanos();
  if (begin_ns < next_look_ns_) return;
  Look();
  const uint64_t end_ns = MonotonicNanos();
  next_look_ns_ = end_ns + std::max(kLookPeriodNs, kShareOfTime * (end_ns - begin_ns));
}

void InternalThreadSource::Look() {
  const std::vector<pid_t> ended = threads_.EndedTids();
  const std::set<pid_t> has_ended(ended.begin(), ended.end());
  std::map<pid_t, Seen> now;
  for (const pid_t tid : ListThreads()) {
    if (is_agent_thread_(tid)) continue;
    const auto before = seen_.find(tid);
    const bool is_new = before == seen_.end();
    Seen& seen = now[tid] = is_new ? Seen() : before->second;
    seen.was_java |= has_ended.contains(tid);
    LookAt(tid, is_new, seen);
  }
  seen_ = std::move(now);
}

void InternalThreadSource::LookAt(pid_t tid, bool is_new, Seen& seen) {
  if (threads_.HasJavaThread(tid)) {
    seen.waiting = false;
    return;
  }
  if (seen.refused || sampler_.IsAttached(tid)) return;
  if (seen.number != 0) return Attach(tid, seen);  // back from Java
  if (!seen.waiting) {
    seen.waiting = true;
    seen.since_ns = is_new && !seen.was_java ? 0 : ThreadCpuNanos(tid);
    return;
  }
  if (seen.was_java && ThreadCpuNanos(tid) - seen.since_ns < kMostToEndNs) return;
  Attach(tid, seen);
  if (!seen.refused) late_ns_ += ThreadCpuNanos(tid) - seen.since_ns;
}

// The threads that every JVM starts over time are not worth a line.
void InternalThreadSource::Seal(uint64_t, proto::Chunk&) {
  if (late_ns_ < kLateWorthReportingNs) return;
  losses_.Set("sample.late_threads", Severity::kInfo, late_ns_ / 1'000'000,
              "ms of CPU time of native threads before they were found, up to 0.2 s each",
              "threads that attach to the JVM (JNI AttachCurrentThread) are sampled from then on");
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

std::vector<MappedModule> LoadedModules() {
  std::vector<MappedModule> modules;
  for (const ListedObject& object : ListObjects()) AddModules(object, modules);
  std::sort(modules.begin(), modules.end(),
            [](const auto& a, const auto& b) { return a.start < b.start; });
  return modules;
}

void ModuleScanner::Scan(uint64_t time_ns, trace::RecordEncoder& encoder, proto::Chunk& chunk) {
  std::pair<uint64_t, uint64_t> counters;
  dl_iterate_phdr(ReadCounters, &counters);
  if (counters.first == adds_ && counters.second == subs_) return;
  std::tie(adds_, subs_) = counters;
  RefreshObjectCopy();
  std::map<uint64_t, MappedModule> now;
  for (MappedModule& module : LoadedModules()) now.emplace(module.start, std::move(module));
  for (const auto& [start, module] : known_) {
    const auto same = now.find(start);
    if (same == now.end() || same->second != module) Define(module, time_ns, true, encoder, chunk);
  }
  for (const auto& [start, module] : now) {
    const auto same = known_.find(start);
    if (same == known_.end() || same->second != module) {
      Define(module, time_ns, false, encoder, chunk);
    }
  }
  known_ = std::move(now);
}

}  // namespace jtrace::samples
