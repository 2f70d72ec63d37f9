#include "postproc/reader/definitions.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/visible_text.h"
#include "postproc/reader/event_codes.h"
#include "postproc/support/strings.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {

// Like the text format, far from overflow.
int64_t StreamTime(uint64_t time_ns) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max() / 4;
  return static_cast<int64_t>(std::min(time_ns, kMax));
}

namespace {

// Routine.ids from here on are looked up in the ordered map.
constexpr uint32_t kMaxDenseId = 1 << 22;

RoutineKind KindOf(proto::Routine::Kind kind) {
  switch (kind) {
    case proto::Routine::CALL:
      return RoutineKind::kCall;
    case proto::Routine::NATIVE:
      return RoutineKind::kNative;
    case proto::Routine::THROWN:
      return RoutineKind::kThrown;
    case proto::Routine::CAUGHT:
      return RoutineKind::kCaught;
    case proto::Routine::PARK:
      return RoutineKind::kPark;
    case proto::Routine::MONITOR_ENTER:
      return RoutineKind::kMonitorEnter;
    case proto::Routine::MONITOR_EXIT:
      return RoutineKind::kMonitorExit;
    default:
      return RoutineKind::kMethod;
  }
}

RoutineCost CostOf(proto::Routine::Cost cost) {
  switch (cost) {
    case proto::Routine::FIXED:
      return RoutineCost::kFixed;
    case proto::Routine::VARIABLE:
      return RoutineCost::kVariable;
    case proto::Routine::INDETERMINATE:
      return RoutineCost::kIndeterminate;
    case proto::Routine::USER_INPUT:
      return RoutineCost::kUserInput;
    default:
      return RoutineCost::kUnclassified;
  }
}

}  // namespace

Definitions::Definitions(bool raw_names, bool read_files, WorkBudget& budget, TraceModel& model,
                         ImportStats& stats)
    : raw_names_(raw_names),
      budget_(budget),
      model_(model),
      stats_(stats),
      native_(read_files),
      trees_(model, stats) {}

void Definitions::AddChunk(const ChunkPayload& payload) {
  const proto::Chunk& chunk = payload.chunk();
  end_time_ = std::max(end_time_, chunk.time_ns());
  NoteData(payload);
  if (chunk.has_session_start() && !start_.has_value()) start_ = chunk.session_start();
  if (chunk.has_session_end()) end_ = chunk.session_end();
  AddStrings(chunk);
  for (const proto::ClassDef& it : chunk.class_def()) {
    classes_.try_emplace(it.id(), ClassInfo{it.name(), it.loader()});
  }
  AddMembers(chunk);
  AddThreads(chunk);
  AddModules(chunk);
  for (const proto::LabelSet& it : chunk.label_set()) label_sets_.try_emplace(it.id(), it);
  hooks_.Add(chunk);
  method_hooks_.insert(method_hooks_.end(), chunk.method_hook().begin(), chunk.method_hook().end());
  blocks_.Add(chunk);
  for (const proto::Event& event : chunk.event()) {
    end_time_ = std::max(end_time_, event.time_ns());
    if (event.major() == format::kJit) AddCode(event);
  }
  for (const proto::TreeDelta& delta : chunk.tree()) {
    trees_.Add(delta, [this](uint32_t string) { return Text(string); });
  }
  for (const proto::Sample& sample : chunk.sample()) {
    end_time_ = std::max(end_time_, sample.time_ns());
  }
  if (chunk.has_sample_cost()) sample_cost_ = chunk.sample_cost();
  has_log_ |= !payload.logs().empty();
  tree_bytes_ = std::max(tree_bytes_, chunk.tree_bytes());
  if (chunk.has_planner()) planner_ = chunk.planner();
  for (const proto::SegmentTotal& it : chunk.segment_total()) segment_totals_[it.name()] = it;
  for (const proto::CodeTotal& it : chunk.code_total()) {
    code_totals_[{it.major(), it.minor()}] = it;
  }
  losses_.insert(losses_.end(), chunk.loss().begin(), chunk.loss().end());
}

void Definitions::AddMembers(const proto::Chunk& chunk) {
  for (const proto::Routine& it : chunk.routine()) {
    routines_.try_emplace(it.id(),
                          MemberInfo{.class_id = it.class_id(),
                                     .name = it.name(),
                                     .descriptor = it.descriptor(),
                                     .kind = it.kind(),
                                     .cost = it.cost(),
                                     .cycles = it.cycles(),
                                     .millicycles_per_element = it.millicycles_per_element()});
  }
  for (const proto::Method& it : chunk.method()) {
    methods_.try_emplace(
        it.id(),
        MemberInfo{.class_id = it.class_id(), .name = it.name(), .descriptor = it.descriptor()});
  }
}

// What the program did, except starting threads and loading code.
void Definitions::NoteData(const ChunkPayload& payload) {
  const proto::Chunk& chunk = payload.chunk();
  has_data_ |= !payload.logs().empty() || chunk.sample_size() > 0 || chunk.hook_calls_size() > 0 ||
               chunk.segment_total_size() > 0;
  for (const proto::TreeDelta& delta : chunk.tree()) {
    has_data_ |= delta.node_size() > 0 || delta.routine_size() > 0 || delta.metric_size() > 0;
  }
  for (const proto::Event& event : chunk.event()) {
    const uint32_t major = event.major();
    has_data_ |= major != format::kSession && major != format::kThread && major != format::kClass &&
                 major != format::kJit;
  }
}

void Definitions::AddStrings(const proto::Chunk& chunk) {
  uint32_t number = chunk.first_string();
  for (const std::string& text : chunk.string()) {
    strings_.try_emplace(number++, FromModifiedUtf8(text));
  }
}

void Definitions::AddThreads(const proto::Chunk& chunk) {
  for (const proto::Thread& it : chunk.thread()) {
    auto [entry, inserted] = threads_.try_emplace(it.id());
    ThreadDef& thread = entry->second;
    const std::string name = Text(it.name());
    if (inserted) thread_order_.push_back(it.id());
    if (!inserted && thread.name != name) thread.renamed = true;
    thread.name = name;
    thread.info.tid = it.os_tid() != 0 ? it.os_tid() : it.java_tid();
    thread.info.java_tid = it.java_tid();
    thread.info.is_virtual = it.is_virtual();
    thread.info.is_daemon = it.is_daemon();
    thread.info.is_vm_internal = it.is_vm_internal();
  }
}

void Definitions::AddModules(const proto::Chunk& chunk) {
  modules_.insert(modules_.end(), chunk.module().begin(), chunk.module().end());
}

void Definitions::AddCode(const proto::Event& event) {
  hooks_.AddCode(event);
  if ((event.minor() & ~format::kEnd) != format::kJitDynamicCode) return;
  const proto::CodeEvent& code = event.code_event();
  const uint64_t room = std::numeric_limits<uint64_t>::max() - code.address();
  stub_events_.push_back({code.address(), code.address() + std::min(code.size(), room),
                          event.text(), StreamTime(event.time_ns()),
                          (event.minor() & format::kEnd) != 0});
}

void Definitions::AddSampleBytes(const ChunkPayload& payload, uint64_t payload_bytes,
                                 uint64_t file_bytes) {
  const proto::Chunk& chunk = payload.chunk();
  uint64_t bytes = 0;
  // A field's number and length take two bytes or three.
  constexpr uint64_t kFieldHead = 2;
  for (const proto::Sample& it : chunk.sample()) bytes += it.ByteSizeLong() + kFieldHead;
  for (const proto::Frame& it : chunk.frame()) bytes += it.ByteSizeLong() + kFieldHead;
  sample_records_ += static_cast<uint64_t>(chunk.sample_size());
  if (payload_bytes == 0) return;
  sample_bytes_ += static_cast<double>(bytes) * static_cast<double>(file_bytes) /
                   static_cast<double>(payload_bytes);
}

void Definitions::AddNativeCode() {
  for (const proto::Module& it : modules_) {
    const int64_t time = StreamTime(it.time_ns());
    if (it.unloaded()) {
      native_.RemoveModule(it.start(), it.end(), time);
    } else {
      native_.AddModule(it.start(), it.end(), it.file_offset(), Text(it.path()), it.build_id(),
                        time);
    }
  }
  for (const StubEvent& it : stub_events_) {
    if (it.removal) {
      native_.RemoveStub(it.start, it.end, it.time);
    } else {
      native_.AddStub(it.start, it.end, Text(it.name), it.time);
    }
  }
  native_.Seal();
}

void Definitions::Finish(uint32_t trace) {
  TraceInfo& info = model_.traces().back();
  if (start_.has_value()) {
    AddSession(*start_, info);
    const std::string& stack = start_->stack();
    stacks_are_cut_ = stack == "frame" || stack == "appframe" || stack == "pc";
  }
  if (end_.has_value()) AddEnd(*end_, info);
  info.cut_off = !end_.has_value();
  if (tree_bytes_ != 0) info.SetFact("tree_bytes", StrCat(tree_bytes_));
  AddLosses(losses_, info);
  AddSampling({sample_cost_, sample_records_, sample_bytes_, file_bytes_}, info);
  if (planner_.has_value()) AddPlanner(*planner_, info);
  AddCodeTotals(code_totals_, info);
  NameRoutines();
  NameThreads(trace);
  AddNativeCode();
  hooks_.Finish([this](uint32_t string) { return Text(string); }, native_, model_, info);
  for (const proto::MethodHook& hook : method_hooks_) {
    const FrameId method =
        model_.InternFrame({Routine(hook.routine()), ModuleId(), Origin::kInterpreted});
    info.AddHook({method, AgentHooks::KindOf(hook.kind()), Text(hook.pattern())});
  }
  CheckControlSum();
}

uint32_t Definitions::JavaName(const MemberInfo& member) {
  const std::string class_name = ClassName(member.class_id);
  const std::string name = Text(member.name);
  const std::string descriptor = Text(member.descriptor);
  JavaRoutine routine{class_name, name, descriptor};
  if (const auto found = classes_.find(member.class_id); found != classes_.end()) {
    routine.loader = found->second.loader;
  }
  return names_.Intern(routine);
}

std::string Definitions::RoutineName(const MemberInfo& member) const {
  switch (member.kind) {
    case proto::Routine::THROWN:
      return StrCat("[thrown] ", ClassName(member.class_id));
    case proto::Routine::CAUGHT:
      return StrCat("[caught] ", ClassName(member.class_id));
    case proto::Routine::MONITOR_ENTER:
      return "[monitorenter]";
    case proto::Routine::MONITOR_EXIT:
      return "[monitorexit]";
    default:
      return std::string(names_.Name(member.java_name));
  }
}

void Definitions::NameRoutines() {
  for (auto& [id, member] : routines_) {
    if (!IsEvent(KindOf(member.kind))) member.java_name = JavaName(member);
  }
  for (auto& [id, member] : methods_) member.java_name = JavaName(member);
  names_.AssignNames();
  for (auto& [id, member] : routines_) {
    member.routine = model_.InternRoutine(RoutineName(member));
    model_.AddRoutineTraits(member.routine, {KindOf(member.kind), CostOf(member.cost),
                                             member.cycles, member.millicycles_per_element});
    if (member.kind == proto::Routine::METHOD) model_.AddToScope(member.routine);
    if (member.java_name != kNoJavaName) NoteMember(member);
    if (id >= kMaxDenseId) continue;
    if (routine_ids_.size() <= id) routine_ids_.resize(id + size_t{1});
    routine_ids_[id] = member.routine;
  }
  for (auto& [id, member] : methods_) {
    member.routine = model_.InternRoutine(names_.Name(member.java_name));
    NoteMember(member);
  }
  names_ = JavaNames();  // the model has them
}

void Definitions::NoteMember(const MemberInfo& member) {
  const JavaRoutine& routine = names_.routine(member.java_name);
  model_.SetMember(member.routine, {routine.class_name, routine.name, routine.descriptor});
}

void Definitions::NameThreads(uint32_t trace) {
  StringMap<int> uses;
  for (const uint32_t number : thread_order_) ++uses[threads_[number].name];
  for (const uint32_t number : thread_order_) {
    ThreadDef& thread = threads_[number];
    thread.info.trace = trace;
    thread.info.folded_threads = StreamCount(trees_.FoldedThreads(number));
    std::string name = thread.name;
    if (name.empty() || thread.renamed || uses[name] > 1) StrAppend(&name, "#", thread.info.tid);
    // The system reuses a number when a thread has ended.
    thread.info.name = UniqueThreadName(std::move(name));
    thread.id = model_.AddThread(thread.info);
  }
}

// Followed by a number if an earlier thread has it. A name's numbers are tried once each, however
// many threads have it.
std::string Definitions::UniqueThreadName(const std::string& name) {
  std::string unique = name;
  while (!thread_names_.try_emplace(unique, 2).second) {
    unique = StrCat(name, "#", thread_names_[name]++);
  }
  return unique;
}

void Definitions::CheckControlSum() {
  if (!end_.has_value() || end_->calls() == 0 || has_log_) return;
  const uint64_t calls = trees_.TotalCalls();
  if (calls == end_->calls()) return;
  stats_.Add(Problem::kControlSum,
             StrCat("the trees hold ", calls, " calls, the agent counted ", end_->calls()));
}

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

void AddSession(const proto::SessionStart& start, TraceInfo& trace) {
  const auto set = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) trace.SetFact(key, value);
  };
  set("agent_version", start.agent_version());
  if (start.pid() != 0) set("pid", StrCat(start.pid()));
  set("host", start.host());
  set("jvm", start.jvm());
  set("command", FromModifiedUtf8(start.command()));
  set("options", start.options());
  set("mode", start.mode());
  set("record", start.record());
  set("clock", start.clock());
  set("timer", start.timer());
  set("stack", start.stack());
  set("codes", start.codes());
  if (start.jitter()) set("jitter", "on");
  for (const proto::Flag& limit : start.inlining_limit()) {
    if (limit.name().size() >= 64) continue;
    const std::string value =
        limit.real() != 0 ? absl::StrFormat("%g", limit.real()) : StrCat(limit.value());
    set(StrCat("flag.", limit.name()), value);
  }
  if (start.interval_events() != 0) set("interval_events", StrCat(start.interval_events()));
  if (start.unix_time_ns() != 0) set("unix_time_ns", StrCat(start.unix_time_ns()));
  if (start.file_begin_ns() != 0) set("file_begin_ns", StrCat(StreamTime(start.file_begin_ns())));
  if (start.interval_ns() != 0) {
    trace.interval_ns = StreamTime(start.interval_ns());
    set("interval_ns", StrCat(trace.interval_ns));
  }
}

void AddSampling(const SampleSums& sums, TraceInfo& trace) {
  const auto set = [&](std::string_view key, uint64_t value) {
    if (value != 0) trace.SetFact(key, StrCat(StreamTime(value)));
  };
  set("handler_samples", sums.cost.samples());
  set("handler_total_ns", sums.cost.total_ns());
  set("handler_median_ns", sums.cost.median_ns());
  set("handler_p99_ns", sums.cost.p99_ns());
  if (sums.records == 0) return;
  set("file_bytes", sums.file_bytes);
  set("sample_bytes", static_cast<uint64_t>(sums.bytes / static_cast<double>(sums.records)));
}

void AddEnd(const proto::SessionEnd& end, TraceInfo& trace) {
  constexpr std::string_view kReasons[] = {"unknown", "the program ended", "stopped",
                                           "the agent failed", kEndedBySamples};
  const auto reason = static_cast<size_t>(end.reason());
  trace.SetFact("end", kReasons[reason < std::size(kReasons) ? reason : 0]);
  if (end.agent_cpu_ns() != 0) trace.SetFact("agent_cpu_ns", StrCat(end.agent_cpu_ns()));
  if (end.agent_memory_bytes() != 0) {
    trace.SetFact("agent_memory_bytes", StrCat(end.agent_memory_bytes()));
  }
  trace.SetFact("methods_probed", StrCat(end.methods_probed()));
}

void AddPlanner(const proto::Planner& planner, TraceInfo& trace) {
  trace.SetCount("planner.classes_seen", StreamCount(planner.classes_seen()), "classes in scope");
  trace.SetCount("planner.classes_rewritten", StreamCount(planner.classes_rewritten()),
                 "classes rewritten");
  trace.SetCount("planner.methods_seen", StreamCount(planner.methods_seen()), "methods in them");
  trace.SetCount("planner.methods_probed", StreamCount(planner.methods_probed()),
                 "methods with probes");
  const auto add = [&](std::string_view group, const auto& rows) {
    for (const proto::Planner::Row& row : rows) {
      trace.SetCount(StrCat("planner.", group, ".", row.name()), StreamCount(row.count()),
                     row.what());
    }
  };
  add("probe", planner.probe());
  add("method", planner.method());
  add("call", planner.call());
}

void AddCodeTotals(const CodeTotals& totals, TraceInfo& trace) {
  for (const auto& [code, total] : totals) {
    const std::string key = StrCat("total.", CodeText(code.first, code.second));
    const EventCode* known = FindEventCode(code.first, code.second);
    const std::string_view name = known != nullptr ? known->plural : "unknown events";
    trace.SetCount(key, StreamCount(total.count()), name);
    if (total.recorded() != total.count()) {
      trace.SetCount(StrCat(key, ".recorded"), StreamCount(total.recorded()),
                     StrCat(name, ": of these, with a record"));
    }
    if (total.total_ns() != 0) {
      trace.SetCount(StrCat(key, ".ns"), StreamCount(total.total_ns()),
                     StrCat(name, ": nanoseconds, all together"));
    }
  }
}

void AddLosses(const std::vector<proto::Loss>& losses, TraceInfo& trace) {
  for (const proto::Loss& it : losses) {
    if (it.count() == 0) continue;
    Loss loss;
    loss.name = it.name();
    loss.severity = it.severity() == proto::Loss::ERROR  ? Severity::kError
                    : it.severity() == proto::Loss::INFO ? Severity::kInfo
                                                         : Severity::kWarning;
    loss.count = StreamCount(it.count());
    loss.what = it.what();
    loss.advice = it.advice();
    trace.SetLoss(std::move(loss));
  }
}

}  // namespace jtrace::postproc
