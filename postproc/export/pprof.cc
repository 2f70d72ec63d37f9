// pprof's profile: a gzipped protobuf message (profile.proto). A sample for each node that has a
// self value, with every measure as a sample type.
#include <boost/uuid/uuid_io.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/utf8.h"
#include "postproc/export/export_frames.h"
#include "postproc/export/export_tree.h"
#include "postproc/export/export_unit.h"
#include "postproc/export/gzip_stream.h"
#include "postproc/export/run_identity.h"
#include "postproc/report/report.h"
#include "postproc/support/exit_codes.h"
#include "postproc/support/strings.h"
#include "profile.pb.h"

namespace jtrace::postproc {
namespace {

// The number of frames that are converted to bytes at once: some MB as objects, however deep stacks
// are.
// Of labels that every sample has.
constexpr std::string_view kPprofKeys[] = {"thread", "tid", "pid", "host"};
constexpr size_t kFramesAtOnce = 1 << 17;

class PprofWriter {
 public:
  PprofWriter(const ReportInput& input, std::ostream& out)
      : input_(input),
        tree_(input, StacksOf::kAll, BytesOfLocation),
        frames_(input),
        placed_(input, frames_),
        parts_(input, tree_),
        gzip_(out) {}

  void Write() {
    WriteHead();
    WriteSamples();
    WriteFrames();
    for (const std::string& text : texts_.texts()) profile_.add_string_table(ValidUtf8(text));
    Flush();
    gzip_.Finish();
  }

 private:
  // Repeated fields may be written in parts: a reader joins them.
  void Flush() {
    bytes_.clear();
    profile_.AppendToString(&bytes_);
    gzip_.Write(bytes_);
    profile_.Clear();
  }

  const TraceInfo& TraceOf(const ThreadInfo& thread) const {
    return input_.model.traces()[thread.trace];
  }

  void SetType(pprof::ValueType& to, const SampleType& type) {
    to.set_type(texts_.Number(type.type));
    to.set_unit(texts_.Number(type.unit));
  }

  void WriteHead() {
    types_ = SampleTypes(tree_, input_.model);
    // The last sample type of the primary measure: a time, if there is one.
    for (const SampleType& type : types_) {
      SetType(*profile_.add_sample_type(), type);
      if (type.measure != &tree_.primary()) continue;
      profile_.set_default_sample_type(texts_.Number(type.type));
    }
    if (const int64_t interval = input_.model.interval_ns(); interval != 0) {
      SetType(*profile_.mutable_period_type(),
              {std::string(TickType(input_.model)), "nanoseconds"});
      profile_.set_period(interval);
    }
    const TraceInfo& trace = input_.model.traces().front();
    int64_t started = 0;
    int64_t file_begin = 0;
    if (!ParseInteger(trace.Fact("file_begin_ns"), file_begin)) file_begin = 0;
    if (ParseInteger(trace.Fact("unix_time_ns"), started)) {
      profile_.set_time_nanos(WrapAdd(started, file_begin));
    }
    profile_.set_duration_nanos(WrapMultiply(WrapSub(input_.last_time, input_.first_time),
                                             NanosecondsPer(input_.model.unit())));
    for (const std::string_view key : {"command", "jvm", "mode"}) {
      const std::string_view fact = trace.Fact(key);
      if (!fact.empty()) profile_.add_comment(texts_.Number(StrCat(key, ": ", fact)));
    }
    for (const std::string_view key : {"service", "version", "host", "container"}) {
      const std::string label = LabelOf(input_, key);
      if (!label.empty()) profile_.add_comment(texts_.Number(StrCat(key, ": ", label)));
    }
    const std::string id = boost::uuids::to_string(ProfileId(input_, "pprof"));
    profile_.add_comment(texts_.Number(StrCat("profile id: ", id)));
    if (input_.notes != nullptr && IsRunByShip()) {
      input_.notes->push_back(
          StrCat(kProfileNote, id, " ",
                 IngestQuery(input_, profile_.time_nanos(), profile_.duration_nanos())));
    }
    Flush();
  }

  void WriteSamples() {
    std::vector<uint64_t> path;  // locations of the current path, by level
    size_t frames = 0;           // of the samples that are still objects
    for (const NodeId id : tree_.nodes()) {
      const CallNode& node = input_.tree.node(id);
      if (node.level == 0) SetLabels(input_.model.thread(node.thread));
      // The thread is a label. Only values outside of all methods have its frame.
      path.resize(node.level);
      if (node.level > 0) path.back() = LocationOf(input_.tree.node(node.parent), node.place);
      path.push_back(LocationOf(node, kNoCallSite));
      const auto locations = absl::MakeConstSpan(path).subspan(node.level == 0 ? 0 : 1);
      for (const NodePart& part : parts_.PartsOf(id)) {
        if (AddSample(id, part, locations)) frames += path.size() + 1;
      }
      if (frames < kFramesAtOnce) continue;
      Flush();
      frames = 0;
    }
    Flush();
  }

  // False: that part of the node has no value. `locations`: the outermost first.
  bool AddSample(NodeId id, const NodePart& part, absl::Span<const uint64_t> locations) {
    pprof::Sample sample;
    bool any = false;
    for (const SampleType& type : types_) {
      const int64_t value = part.Base(*type.measure, id);
      any |= value != 0;
      sample.add_value(WrapMultiply(value, type.factor));
    }
    if (!any) return false;
    for (size_t i = locations.size(); i-- > 0;) sample.add_location_id(locations[i]);
    for (const pprof::Label& label : labels_) *sample.add_label() = label;
    if (part.labels) {
      for (const auto& [key, value] : input_.model.labels(part.labels)) {
        pprof::Label& label = *sample.add_label();
        label.set_key(texts_.Number(ExportedKey(key, kPprofKeys)));
        label.set_str(texts_.Number(value));
      }
    }
    *profile_.add_sample() = std::move(sample);
    return true;
  }

  // A location has a line, but no bytecode index.
  uint64_t LocationOf(const CallNode& node, CallSite place) const {
    return placed_.Of(frames_.Of(node), IsLine(place) ? place : kNoCallSite) + uint64_t{1};
  }

  void SetLabels(const ThreadInfo& thread) {
    labels_.clear();
    const auto add = [&](std::string_view key) -> pprof::Label& {
      labels_.emplace_back().set_key(texts_.Number(key));
      return labels_.back();
    };
    add("thread").set_str(texts_.Number(thread.name));
    if (thread.tid != 0) add("tid").set_num(thread.tid);
    const TraceInfo& trace = TraceOf(thread);
    int64_t pid = 0;
    if (ParseInteger(trace.Fact("pid"), pid)) add("pid").set_num(pid);
    if (!trace.Fact("host").empty()) add("host").set_str(texts_.Number(trace.Fact("host")));
  }

  // A function for each frame, a location for each of its lines that call, a mapping for each
  // module.
  void WriteFrames() {
    StringMap<uint64_t> mappings;
    uint64_t id = 0;
    for (const PlacedFrame& placed : placed_.all()) {
      ++id;
      if (placed.place != kNoCallSite && !IsLine(placed.place)) continue;
      const ExportFrame& frame = frames_.frames()[placed.frame];
      const auto [mapping, inserted] = mappings.try_emplace(frame.module, mappings.size() + 1);
      if (inserted) {
        pprof::Mapping& added = *profile_.add_mapping();
        added.set_id(mapping->second);
        added.set_filename(texts_.Number(frame.module));
        added.set_has_functions(true);
        added.set_has_line_numbers(input_.tree.has_places());
      }
      if (placed.place == kNoCallSite) {
        pprof::Function& function = *profile_.add_function();
        function.set_id(id);
        function.set_name(texts_.Number(frame.name));
        function.set_system_name(function.name());
        function.set_filename(texts_.Number(frame.source));
      }
      pprof::Location& location = *profile_.add_location();
      location.set_id(id);
      location.set_mapping_id(mapping->second);
      pprof::Line& line = *location.add_line();
      line.set_function_id(placed.frame + uint64_t{1});
      if (IsLine(placed.place)) line.set_line(NumberInCallSite(placed.place));
    }
  }

  const ReportInput& input_;
  const ExportTree tree_;
  const ExportFrames frames_;
  const PlacedFrames placed_;
  LabelledTicks parts_;
  GzipStream gzip_;
  NumberedTexts texts_;
  std::vector<SampleType> types_;
  std::vector<pprof::Label> labels_;  // of the current thread
  pprof::Profile profile_;
  std::string bytes_;
};

void WritePprof(const ReportInput& input, std::ostream& out) { PprofWriter(input, out).Write(); }

}  // namespace

extern const Report kPprofReport = {
    .name = "pprof",
    .group = ReportGroup::kTools,
    .summary = "profile for pprof, Pyroscope and similar tools, with all metrics",
    .example = "jtrace-post --report=pprof -o profile.pb.gz trace.bin",
    .accepts = kAcceptsOfTree | kAcceptsSites | kAcceptsLabel,
    .document = WritePprof,
};

}  // namespace jtrace::postproc
