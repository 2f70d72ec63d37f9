#include "postproc/reader/definitions.h"

#include <algorithm>
#include <limits>

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

}  // namespace jtrace::postproc
