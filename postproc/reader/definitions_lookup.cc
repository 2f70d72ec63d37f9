// What a trace defines, looked up by the trace's numbers.
#include <algorithm>
#include <limits>
#include <utility>

#include "postproc/reader/definitions.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

std::string Definitions::Text(uint32_t string) const {
  if (string == 0) return "";
  const auto found = strings_.find(string);
  if (found == strings_.end()) return StrCat("[string ", string, "]");
  budget_.TakeText(found->second.size());
  return found->second;
}

std::string Definitions::ClassName(uint32_t id) const {
  const auto found = classes_.find(id);
  if (found == classes_.end()) return StrCat("[class ", id, "]");
  const std::string name = Text(found->second.name);
  return raw_names_ ? name : NormalizeClassName(name);
}

LabelsId Definitions::LabelsOf(uint32_t id) {
  if (id == 0) return LabelsId();
  const auto [known, is_new] = labels_.try_emplace(id);
  if (!is_new) return known->second;
  const auto found = label_sets_.find(id);
  if (found == label_sets_.end()) {
    NoteUndefined("label set", id);
    return LabelsId();
  }
  Labels labels;
  const proto::LabelSet& set = found->second;
  for (int i = 0; i < std::min(set.key_size(), set.value_size()); ++i) {
    labels.emplace_back(Text(set.key(i)), Text(set.value(i)));
  }
  return known->second = model_.InternLabels(std::move(labels));
}

void Definitions::NoteUndefined(std::string_view kind, uint64_t id) {
  stats_.Add(Problem::kUndefinedReference,
             stats_.WantsDetail() ? StrCat(kind, " ", id, " was never defined") : std::string());
}

RoutineId Definitions::Undefined(std::string_view kind, uint32_t id) {
  NoteUndefined(kind, id);
  return model_.InternRoutine(StrCat("[", kind, " ", id, "]"));
}

RoutineId Definitions::FindRoutine(uint32_t id) {
  if (id == 0) return model_.InternRoutine(kPrunedName);
  if (id == kLostRoutine) return model_.InternRoutine("[lost]");
  const auto found = routines_.find(id);
  return found != routines_.end() ? found->second.routine : Undefined("routine", id);
}

RoutineId Definitions::Method(uint32_t id) {
  const auto found = methods_.find(id);
  return found != methods_.end() ? found->second.routine : Undefined("method", id);
}

ThreadId Definitions::Thread(uint32_t id) {
  auto [entry, inserted] = threads_.try_emplace(id);
  ThreadDef& thread = entry->second;
  if (!inserted) return thread.id;
  if (id != 0) NoteUndefined("thread", id);
  thread.info.trace = static_cast<uint32_t>(model_.traces().size() - 1);
  thread.info.name = UniqueThreadName(id == 0 ? "[no thread]" : StrCat("[thread ", id, "]"));
  thread.id = model_.AddThread(thread.info);
  return thread.id;
}

std::vector<std::string> Definitions::ThreadArgs(ThreadId id) const {
  const ThreadInfo& thread = model_.thread(id);
  std::vector<std::string> args = {StrCat("tid=", thread.tid),
                                   StrCat("java_tid=", thread.java_tid)};
  if (thread.folded_threads != 0) args.push_back(StrCat("threads=", thread.folded_threads));
  if (thread.is_virtual) args.emplace_back("virtual");
  if (thread.is_daemon) args.emplace_back("daemon");
  if (thread.is_vm_internal) args.emplace_back("internal");
  return args;
}

HookInfo Definitions::Hook(uint32_t id) {
  if (const HookInfo* known = hooks_.Find(id); known != nullptr) return *known;
  NoteUndefined("hook", id);
  return AgentHooks::Undefined(id, model_);
}

AgentHooks::Callers Definitions::HookCallers(const AgentHooks::Calls& calls) {
  return hooks_.CallersOf(
      calls, [this](uint32_t method) { return Method(method); }, native_, model_);
}

bool Definitions::MayStandAt(uint32_t thread, uint64_t node) {
  const bool is_number = node <= std::numeric_limits<uint32_t>::max();
  const auto known = is_number ? trees_.FindNode(static_cast<uint32_t>(node)) : std::nullopt;
  if (!known.has_value()) {
    NoteUndefined("node", node);
    return false;
  }
  // Members of a group are in its tree.
  if (known->thread == thread || trees_.FoldedThreads(known->thread) != 0) return true;
  stats_.Add(Problem::kUndefinedReference, stats_.WantsDetail()
                                               ? StrCat("node ", node, " is not of thread ", thread)
                                               : std::string());
  return false;
}

}  // namespace jtrace::postproc
