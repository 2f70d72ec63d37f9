#include "postproc/reader/text_reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "postproc/model/trace_model.h"
#include "postproc/reader/event_codes.h"
#include "postproc/reader/text_format.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// What a text trace says about itself: in its first line, and in comment lines
// "#@<TAB>KIND<TAB>…" (text_format.h).
void ReadFact(absl::Span<const std::string> fields, TraceInfo& trace) {
  if (fields[1] == "cut_off") {
    trace.cut_off = true;
    return;
  }
  if (fields[1] == "running") {
    trace.running = true;
    return;
  }
  trace.SetFact(fields[1], fields[2]);
  if (fields[1] == "interval_ns") ParseInteger(fields[2], trace.interval_ns);
}

void ReadLoss(absl::Span<const std::string> fields, TraceInfo& trace) {
  Loss loss;
  loss.name = fields[1];
  loss.severity = fields[2] == "info"    ? Severity::kInfo
                  : fields[2] == "error" ? Severity::kError
                                         : Severity::kWarning;
  ParseInteger(fields[3], loss.count);
  loss.what = fields[4];
  loss.advice = fields[5];
  trace.SetLoss(std::move(loss));
}

void ReadRoutine(absl::Span<const std::string> fields, TraceModel& model) {
  const std::optional<RoutineKind> kind = ParseRoutineKind(fields[1]);
  const std::optional<RoutineCost> cost = ParseRoutineCost(fields[2]);
  if (!kind.has_value() || !cost.has_value()) return;
  RoutineTraits traits = {*kind, *cost};
  if (fields.size() > 5) {
    constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
    const auto read = [&](size_t at, int64_t& number) {
      int64_t value = 0;
      if (ParseInteger(fields[at], value) && value >= 0 && value <= kMost) number = value;
    };
    read(4, traits.cycles);
    read(5, traits.millicycles_per_element);
  }
  model.AddRoutineTraits(model.InternRoutine(fields[3]), traits);
}

void ReadHook(absl::Span<const std::string> fields, TraceInfo& trace, TraceModel& model) {
  const std::optional<HookKind> kind = ParseHookKind(fields[2]);
  if (!kind.has_value() || fields[1].empty()) return;
  const FrameId frame = model.InternFrameText(fields[1]);
  if (!IsJava(model.frame(frame).origin)) model.AddHooked(model.frame(frame).routine);
  trace.AddHook({frame, *kind, fields[3]});
}

// Reads the first line and sets the unit; `file` names the input in messages. Fails if it is not
// a text trace's header, its version is newer, or its unit differs from that of an earlier trace.
absl::Status ReadTextHeader(std::string_view line, std::string_view file, TraceModel& model) {
  if (!ConsumePrefix(line, text::kHeaderPrefix)) {
    return absl::InvalidArgumentError(StrCat(file, ": not a text trace"));
  }
  const std::vector<std::string_view> words = Split(line, ' ');
  int64_t version = 0;
  if (words.empty() || !text::ParseNumber(words[0], version)) {
    return absl::InvalidArgumentError(StrCat(file, ": the header names no version"));
  }
  if (version != text::kVersion) {
    return absl::UnimplementedError(StrCat(file, ": text trace version ", version,
                                           " is unknown to this jtrace-post (", text::kVersion,
                                           "): use a newer one"));
  }
  for (std::string_view word : words) {
    if (!ConsumePrefix(word, "unit=")) continue;
    const std::optional<TimeUnit> unit = ParseTimeUnit(word);
    if (!unit.has_value()) {
      return absl::InvalidArgumentError(StrCat(file, ": unknown unit '", word, "'"));
    }
    if (!model.SetUnit(*unit)) {
      return absl::InvalidArgumentError(StrCat(file, ": its unit is ", word,
                                               ", that of the traces before ",
                                               TimeUnitName(model.unit())));
    }
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(StrCat(file, ": the header names no unit"));
}

// `fields`: the line's, without "#@", unescaped. Unknown lines are ignored.
void ReadTextMeta(absl::Span<const std::string> fields, TraceInfo& trace, TraceModel& model) {
  const auto is = [&](std::string_view kind, size_t count) {
    return fields.size() >= count && fields[0] == kind;
  };
  int64_t value = 0;
  if (is("session", 3)) {
    ReadFact(fields, trace);
  } else if (is("loss", 6)) {
    ReadLoss(fields, trace);
  } else if (is("count", 4) && ParseInteger(fields[2], value)) {
    trace.SetCount(fields[1], value, fields[3]);
  } else if (is("scope", 2)) {
    const RoutineId routine = model.InternRoutine(fields[1]);
    model.AddToScope(routine);
    model.AddRoutineTraits(routine, {});
  } else if (is("routine", 4)) {
    ReadRoutine(fields, model);
  } else if (is("hook", 4)) {
    ReadHook(fields, trace, model);
  }
}

using Fields = std::vector<std::string_view>;

void SplitInto(std::string_view line, Fields& fields) {
  fields.clear();
  while (true) {
    const size_t end = line.find('\t');
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

class TextReader {
 public:
  TextReader(std::string_view file, TraceModel& model, ImportStats& stats, RecordVisitor& visitor)
      : file_(file), model_(model), stats_(stats), visitor_(visitor) {
    trace_index_ = static_cast<uint32_t>(model.traces().size());
    model.AddTrace(file_);
  }

  absl::Status Read(std::string_view content) {
    for (size_t begin = 0; begin < content.size();) {
      size_t end = content.find('\n', begin);
      if (end == std::string_view::npos) end = content.size();
      const std::string_view line = content.substr(begin, end - begin);
      begin = end + 1;
      if (++line_number_ == 1) {
        if (absl::Status status = ReadTextHeader(line, file_, model_); !status.ok()) return status;
      } else if (line.starts_with(text::kMetaPrefix)) {
        ReadMeta(line.substr(text::kMetaPrefix.size()));
      } else if (!line.empty() && line.front() != '#') {
        ReadRecord(line);
      }
    }
    return absl::OkStatus();
  }

 private:
  void ReadMeta(std::string_view line);
  void ReadRecord(std::string_view line);
  // False if the op is not one of those that change the call tree.
  bool ReadCall(std::string_view op, At at);
  bool ReadSample(std::string_view op, At at);
  bool SplitBlocker(std::string_view& op, SampleRecord& sample);
  bool ReadReduced(std::string_view op, At at);
  // The fields from `first` up to `end`.
  void ReadPath(size_t first, size_t end);
  bool ReadHook(std::string_view op, At at);
  void ReadArgs();
  bool ReadNotice(std::string_view op, At at);
  bool ReadDropped(std::string_view op, At at);
  void ReadSampleAt(At at, SampleRecord sample);
  void DescribeThread(ThreadId id);

  ThreadId ThreadOf(std::string_view name);
  RoutineId RoutineOf(std::string_view field) {
    return model_.frame(model_.InternFrameText(Unescaped(field))).routine;
  }
  std::string_view Unescaped(std::string_view field) { return text::Unescape(field, storage_); }
  void Malformed(std::string_view why);

  const std::string file_;
  TraceModel& model_;
  ImportStats& stats_;
  RecordVisitor& visitor_;
  uint32_t trace_index_ = 0;
  int64_t line_number_ = 0;

  StringMap<ThreadId> threads_;
  std::string last_thread_name_;
  ThreadId last_thread_;
  absl::flat_hash_map<ThreadId, int64_t> last_times_;
  absl::flat_hash_map<ThreadId, uint16_t> places_;  // of the next samples
  absl::flat_hash_map<ThreadId, LabelsId> labels_;  // of samples from here on

  // Reused from line to line.
  Fields fields_;
  std::string storage_;
  std::vector<PathStep> path_;
  std::vector<FrameId> frames_;
  std::vector<CallSite> call_places_;
  std::vector<std::string> args_;
};

void TextReader::ReadMeta(std::string_view line) {
  std::vector<std::string> fields;
  for (const std::string_view field : Split(line, '\t')) fields.emplace_back(Unescaped(field));
  ReadTextMeta(fields, model_.traces()[trace_index_], model_);
}

void TextReader::Malformed(std::string_view why) {
  stats_.Add(Problem::kMalformedLine, stats_.WantsDetail()
                                          ? StrCat(file_, ":", line_number_, ": ", why, ", skipped")
                                          : std::string());
}

ThreadId TextReader::ThreadOf(std::string_view name) {
  if (last_thread_ && name == last_thread_name_) return last_thread_;
  auto found = threads_.find(name);
  if (found == threads_.end()) {
    ThreadInfo info;
    info.name = std::string(name);
    info.trace = trace_index_;
    found = threads_.emplace(std::string(name), model_.AddThread(std::move(info))).first;
  }
  last_thread_name_ = found->first;
  last_thread_ = found->second;
  return last_thread_;
}

bool IsNotice(std::string_view op) {
  if (IsOfBlocks(op) || op == kSegmentsOp) return true;
  const EventCode* code = FindEventCodeByOp(op);
  return code != nullptr && code->is_notice;
}

// "sample*3" is "sample" with weight 3; false if the weight is not a number.
bool SplitWeight(std::string_view& op, int64_t& weight) {
  weight = 1;
  const size_t star = op.find('*');
  if (star == std::string_view::npos) return true;
  const std::string_view number = op.substr(star + 1);
  op = op.substr(0, star);
  return text::ParseNumber(number, weight) && weight >= 0;
}

// "sample.parked" is "sample" of a parked thread; false if the state is unknown.
bool SplitState(std::string_view& op, SampleState& state) {
  const size_t dot = op.find('.');
  if (dot == std::string_view::npos) return true;
  const auto named = ParseSampleState(op.substr(dot + 1));
  op = op.substr(0, dot);
  if (named.has_value()) state = *named;
  return named.has_value();
}

// "sample.monitor@app.Lock*3" is "sample.monitor*3" of a thread that waits on an app.Lock. A class
// name may contain stars, so the weight is always there and after the last one.
bool TextReader::SplitBlocker(std::string_view& op, SampleRecord& sample) {
  const size_t at = op.find('@');
  if (at == std::string_view::npos) return SplitWeight(op, sample.weight);
  std::string_view name = op.substr(at + 1);
  op = op.substr(0, at);
  const size_t star = name.rfind('*');
  if (star == std::string_view::npos) return false;
  std::string_view weight = name.substr(star);
  name = name.substr(0, star);
  if (!name.empty()) sample.blocker = model_.InternClass(Unescaped(name));
  return SplitWeight(weight, sample.weight);
}

void TextReader::ReadRecord(std::string_view line) {
  SplitInto(line, fields_);
  if (fields_.size() < 3) return Malformed("fewer than three fields");
  At at;
  if (!text::ParseNumber(fields_[0], at.time)) return Malformed("the time is not an integer");
  const std::string_view op = fields_[2];
  const bool notice = IsNotice(op);
  const std::string_view kind = op.substr(0, op.find_first_of(".*@"));
  constexpr std::string_view kOps[] = {"enter",     "exit", "sample", "sample-at", "unwind",
                                       "unwind-at", "off",  "on",     "metric",    "node",
                                       "position",  "hook", "place",  "labels"};
  if (!notice && std::find(std::begin(kOps), std::end(kOps), kind) == std::end(kOps)) {
    stats_.Add(Problem::kUnknownOp,
               stats_.WantsDetail()
                   ? StrCat(file_, ":", line_number_, ": unknown op '", op, "', skipped")
                   : std::string());
    return;
  }
  // Only notices belong to no thread.
  if (!notice || !fields_[1].empty()) {
    at.thread = ThreadOf(Unescaped(fields_[1]));
    auto [last, is_first] = last_times_.try_emplace(at.thread, at.time);
    if (at.time < last->second) {
      stats_.Add(Problem::kTimeRunsBack,
                 stats_.WantsDetail()
                     ? StrCat(file_, ":", line_number_, ": time runs back in this thread")
                     : std::string());
      at.time = last->second;
    }
    last->second = at.time;
  }
  if (notice) {
    ReadNotice(op, at);
  } else if (!ReadCall(op, at) && !ReadSample(op, at) && !ReadReduced(op, at) &&
             !ReadHook(op, at)) {
    Malformed(StrCat("op '", op, "' is malformed"));
  }
}

bool TextReader::ReadCall(std::string_view op, At at) {
  if (op == "off" || op == "on") {
    visitor_.OnSwitch(at, op == "on");
    return true;
  }
  CodeKind kind = CodeKind::kUnknown;
  if (ConsumeSuffix(op, ".i")) kind = CodeKind::kInterpreted;
  if (ConsumeSuffix(op, ".j")) kind = CodeKind::kJitted;
  if ((op != "enter" && op != "exit") || fields_.size() < 4) return false;
  const RoutineId routine = RoutineOf(fields_[3]);
  if (op == "enter") {
    visitor_.OnEnter(at, routine, kind);
  } else {
    visitor_.OnExit(at, routine, kind);
  }
  return true;
}

bool TextReader::ReadSample(std::string_view op, At at) {
  SampleRecord sample;
  if (!SplitBlocker(op, sample) || !SplitState(op, sample.state)) return false;
  sample.has_path = ConsumeSuffix(op, "-at");
  sample.is_unwind = op == "unwind";
  if (!sample.is_unwind && op != "sample") return false;
  size_t next = 3;
  path_.clear();
  if (sample.has_path) {
    int64_t depth = 0;
    if (fields_.size() < 4 || !text::ParseNumber(fields_[3], depth) || depth < 0 ||
        static_cast<uint64_t>(depth) > fields_.size() - 4) {
      return false;
    }
    next = 4 + static_cast<size_t>(depth);
    ReadPath(4, next);
  }
  frames_.clear();
  call_places_.clear();
  for (; next < fields_.size(); ++next) {
    std::string_view field = fields_[next];
    call_places_.push_back(text::TakePlace(field));
    frames_.push_back(model_.InternFrameText(Unescaped(field)));
  }
  sample.path = path_;
  sample.frames = frames_;
  const bool has_places = std::any_of(call_places_.begin(), call_places_.end(),
                                      [](CallSite place) { return place != kNoCallSite; });
  if (has_places) sample.places = call_places_;
  if (const auto place = places_.find(at.thread); place != places_.end() && !sample.is_unwind) {
    sample.bci = place->second;
    places_.erase(place);
  }
  if (const auto found = labels_.find(at.thread); found != labels_.end()) {
    sample.labels = found->second;
  }
  visitor_.OnSample(at, sample);
  return true;
}

// A routine's place is where it called the next one.
void TextReader::ReadPath(size_t first, size_t end) {
  path_.clear();
  CallSite from = kNoCallSite;
  for (size_t i = first; i < end; ++i) {
    std::string_view field = fields_[i];
    const CallSite place = text::TakePlace(field);
    path_.emplace_back(RoutineOf(field), from);
    from = place;
  }
}

bool TextReader::ReadReduced(std::string_view op, At at) {
  if (op == "metric") {
    int64_t delta = 0;
    if (fields_.size() < 5 || !text::ParseNumber(fields_[4], delta)) return false;
    visitor_.OnMetric(at, model_.InternMetric(Unescaped(fields_[3])), delta);
    return true;
  }
  if (op == "place") {
    int64_t bci = 0;
    if (fields_.size() < 4 || !text::ParseNumber(fields_[3], bci) || bci < 0 ||
        bci > std::numeric_limits<uint16_t>::max()) {
      return false;
    }
    places_[at.thread] = static_cast<uint16_t>(bci);
    return true;
  }
  if (op == "labels") {
    labels_[at.thread] = fields_.size() < 4
                             ? LabelsId()
                             : model_.InternLabels(ParseLabelText(Unescaped(fields_[3])));
    return true;
  }
  if (op == "position" && at.thread) {
    ReadPath(3, fields_.size());
    visitor_.OnPosition(at, path_, 0);
    return true;
  }
  if (op != "node" || fields_.size() < 4) return false;
  NodeCounts counts;
  if (!text::ParseNodeCounts(fields_[3], model_, counts)) return false;
  ReadPath(4, fields_.size());
  visitor_.OnNode(at, counts, path_, 0);
  return true;
}

void TextReader::DescribeThread(ThreadId id) {
  ThreadInfo& thread = model_.thread(id);
  for (const std::string& arg : args_) {
    std::string_view value = arg;
    if (ConsumePrefix(value, "tid=")) text::ParseNumber(value, thread.tid);
    if (ConsumePrefix(value, "java_tid=")) text::ParseNumber(value, thread.java_tid);
    if (ConsumePrefix(value, "threads=")) text::ParseNumber(value, thread.folded_threads);
    if (value == "virtual") thread.is_virtual = true;
    if (value == "daemon") thread.is_daemon = true;
    if (value == "internal") thread.is_vm_internal = true;
  }
}

void TextReader::ReadArgs() {
  args_.clear();
  for (size_t i = 3; i < fields_.size(); ++i) args_.emplace_back(Unescaped(fields_[i]));
}

bool TextReader::ReadHook(std::string_view op, At at) {
  if (op != "hook") return false;
  call_places_.assign(3, kNoCallSite);
  for (size_t i = 3; i < fields_.size(); ++i) {
    // Only the path has places: the first of its fields is the eighth.
    call_places_.push_back(i < 7 ? kNoCallSite : text::TakePlace(fields_[i]));
  }
  ReadArgs();
  const auto places = absl::MakeConstSpan(call_places_).subspan(3);
  const auto hook = text::HookFields::Parse(args_, places, model_.traces()[trace_index_], model_);
  if (hook.has_value()) visitor_.OnHook(at, hook->record());
  return hook.has_value();
}

bool TextReader::ReadNotice(std::string_view op, At at) {
  ReadArgs();
  if (op == "thread-start" && at.thread) DescribeThread(at.thread);
  if (const auto code_op = text::ParseCodeOp(op)) {
    const text::CodeFields code(*code_op, args_, model_);
    visitor_.OnCode(at, code.record());
  } else if (!ReadDropped(op, at)) {
    visitor_.OnNotice(at, op, args_);
  }
  return true;
}

bool TextReader::ReadDropped(std::string_view op, At at) {
  if (op != "session-loss" || !at.thread || args_.size() != 1) return false;
  std::string_view value = args_[0];
  int64_t events = 0;
  if (!ConsumePrefix(value, "value=") || !text::ParseNumber(value, events) || events < 0) {
    return false;
  }
  visitor_.OnDropped(at, events);
  return true;
}

}  // namespace

bool IsTextTrace(std::string_view content) { return content.starts_with(text::kHeaderPrefix); }

absl::Status ReadTextTrace(std::string_view content, std::string_view file, TraceModel& model,
                           ImportStats& stats, RecordVisitor& visitor) {
  return TextReader(file, model, stats, visitor).Read(content);
}

}  // namespace jtrace::postproc
