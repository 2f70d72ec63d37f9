// Callgrind's profile format, version 1: functions with their own costs, and arcs between them with
// calls and inclusive costs.
//
// A function is a routine at one recursion level (f, f'2, f'3 …, as with valgrind's
// --separate-recs): no activation is inside another one of the same function, so that sums of
// inclusive costs count nothing twice. With sites=on an arc is from one line of its caller.
#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/export/export_frames.h"
#include "postproc/export/export_tree.h"
#include "postproc/export/export_unit.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::postproc {
namespace {

using Costs = std::vector<int64_t>;  // by event

void Add(Costs& sum, const Costs& costs) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = WrapAdd(sum[i], costs[i]);
}

struct Function {
  uint32_t frame = 0;
  uint32_t level = 1;
  Costs self;
};

struct FunctionArc {
  uint32_t caller = 0;
  uint32_t callee = 0;
  uint32_t line = 0;  // of the caller; 0: unknown
  int64_t calls = 0;
  Costs inclusive;
};

struct Event {
  std::string name;
  const Measure* measure = nullptr;

  explicit Event(const Measure& it) : name(it.name), measure(&it) {
    // Names are in a list separated by spaces.
    for (char& c : name) {
      if (static_cast<unsigned char>(c) <= ' ' || c == ':' || c == '=') c = '_';
    }
  }
};

// Numbers for names: "(3) name" the first time, "(3)" from then on.
class NameTable {
 public:
  std::string Refer(std::string_view name) {
    const auto [entry, inserted] = numbers_.try_emplace(std::string(name), numbers_.size() + 1);
    return inserted ? StrCat("(", entry->second, ") ", name) : StrCat("(", entry->second, ")");
  }

 private:
  StringMap<size_t> numbers_;
};

class CallgrindWriter {
 public:
  CallgrindWriter(const ReportInput& input, std::ostream& out)
      : input_(input), tree_(input), frames_(input), out_(out) {
    ChooseEvents();
    for (const NodeId id : tree_.nodes()) AddNode(id);
    std::sort(arcs_.begin(), arcs_.end(), [](const FunctionArc& a, const FunctionArc& b) {
      return std::tie(a.caller, a.callee, a.line) < std::tie(b.caller, b.callee, b.line);
    });
  }

  void Write() {
    WriteHeader();
    auto arc = arcs_.begin();
    for (uint32_t i = 0; i < functions_.size(); ++i) {
      const Function& it = functions_[i];
      out_ << '\n';
      WriteName("", it);
      WriteCosts("0", it.self);
      for (; arc != arcs_.end() && arc->caller == i; ++arc) {
        WriteName("c", functions_[arc->callee]);
        // Readers treat the costs of an arc with 0 calls as the caller's own.
        out_ << "calls=" << std::max<int64_t>(arc->calls, 1) << " 0\n";
        WriteCosts(StrCat(arc->line), arc->inclusive);
      }
    }
    out_ << '\n';
    WriteCosts("totals:", totals_);
  }

 private:
  // The primary measure first: readers sort by the first. Readers support no negative numbers.
  void ChooseEvents() {
    const auto add = [&](const Measure& measure) {
      Event event(measure);
      if (measure.has_negative) {
        left_out_.push_back(event.name);
      } else {
        events_.push_back(std::move(event));
      }
    };
    add(tree_.primary());
    for (const Measure& measure : tree_.measures()) {
      if (&measure != &tree_.primary()) add(measure);
    }
    totals_.resize(events_.size());
  }

  void AddNode(NodeId id) {
    const CallNode& node = input_.tree.node(id);
    Costs self;
    Costs inclusive;
    for (const Event& event : events_) {
      self.push_back(event.measure->Base(id));
      inclusive.push_back(event.measure->Cum(id));
    }
    const uint32_t function = FunctionOf(id);
    Add(functions_[function].self, self);
    path_.resize(node.level);
    if (path_.empty()) {
      Add(totals_, inclusive);
    } else {
      FunctionArc& arc = ArcOf(path_.back(), function, node.place);
      arc.calls = WrapAdd(arc.calls, node.calls);
      Add(arc.inclusive, inclusive);
    }
    path_.push_back(function);
  }

  uint32_t FunctionOf(NodeId id) {
    const uint32_t frame = frames_.Of(input_.tree.node(id));
    const uint32_t level = input_.totals()[id.value - 1].recursion_level;
    const auto next = static_cast<uint32_t>(functions_.size());
    const auto [entry, inserted] = function_of_.try_emplace({frame, level}, next);
    if (inserted) functions_.push_back({frame, level, Costs(events_.size())});
    return entry->second;
  }

  // The format has lines, but no bytecode indexes.
  FunctionArc& ArcOf(uint32_t caller, uint32_t callee, CallSite place) {
    const uint32_t line = IsLine(place) ? NumberInCallSite(place) : 0;
    const auto [entry, inserted] = arc_of_.try_emplace({caller, callee, line}, arcs_.size());
    if (inserted) arcs_.push_back({caller, callee, line, 0, Costs(events_.size())});
    return arcs_[entry->second];
  }

  void WriteHeader() {
    const TraceInfo& trace = input_.model.traces().front();
    out_ << "# callgrind format\nversion: 1\ncreator: jtrace-post " << kVersion << '\n';
    if (const std::string_view pid = trace.Fact("pid"); !pid.empty())
      out_ << "pid: " << pid << '\n';
    if (const std::string_view command = trace.Fact("command"); !command.empty()) {
      out_ << "cmd: " << OneLine(command) << '\n';
    }
    for (const Event& event : events_) {
      const ExportUnit unit = UnitOf(*event.measure, input_.model);
      out_ << "desc: Unit: " << event.name << " in " << unit.name;
      if (unit.name == "ticks" && unit.ns != 0) out_ << " of " << unit.ns << " ns";
      out_ << '\n';
    }
    for (const std::string& name : left_out_) {
      out_ << "desc: Left out: " << name << ", which has negative values\n";
    }
    out_ << "positions: line\nevents:";
    for (const Event& event : events_) out_ << ' ' << event.name;
    out_ << '\n';
    WriteCosts("summary:", totals_);
  }

  // `prefix` "c" names a callee.
  void WriteName(std::string_view prefix, const Function& function) {
    const ExportFrame& frame = frames_.frames()[function.frame];
    std::string name = OneLine(frame.name);
    if (function.level > 1) StrAppend(&name, "'", function.level);
    // Functions are distinguished by text: threads of one name in two traces are one here.
    out_ << prefix << "ob=" << objects_.Refer(OneLine(frame.module)) << '\n'
         << prefix << (prefix.empty() ? "fl=" : "fi=") << files_.Refer(OneLine(frame.source))
         << '\n'
         << prefix << "fn=" << names_.Refer(name) << '\n';
  }

  void WriteCosts(std::string_view head, const Costs& costs) {
    out_ << head;
    for (const int64_t cost : costs) out_ << ' ' << cost;
    out_ << '\n';
  }

  static std::string OneLine(std::string_view text) {
    std::string line(text);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return line;
  }

  const ReportInput& input_;
  const ExportTree tree_;
  const ExportFrames frames_;
  std::ostream& out_;
  std::vector<Event> events_;
  std::vector<std::string> left_out_;
  Costs totals_;
  std::vector<Function> functions_;
  std::vector<FunctionArc> arcs_;
  std::vector<uint32_t> path_;  // functions of the current path, by level
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> function_of_;      // frame and level
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, size_t> arc_of_;  // by FunctionArc
  NameTable objects_;
  NameTable files_;
  NameTable names_;
};

void WriteCallgrind(const ReportInput& input, std::ostream& out) {
  CallgrindWriter(input, out).Write();
}

}  // namespace

extern const Report kCallgrindReport = {
    .name = "callgrind",
    .group = ReportGroup::kTools,
    .summary = "profile for KCachegrind and callgrind_annotate, with exact calls of each arc",
    .example = "jtrace-post --report=callgrind -o callgrind.out trace.bin",
    .accepts = kAcceptsOfTree | kAcceptsSites,
    .document = WriteCallgrind,
};

}  // namespace jtrace::postproc
