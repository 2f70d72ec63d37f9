#include "postproc/samples/event_logs.h"

#include <algorithm>
#include <utility>

#include "postproc/calltree/call_tree.h"
#include "postproc/support/percent.h"
#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kKinds[] = {"read", "write", "connect", "accept"};

}  // namespace

void IoLog::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  const bool is_begin = ConsumeSuffix(op, "-begin");
  if (!is_begin && !ConsumeSuffix(op, "-end")) return;
  if (std::find(std::begin(kKinds), std::end(kKinds), op) == std::end(kKinds)) return;
  if (!is_begin) return End(at, op, args);
  begun_[at.thread] = {{std::string(op), args.empty() ? "" : args[0]}, at.time};
}

// A peer is known at the end of a call only.
void IoLog::End(At at, std::string_view kind, absl::Span<const std::string> args) {
  const auto begun = begun_.find(at.thread);
  if (begun == begun_.end() || begun->second.name.first != kind) return;
  Name name = begun->second.name;
  int64_t bytes = 0;
  for (const std::string& arg : args) {
    std::string_view value = arg;
    if (!ConsumePrefix(value, "value=") || !ParseInteger(value, bytes)) name.second = arg;
  }
  Total& total = totals_[name];
  const int64_t time = WrapSub(at.time, begun->second.time);
  begun_.erase(begun);
  ++total.calls;
  total.failed += bytes < 0 ? 1 : 0;
  total.bytes = WrapAdd(total.bytes, std::max<int64_t>(bytes, 0));
  total.time = WrapAdd(total.time, time);
  total.longest = std::max(total.longest, time);
  total.threads.insert(at.thread);
}

namespace {

// The number in "key=N" among the arguments after the name; none: there is none.
std::optional<int64_t> NumberIn(absl::Span<const std::string> args, std::string_view key) {
  for (size_t i = 1; i < args.size(); ++i) {
    std::string_view value = args[i];
    int64_t number = 0;
    if (ConsumePrefix(value, key) && ConsumePrefix(value, "=") && ParseInteger(value, number)) {
      return number;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<SegmentPairs::Ended> SegmentPairs::Take(At at, std::string_view op,
                                                      absl::Span<const std::string> args) {
  if (args.empty() || (op != "segment-begin" && op != "segment-end")) return std::nullopt;
  const std::pair<ThreadId, std::string> key(at.thread, args[0]);
  if (op == "segment-begin") {
    begun_[key].push_back(at.time);
    return std::nullopt;
  }
  const auto begun = begun_.find(key);
  std::optional<int64_t> time = NumberIn(args, "value");
  if (begun != begun_.end()) {
    // A time of 0 has no value.
    if (!time.has_value()) time = WrapSub(at.time, begun->second.back());
    begun->second.pop_back();
    if (begun->second.empty()) begun_.erase(begun);
  }
  if (!time.has_value()) return std::nullopt;
  return Ended{args[0], WrapSub(at.time, *time), *time};
}

absl::btree_map<std::string, int64_t> SegmentPairs::Open() const {
  absl::btree_map<std::string, int64_t> open;
  for (const auto& [key, times] : begun_) open[key.second] += static_cast<int64_t>(times.size());
  return open;
}

void SegmentLog::Total::Add(int64_t more, int64_t sum, int64_t least, int64_t most) {
  if (more == 0) return;
  min = count == 0 ? least : std::min(min, least);
  max = count == 0 ? most : std::max(max, most);
  count = WrapAdd(count, more);
  time = WrapAdd(time, sum);
}

void SegmentLog::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  if (op != kSegmentsOp) {
    const auto ended = pairs_.Take(at, op, args);
    if (ended.has_value()) totals_[ended->name].Add(1, ended->time, ended->time, ended->time);
    return;
  }
  if (args.empty()) return;
  Total& total = totals_[args[0]];
  const auto number = [&](std::string_view key) { return NumberIn(args, key).value_or(0); };
  total.Add(number("count"), number("total"), number("min"), number("max"));
  total.open = WrapAdd(total.open, number("open"));
}

absl::btree_map<std::string, SegmentLog::Total> SegmentLog::Totals() const {
  auto totals = totals_;
  for (const auto& [name, open] : pairs_.Open()) {
    totals[name].open = WrapAdd(totals[name].open, open);
  }
  return totals;
}

namespace {

bool NamesMonitor(SampleState state) {
  return state == SampleState::kMonitor || state == SampleState::kObjectWait;
}

}  // namespace

bool WaitLog::IsApplication(FrameId id) const {
  const Frame& frame = model_.frame(id);
  const std::string_view name = model_.RoutineName(frame.routine);
  return !name.starts_with('[') && model_.InScope(frame);
}

std::string_view WaitLog::BlockerOf(ThreadId thread, const SampleRecord& sample) const {
  if (sample.blocker) return model_.ClassName(sample.blocker);
  if (!NamesMonitor(sample.state)) return {};
  const auto monitor = monitors_.find(thread);
  return monitor != monitors_.end() ? monitor->second : std::string_view();
}

void WaitLog::OnSample(At at, const SampleRecord& sample) {
  if (sample.is_unwind) return;
  ticks_ = WrapAdd(ticks_, sample.weight);
  if (sample.state == SampleState::kRunning) return;
  Place place;
  place.state = sample.state;
  place.on = BlockerOf(at.thread, sample);
  for (size_t i = sample.frames.size(); i-- > 0;) {
    if (!IsApplication(sample.frames[i])) continue;
    place.site = model_.RoutineName(model_.frame(sample.frames[i]).routine);
    break;
  }
  for (size_t i = sample.frames.size(); i-- > 0;) {
    const std::string_view name = model_.RoutineName(model_.frame(sample.frames[i]).routine);
    if (name == place.site) break;
    place.call = name;
  }
  if (place.site.empty() && !sample.frames.empty()) {
    place.call = model_.RoutineName(model_.frame(sample.frames.back()).routine);
  }
  Total& total = places_[place];
  total.ticks = WrapAdd(total.ticks, sample.weight);
  ++total.samples;
  total.threads.insert(at.thread);
}

void WaitLog::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  if (op == "monitor-contended" || op == "monitor-wait") {
    if (!args.empty()) monitors_[at.thread] = classes_.Text(classes_.Intern(args[0]));
  } else if (op == "monitor-entered" || op == "monitor-waited") {
    monitors_.erase(at.thread);
  }
}

namespace {

// In place of a thread, of waits that ended without one that is known.
std::string_view WithoutThread(std::string_view how) {
  if (how == "timed-out") return "[timed out]";
  if (how == "interrupted") return "[interrupted]";
  if (how == "notified") return "[notified]";
  return "[unknown]";
}

// "how=", "for=", …; a later one of a key counts.
void Read(std::string_view arg, WaitedLog::Wait& wait, int64_t& time) {
  constexpr std::pair<std::string_view, std::string WaitedLog::Wait::*> kTexts[] = {
      {"how=", &WaitedLog::Wait::how},
      {"for=", &WaitedLog::Wait::waited_for},
      {"on=", &WaitedLog::Wait::on},
      {"at=", &WaitedLog::Wait::at},
      {"by=", &WaitedLog::Wait::by}};
  for (const auto& [key, field] : kTexts) {
    if (!ConsumePrefix(arg, key)) continue;
    wait.*field = std::string(arg);
    return;
  }
  int64_t value = 0;
  if (ConsumePrefix(arg, "value=") && ParseInteger(arg, value)) time = std::max<int64_t>(value, 0);
}

}  // namespace

void WaitedLog::Total::Add(const Total& other) {
  waits = WrapAdd(waits, other.waits);
  time = WrapAdd(time, other.time);
  longest = std::max(longest, other.longest);
}

void WaitedLog::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  if (!ConsumePrefix(op, "waited-") || !at.thread) return;
  Wait wait;
  int64_t time = 0;
  for (const std::string& arg : args) Read(arg, wait, time);
  wait.kind = op != "object" ? std::string(op) : wait.how == "ended" ? "join" : "wait";
  if (wait.waited_for.empty()) wait.waited_for = WithoutThread(wait.how);
  wait.waiter = waiters_.Text(waiters_.Intern(model_.thread(at.thread).name));
  waits_[std::move(wait)].Add({1, time, time});
}

namespace {

// Paths of files are encoded as in URLs; other URLs stay as they are.
std::string SourceForPeople(std::string_view source) {
  const bool is_path = source.starts_with("/") || source.starts_with("file:");
  return is_path ? DecodePercents(source) : std::string(source);
}

}  // namespace

void ClassLog::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  const bool is_load = op == "class-load";
  if ((!is_load && op != "class-unload") || args.empty()) return;
  Entry& entry = classes_[args[0]];
  if (!is_load) {
    ++entry.unloads;
    return;
  }
  if (entry.loads++ == 0) entry.first_load = at.time;
  int64_t count = 0;
  for (std::string_view arg : args.subspan(1)) {
    if (!ConsumePrefix(arg, "methods=")) {
      entry.source = SourceForPeople(arg);
    } else if (ParseInteger(arg, count)) {
      entry.methods = count;
    }
  }
}

}  // namespace jtrace::postproc
