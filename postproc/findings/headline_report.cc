// Where the time went and the program's heaviest methods, as a table and as text.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "postproc/findings/findings_text.h"
#include "postproc/findings/reports.h"
#include "postproc/findings/rules.h"
#include "postproc/report/headline.h"
#include "postproc/report/report.h"
#include "postproc/report/shorten.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// A state of threads.
struct StateTime {
  SampleState state = SampleState::kRunning;
  int64_t ticks = 0;
  // The application's method in which the most of that was, the class of the object waited on, and
  // the ticks there; empty: unknown, or it ran.
  std::string_view site;
  std::string_view on;
  int64_t of_site = 0;
};

// By thread, from 1.
std::vector<bool> ThreadsOfProgram(const TraceModel& model) {
  std::vector<bool> is_program(model.thread_count() + 1);
  for (uint32_t i = 1; i < is_program.size(); ++i) {
    // Of the JVM's own threads none calls methods that are counted.
    is_program[i] =
        ConsumerOfThread(model.thread(ThreadId(i)), /*has_events=*/false) == Consumer::kProgram;
  }
  return is_program;
}

// Most ticks first; empty if no sample found a thread that did not run.
std::vector<StateTime> RealTimeOfProgram(const ReportInput& input) {
  if (input.waits.places().empty()) return {};
  StateTime states[kSampleStates];
  for (size_t i = 0; i < kSampleStates; ++i) states[i].state = static_cast<SampleState>(i);
  const std::vector<bool> is_program = ThreadsOfProgram(input.model);
  for (const LoggedSample& sample : input.samples.samples()) {
    if (!sample.thread || !is_program[sample.thread.value]) continue;
    int64_t& ticks = states[static_cast<size_t>(sample.state)].ticks;
    ticks = WrapAdd(ticks, sample.weight);
  }
  for (const auto& [place, total] : input.waits.places()) {
    StateTime& state = states[static_cast<size_t>(place.state)];
    if (place.site.empty() || total.ticks <= state.of_site) continue;
    state.site = place.site;
    state.on = place.on;
    state.of_site = total.ticks;
  }
  std::vector<StateTime> found;
  std::copy_if(std::begin(states), std::end(states), std::back_inserter(found),
               [](const StateTime& it) { return it.ticks > 0; });
  std::stable_sort(found.begin(), found.end(),
                   [](const StateTime& a, const StateTime& b) { return a.ticks > b.ticks; });
  return found;
}

constexpr size_t kMostInText = 5;
// One less, and only shares that matter: so the first finding is in the first 25 lines.
constexpr size_t kMostHeaviest = 4;
constexpr size_t kMostFindings = 5;
constexpr double kLeastShare = 0.5;       // percent, of who used the time
constexpr double kLeastPartShare = 0.05;  // of a part of it

std::string_view TextOf(Consumer consumer) {
  constexpr std::string_view kTexts[kConsumers] = {
      "program", "JDK",     "jtrace itself", "native code",       "JVM",
      "kernel",  "unknown", "JIT compiler",  "garbage collector", "JVM's other threads"};
  return kTexts[static_cast<size_t>(consumer)];
}

class HeadlineWriter {
 public:
  HeadlineWriter(const ReportInput& input, std::ostream& out)
      : input_(input), out_(out), headline_(MakeHeadline(input, kMostInText)) {}

  void Write() {
    if (input_.measure().is_more_than_calls() && input_.measure().whole > 0) WriteConsumers();
    WriteRealTime();
    WriteMethods(
        "the program's heaviest methods, with the code of others that they run",
        absl::MakeConstSpan(headline_.heaviest)
            .first(std::min(headline_.heaviest.size(), kMostHeaviest)),
        [this](const HeavyMethod& method) { return FormatMeasure(input_, method.own); },
        input_.measure().whole);
    WriteFindings();
    WriteMethods("the program's methods that are called most", headline_.most_called, nullptr, 0);
    WriteMethods(
        "the program's methods that allocate most", headline_.allocating,
        [](const HeavyMethod& method) { return FormatBytes(static_cast<double>(method.own)); }, 0);
  }

 private:
  static constexpr int kShareWidth = 8, kAmountWidth = 10;

  void Title(std::string_view title) {
    out_ << (std::exchange(is_first_, false) ? "" : "\n") << "── " << title << " ──\n";
  }
  void WriteConsumers();
  void WriteRealTime();
  void WriteFindings();
  // How jtrace itself makes its amount greater; "": not.
  std::string Remark(Consumer consumer) const;
  void WriteConsumer(Consumer consumer, std::string_view indent);
  std::string PartsOf(const Consumption& consumption, int used) const;
  void WriteAmount(int64_t amount);
  template <typename AmountOf>
  void WriteMethods(std::string_view title, absl::Span<const HeavyMethod> methods,
                    AmountOf amount_of, int64_t whole);
  std::string CalleeOf(const HeavyMethod& method) const;
  std::string CallerText(RoutineId caller) const;
  std::string PathOf(const HeavyMethod& method, int room) const;

  const ReportInput& input_;
  std::ostream& out_;
  const Headline headline_;
  bool is_first_ = true;
};

std::string HeadlineWriter::Remark(Consumer consumer) const {
  if (consumer == Consumer::kJtrace) return "mostly its probes: mode=samples records without them";
  if (consumer != Consumer::kJit || headline_.most_called.empty()) return "";
  const int64_t estimate = EstimatedProbeCompilation(input_);
  if (estimate == 0) return "compiles the probes, too, which mode=samples does not need";
  return absl::StrFormat("estimated %.0f %% for the probes, which mode=samples does not need",
                         PercentOf(estimate, input_.measure().whole));
}

void HeadlineWriter::WriteAmount(int64_t amount) {
  out_ << PadLeft(FormatPercent(PercentOf(amount, input_.measure().whole)), kShareWidth)
       << PadLeft(FormatMeasure(input_, amount), kAmountWidth) << "  ";
}

// Its greatest parts, as many as there is room for after `used` columns.
std::string HeadlineWriter::PartsOf(const Consumption& consumption, int used) const {
  const int width = input_.options.width;
  std::string parts;
  for (const Consumption::Part& part : consumption.parts) {
    const double share = PercentOf(part.amount, input_.measure().whole);
    const std::string text =
        StrCat(parts.empty() ? "" : ", ", Printable(part.name), " ", FormatPercent(share));
    if (share < kLeastPartShare || (width > 0 && used + DisplayWidth(parts + text) > width)) break;
    parts += text;
  }
  return parts;
}

void HeadlineWriter::WriteConsumer(Consumer consumer, std::string_view indent) {
  constexpr int kNameWidth = 20;
  const Consumption& used = headline_.consumers[static_cast<size_t>(consumer)];
  // Tables have them all.
  if (PercentOf(used.amount, input_.measure().whole) < kLeastShare) return;
  WriteAmount(used.amount);
  const std::string name = StrCat(indent, TextOf(consumer));
  std::string parts = Remark(consumer);
  if (parts.empty()) {
    parts =
        PartsOf(used, kShareWidth + kAmountWidth + 2 + std::max(kNameWidth, DisplayWidth(name)));
  }
  const int blanks = parts.empty() ? 0 : std::max(1, kNameWidth - DisplayWidth(name));
  out_ << name << std::string(static_cast<size_t>(blanks), ' ') << parts << '\n';
}

void HeadlineWriter::WriteConsumers() {
  const bool is_cpu = input_.measure().kind == Measure::Kind::kTicks;
  Title(StrCat("where the ", is_cpu ? "samples' time" : input_.measure().name,
               " went: ", FormatMeasure(input_, input_.measure().whole)));
  int64_t of_program = 0;
  for (size_t i = 0; i < kConsumers; ++i) {
    if (IsOfProgram(static_cast<Consumer>(i))) {
      of_program = WrapAdd(of_program, headline_.consumers[i].amount);
    }
  }
  const bool has_others = of_program != input_.measure().whole;
  if (has_others && of_program != 0) {
    WriteAmount(of_program);
    out_ << "program's threads\n";
  }
  for (size_t i = 0; i < kConsumers; ++i) {
    const auto consumer = static_cast<Consumer>(i);
    WriteConsumer(consumer, has_others && IsOfProgram(consumer) ? "  " : "");
  }
}

// Of the greatest states their share, and where the most of it was. Tables have them all: the
// methods belong in the first screen.
void HeadlineWriter::WriteRealTime() {
  constexpr int kStateWidth = 13;
  constexpr size_t kMostStates = 4;
  const std::vector<StateTime> states = RealTimeOfProgram(input_);
  int64_t whole = 0;
  for (const StateTime& state : states) whole = WrapAdd(whole, state.ticks);
  if (whole <= 0) return;
  const size_t shown = std::min(states.size(), kMostStates);
  Title(
      StrCat("real time of the program's threads: ", input_.units().Ticks(whole),
             shown == states.size() ? "" : StrCat(", ", shown, " of ", states.size(), " states")));
  for (const StateTime& state : absl::MakeConstSpan(states).first(shown)) {
    const std::string name(SampleStateName(state.state));
    const std::string blanks(static_cast<size_t>(std::max(1, kStateWidth - DisplayWidth(name))),
                             ' ');
    std::string where;
    if (!state.site.empty()) {
      where = StrCat(blanks, FormatPercent(PercentOf(state.of_site, whole)), " in ",
                     ShortMethod(state.site), state.on.empty() ? "" : " on ", state.on);
    }
    const int used = kShareWidth + kAmountWidth + 2;
    out_ << PadLeft(FormatPercent(PercentOf(state.ticks, whole)), kShareWidth)
         << PadLeft(input_.units().Ticks(state.ticks), kAmountWidth) << "  "
         << FitName(StrCat(name, where), input_.options.width, used) << '\n';
  }
}

void HeadlineWriter::WriteFindings() {
  if (!input_.options.root.empty()) return;  // some are about all records
  const std::vector<Found> found = FindAll(input_).found;
  if (found.empty()) return;
  const size_t shown = std::min(found.size(), kMostFindings);
  Title(found.size() == shown
            ? std::string("findings")
            : StrCat("findings, ", shown, " of ", found.size(), " (--report=findings)"));
  for (size_t i = 0; i < shown; ++i) WriteFinding(input_, found[i], out_);
}

// "→ Pattern.compile 70.1 %": what the method calls that has a good part of its time.
std::string HeadlineWriter::CalleeOf(const HeavyMethod& method) const {
  constexpr double kGoodPart = 20;  // percent
  const double of_callee = PercentOf(method.of_callee, method.own);
  if (!method.callee || of_callee < kGoodPart) return "";
  return StrCat(" → ", Printable(ShortMethod(input_.model.RoutineName(method.callee))), " ",
                FormatPercent(of_callee));
}

std::string HeadlineWriter::CallerText(RoutineId caller) const {
  return StrCat(" ← ", Printable(ShortMethod(input_.model.RoutineName(caller))));
}

// The method, its callee, and its callers as far as there is room. Its class and name are whole, if
// they fit at all: rather than they the caller, then the callee is left out.
std::string HeadlineWriter::PathOf(const HeavyMethod& method, int room) const {
  constexpr std::string_view kMore = " …";
  const std::string_view name = input_.model.RoutineName(method.routine);
  if (room == 0) room = 1000;
  const int least = DisplayWidth(Printable(ShortMethod(name)));
  std::string callee = CalleeOf(method);
  const int more = method.callers.empty() ? 0 : DisplayWidth(kMore);
  if (DisplayWidth(callee) + least + more > room) callee.clear();
  int rest = DisplayWidth(callee) + more;
  if (!method.callers.empty()) {
    const int caller = DisplayWidth(CallerText(method.callers.front()));
    if (least + rest + caller <= room) rest += caller;
  }
  std::string path = StrCat(ShortenName(name, std::max(room - rest, kLeastNameWidth)), callee);
  for (size_t i = 0; i < method.callers.size(); ++i) {
    const std::string next = CallerText(method.callers[i]);
    const bool is_last = i + 1 == method.callers.size();
    if (DisplayWidth(path) + DisplayWidth(next) > room - (is_last ? 0 : more)) {
      return path.append(kMore);
    }
    path += next;
  }
  return path;
}

template <typename AmountOf>
void HeadlineWriter::WriteMethods(std::string_view title, absl::Span<const HeavyMethod> methods,
                                  AmountOf amount_of, int64_t whole) {
  if (methods.empty()) return;
  Title(title);
  constexpr bool kHasAmount = !std::is_null_pointer_v<AmountOf>;
  const int used =
      (whole != 0 ? kShareWidth : 0) + (kHasAmount ? kAmountWidth : 0) + kCallsWidth + 2;
  for (const HeavyMethod& method : methods) {
    std::string line;
    if (whole != 0) line += PadLeft(FormatPercent(PercentOf(method.own, whole)), kShareWidth);
    if constexpr (kHasAmount) line += PadLeft(amount_of(method), kAmountWidth);
    line += PadLeft(method.calls == 0 ? "" : FormatCount(method.calls), kCallsWidth);
    const int width = input_.options.width;
    out_ << line << "  " << PathOf(method, width > 0 ? std::max(width - used, 40) : 0) << '\n';
  }
}

Table EmptyTable() {
  Table table;
  for (const std::string_view name : {"list", "name", "amount", "calls", "callers", "callee"}) {
    table.columns.push_back({std::string(name), Style::kPlain});
  }
  table.columns.push_back({"of_callee", Style::kPlain});
  return table;
}

void AddAmount(std::string_view list, std::string_view name, int64_t amount, Table& table) {
  table.rows.push_back({Cell::Text(list), Cell::Text(name), Cell::Int(amount), Cell::Empty(),
                        Cell::Empty(), Cell::Empty(), Cell::Empty()});
}

void AddMethods(const TraceModel& model, std::string_view list,
                const std::vector<HeavyMethod>& methods, Table& table) {
  for (const HeavyMethod& method : methods) {
    std::string callers;
    for (const RoutineId caller : method.callers) {
      StrAppend(&callers, callers.empty() ? "" : " < ", model.RoutineName(caller));
    }
    const bool has_callee = static_cast<bool>(method.callee);
    table.rows.push_back({Cell::Text(list), Cell::Text(model.RoutineName(method.routine)),
                          method.own == 0 ? Cell::Empty() : Cell::Int(method.own),
                          Cell::Int(method.calls), Cell::Text(callers),
                          has_callee ? Cell::Text(model.RoutineName(method.callee)) : Cell::Empty(),
                          has_callee ? Cell::Int(method.of_callee) : Cell::Empty()});
  }
}

// list: "where" and the consumer, "part" of the one before it, "estimate", "state" of the threads,
// with the method and the class that they mostly wait in and on, "heaviest", "called", "allocates".
Table HeadlineTable(const ReportInput& input) {
  constexpr size_t kMost = 20;
  Table table = EmptyTable();
  const Headline headline = MakeHeadline(input, kMost);
  for (size_t i = 0; i < kConsumers; ++i) {
    const Consumption& used = headline.consumers[i];
    if (used.amount == 0) continue;
    AddAmount("where", ConsumerName(static_cast<Consumer>(i)), used.amount, table);
    for (const Consumption::Part& part : used.parts) {
      AddAmount("part", part.name, part.amount, table);
    }
  }
  if (const int64_t estimate = EstimatedProbeCompilation(input); estimate > 0) {
    AddAmount("estimate", "jit.probes", estimate, table);
  }
  for (const StateTime& state : RealTimeOfProgram(input)) {
    table.rows.push_back({Cell::Text("state"), Cell::Text(SampleStateName(state.state)),
                          Cell::Int(state.ticks), Cell::Empty(), Cell::Text(state.site),
                          Cell::Text(state.on), Cell::Int(state.of_site)});
  }
  AddMethods(input.model, "heaviest", headline.heaviest, table);
  AddMethods(input.model, "called", headline.most_called, table);
  AddMethods(input.model, "allocates", headline.allocating, table);
  return table;
}

}  // namespace

void HeadlineText(const ReportInput& input, std::ostream& out) {
  HeadlineWriter(input, out).Write();
}

extern const Report kHeadlineReport = {
    .name = "headline",
    .group = ReportGroup::kRecording,
    .summary = "where the time went, and the program's methods that are heaviest and called most",
    .example = "jtrace-post --report=headline trace.bin",
    .accepts = kAcceptsOfTree,
    .table = HeadlineTable,
    .text = HeadlineText,
};

}  // namespace jtrace::postproc
