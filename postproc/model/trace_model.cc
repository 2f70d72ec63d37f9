#include "postproc/model/trace_model.h"

#include <algorithm>

#include "common/jdk_packages.h"
#include "common/utf8.h"

namespace jtrace::postproc {

std::string_view TraceInfo::Fact(std::string_view key) const {
  const auto found = fact_of_.find(key);
  return found == fact_of_.end() ? std::string_view() : facts[found->second].second;
}

// "OpenJDK 64-Bit Server VM 17.0.13+11"
int64_t TraceInfo::JavaRelease() const {
  const std::string_view version = Split(Fact("jvm"), ' ').back();
  int64_t release = 0;
  const bool is_number =
      ParseInteger(version.substr(0, version.find_first_not_of("0123456789")), release);
  return is_number ? release : 0;
}

void TraceInfo::SetFact(std::string_view key, std::string_view value) {
  const auto [at, is_new] = fact_of_.try_emplace(std::string(key), facts.size());
  if (is_new) facts.emplace_back(key, "");
  facts[at->second].second = value;
}

void TraceInfo::SetLoss(Loss loss) {
  const auto [at, is_new] = loss_of_.try_emplace(loss.name, losses.size());
  if (is_new) losses.emplace_back();
  losses[at->second] = std::move(loss);
}

void TraceInfo::SetCount(std::string_view key, int64_t value, std::string_view what) {
  const auto [at, is_new] = count_of_.try_emplace(std::string(key), counts.size());
  if (is_new) counts.push_back({std::string(key), 0, std::string(what)});
  counts[at->second].value = value;
}

void TraceInfo::AddHook(HookInfo hook) {
  // Called for every row of a text trace with calls of a hook.
  if (!known_hooks_.insert(hook).second) return;
  known_hooks_.insert({hook.frame, hook.kind, ""});
  hooks.push_back(std::move(hook));
}

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "";
}

namespace {

constexpr std::string_view kKindNames[] = {"method", "call", "native",        "thrown",
                                           "caught", "park", "monitor-enter", "monitor-exit"};
constexpr std::string_view kHookNames[] = {"count", "unwind", "time"};
constexpr std::string_view kCostNames[] = {"", "fixed", "variable", "indeterminate", "user-input"};

template <typename Enum, size_t N>
std::optional<Enum> ParseName(std::string_view name, const std::string_view (&names)[N]) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view RoutineKindName(RoutineKind kind) { return kKindNames[static_cast<size_t>(kind)]; }
std::optional<RoutineKind> ParseRoutineKind(std::string_view name) {
  return ParseName<RoutineKind>(name, kKindNames);
}
std::string_view RoutineCostName(RoutineCost cost) { return kCostNames[static_cast<size_t>(cost)]; }
std::optional<RoutineCost> ParseRoutineCost(std::string_view name) {
  return ParseName<RoutineCost>(name, kCostNames);
}

std::string_view HookKindName(HookKind kind) { return kHookNames[static_cast<size_t>(kind)]; }
std::optional<HookKind> ParseHookKind(std::string_view name) {
  return ParseName<HookKind>(name, kHookNames);
}

std::optional<TimeUnit> ParseTimeUnit(std::string_view text) {
  if (text == "ns") return TimeUnit::kNanoseconds;
  if (text == "us") return TimeUnit::kMicroseconds;
  if (text == "ms") return TimeUnit::kMilliseconds;
  if (text == "ticks") return TimeUnit::kTicks;
  return std::nullopt;
}

std::string_view TimeUnitName(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kNanoseconds:
      return "ns";
    case TimeUnit::kMicroseconds:
      return "us";
    case TimeUnit::kMilliseconds:
      return "ms";
    case TimeUnit::kTicks:
      return "ticks";
  }
  return "";
}

int64_t NanosecondsPer(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kNanoseconds:
      return 1;
    case TimeUnit::kMicroseconds:
      return 1000;
    case TimeUnit::kMilliseconds:
      return 1000000;
    case TimeUnit::kTicks:
      return 0;
  }
  return 0;
}

RoutineId TraceModel::InternRoutine(std::string_view name) {
  std::string storage;
  return routines_.Intern(NormalizeName(name, storage));
}

void TraceModel::AddRoutineTraits(RoutineId id, RoutineTraits traits) {
  if (traits.kind == RoutineKind::kMethod) methods_.insert(id);
  const bool plain = methods_.contains(id);
  if (plain && id.value >= traits_.size()) return;
  if (traits_.size() <= id.value) traits_.resize(id.value + size_t{1});
  traits_[id.value] = plain ? RoutineTraits() : traits;
}

void TraceModel::SetMember(RoutineId id, const JavaMember& member) {
  if (members_.size() <= id.value) members_.resize(id.value + size_t{1});
  members_[id.value] = {member_parts_.Intern(member.class_name), member_parts_.Intern(member.name),
                        member_parts_.Intern(member.descriptor)};
}

std::optional<JavaMember> TraceModel::MemberOf(RoutineId id) const {
  if (id.value >= members_.size() || !members_[id.value].name) return std::nullopt;
  const MemberParts& parts = members_[id.value];
  return JavaMember{member_parts_.Text(parts.class_name), member_parts_.Text(parts.name),
                    member_parts_.Text(parts.descriptor)};
}

FrameId TraceModel::InternFrame(const Frame& frame) {
  auto [entry, inserted] =
      frame_ids_.try_emplace(frame, FrameId(static_cast<uint32_t>(frames_.size() + 1)));
  if (inserted) frames_.push_back(frame);
  return entry->second;
}

FrameId TraceModel::InternFrameText(std::string_view text) {
  if (auto found = frame_texts_.find(text); found != frame_texts_.end()) return found->second;
  const FrameName parts = ParseFrameName(text);
  Frame frame;
  frame.origin = parts.origin;
  frame.is_tail_call = parts.is_tail_call;
  frame.routine = InternRoutine(parts.name);
  if (!parts.module.empty()) frame.module = InternModule(parts.module);
  const FrameId id = InternFrame(frame);
  frame_texts_.emplace(text, id);
  return id;
}

std::string TraceModel::FrameText(FrameId id) const {
  const Frame& it = frame(id);
  return FormatFrameName(
      {it.origin, ModuleName(it.module), RoutineName(it.routine), it.is_tail_call});
}

std::string_view TraceModel::ModuleOf(const Frame& frame) const {
  if (frame.module) return ModuleName(frame.module);
  if (IsJava(frame.origin)) return "[java]";
  if (frame.origin == Origin::kVm) return "libjvm.so";
  if (frame.origin == Origin::kKernel) return "[kernel]";
  return frame.origin == Origin::kNative ? "[unknown]" : "[application]";
}

LabelsId TraceModel::InternLabels(Labels labels) {
  labels = Normalized(std::move(labels));
  if (labels.empty()) return LabelsId();
  const LabelsId id = label_texts_.Intern(LabelText(labels));
  if (id.value > labels_.size()) labels_.push_back(std::move(labels));
  return id;
}

ThreadId TraceModel::AddThread(ThreadInfo thread) {
  threads_.push_back(std::move(thread));
  return ThreadId(static_cast<uint32_t>(threads_.size()));
}

bool TraceModel::InScope(const Frame& frame) const {
  if (frame.origin == Origin::kNone) return true;
  if (!IsJava(frame.origin)) return false;
  if (!scope_.empty()) return scope_.contains(frame.routine);
  return !IsJdkClass(RoutineName(frame.routine));
}

TraceInfo& TraceModel::AddTrace(std::string file) {
  TraceInfo& trace = traces_.emplace_back();
  trace.file = std::move(file);
  return trace;
}

int64_t TraceModel::interval_ns() const {
  int64_t interval = 0;
  for (const TraceInfo& trace : traces_) {
    if (trace.interval_ns == 0 || (interval != 0 && interval != trace.interval_ns)) return 0;
    interval = trace.interval_ns;
  }
  return interval;
}

bool TraceModel::SetUnit(TimeUnit unit) {
  if (unit_.has_value() && *unit_ != unit) return false;
  unit_ = unit;
  return true;
}

namespace {

void AppendEscaped(std::string_view text, std::string_view special, std::string& out) {
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
}

}  // namespace

Labels Normalized(Labels labels) {
  for (auto& [key, value] : labels) {
    key = ValidUtf8(key);
    value = ValidUtf8(value);
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Labels normalized;
  for (auto& label : labels) {
    if (label.first.empty()) continue;
    if (!normalized.empty() && normalized.back().first == label.first) normalized.pop_back();
    normalized.push_back(std::move(label));
  }
  std::erase_if(normalized, [](const auto& label) { return label.second.empty(); });
  return normalized;
}

std::string LabelText(const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels) {
    if (!text.empty()) text.push_back(',');
    AppendEscaped(key, "\\,=", text);
    text.push_back('=');
    AppendEscaped(value, "\\,", text);
  }
  return text;
}

Labels ParseLabelText(std::string_view text) {
  Labels labels;
  std::pair<std::string, std::string> label;
  bool in_value = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      labels.push_back(std::exchange(label, {}));
      in_value = false;
    } else if (text[i] == '=' && !in_value) {
      in_value = true;
    } else {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      (in_value ? label.second : label.first).push_back(text[i]);
    }
  }
  labels.push_back(std::move(label));
  return Normalized(std::move(labels));
}

}  // namespace jtrace::postproc
