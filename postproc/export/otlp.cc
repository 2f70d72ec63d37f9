// OpenTelemetry's profiles (otlp.proto): one for each measure, with the tables that they share. The
// bytes are those of a request to a collector, too.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "common/utf8.h"
#include "otlp.pb.h"
#include "postproc/export/export_frames.h"
#include "postproc/export/export_tree.h"
#include "postproc/export/export_unit.h"
#include "postproc/export/run_identity.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::postproc {
namespace {

// Frames of stacks that are converted to bytes at once: some MB as objects, however deep stacks
// are.
constexpr size_t kStackFramesAtOnce = 1 << 17;

// Numbers of fields of the messages that are written as their parts.
constexpr int kResourceProfiles = 1;  // of ProfilesData
constexpr int kDictionary = 2;
constexpr int kResource = 1;  // of ResourceProfiles
constexpr int kScopeProfiles = 2;
constexpr int kScope = 1;  // of ScopeProfiles
constexpr int kProfiles = 2;

void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// A field with a message that is bytes already.
void AppendMessage(std::string& out, int field, std::string_view bytes) {
  constexpr int kLengthDelimited = 2;
  AppendVarint(out, static_cast<uint64_t>(field << 3 | kLengthDelimited));
  AppendVarint(out, bytes.size());
  out += bytes;
}

// All measures; tools show the first profile by default: the primary measure, as a time if it can
// be one.
std::vector<SampleType> PrimaryFirst(const ExportTree& tree, const TraceModel& model) {
  std::vector<SampleType> types = SampleTypes(tree, model);
  const auto shown = std::find_if(types.rbegin(), types.rend(), [&](const SampleType& type) {
    return type.measure == &tree.primary();
  });
  if (shown != types.rend()) std::rotate(types.begin(), shown.base() - 1, shown.base());
  return types;
}

// Of attributes that every sample has.
constexpr std::string_view kOtlpKeys[] = {"thread.name", "thread.id"};

class OtlpWriter {
 public:
  OtlpWriter(const ReportInput& input, std::ostream& out)
      : input_(input),
        tree_(input, StacksOf::kAll, BytesOfLocation),
        frames_(input),
        placed_(input, frames_),
        parts_(input, tree_),
        out_(out),
        types_(PrimaryFirst(tree_, input.model)),
        profiles_(types_.size()) {}

  void Write() {
    WriteNothings();
    WriteHeads();
    WriteSamples();
    WriteFrames();
    for (const std::string& text : texts_.texts()) {
      if (!text.empty()) dictionary_.add_string_table(ValidUtf8(text));
    }
    Flush();
    std::string scope_profiles;
    otlp::InstrumentationScope scope;
    scope.set_name("jtrace");
    scope.set_version(std::string(kVersion));
    AppendMessage(scope_profiles, kScope, scope.SerializeAsString());
    for (const std::string& profile : profiles_) AppendMessage(scope_profiles, kProfiles, profile);
    std::string resource_profiles;
    AppendMessage(resource_profiles, kResource, MakeResource().SerializeAsString());
    AppendMessage(resource_profiles, kScopeProfiles, scope_profiles);
    std::string data;
    AppendMessage(data, kResourceProfiles, resource_profiles);
    AppendMessage(data, kDictionary, tables_);
    out_ << data;
  }

 private:
  // Repeated fields may be written in parts: a reader joins them.
  void Flush() {
    dictionary_.AppendToString(&tables_);
    dictionary_.Clear();
  }

  int32_t Text(std::string_view text) { return static_cast<int32_t>(texts_.Number(text)); }

  // The first entry of each table.
  void WriteNothings() {
    dictionary_.add_mapping_table();
    dictionary_.add_location_table();
    dictionary_.add_function_table();
    otlp::Link& link = *dictionary_.add_link_table();
    link.set_trace_id(std::string(16, '\0'));
    link.set_span_id(std::string(8, '\0'));
    dictionary_.add_string_table("");
    dictionary_.add_attribute_table();
    dictionary_.add_stack_table();
  }

  void SetType(otlp::ValueType& to, std::string_view type, std::string_view unit) {
    to.set_type_strindex(Text(type));
    to.set_unit_strindex(Text(unit));
  }

  void WriteHeads() {
    int64_t started = 0;
    if (!ParseInteger(input_.model.traces().front().Fact("unix_time_ns"), started)) started = 0;
    const int64_t unit = NanosecondsPer(input_.model.unit());
    for (size_t i = 0; i < types_.size(); ++i) {
      const SampleType& type = types_[i];
      otlp::Profile head;
      SetType(*head.mutable_sample_type(), type.type, type.unit);
      const boost::uuids::uuid id = ProfileId(input_, StrCat(type.type, " ", type.unit));
      head.set_profile_id(std::string(id.begin(), id.end()));
      head.set_time_unix_nano(
          static_cast<uint64_t>(WrapAdd(started, WrapMultiply(input_.first_time, unit))));
      head.set_duration_nano(
          static_cast<uint64_t>(WrapMultiply(WrapSub(input_.last_time, input_.first_time), unit)));
      const int64_t interval = input_.model.interval_ns();
      if (type.measure->kind == Measure::Kind::kTicks && interval != 0) {
        SetType(*head.mutable_period_type(), TickType(input_.model), "nanoseconds");
        head.set_period(interval);
      }
      profiles_[i] = head.SerializeAsString();
    }
  }

  void WriteSamples() {
    std::vector<int32_t> path;  // locations of the current path, by level
    int32_t stack = 0;
    size_t frames = 0;  // of the stacks that are still objects
    for (const NodeId id : tree_.nodes()) {
      const CallNode& node = input_.tree.node(id);
      if (node.level == 0) SetThread(input_.model.thread(node.thread));
      // The thread is an attribute. Only values outside of all methods have its frame.
      path.resize(node.level);
      if (node.level > 0) path.back() = LocationOf(input_.tree.node(node.parent), node.place);
      path.push_back(LocationOf(node, kNoCallSite));
      bool any = false;
      for (const NodePart& part : parts_.PartsOf(id)) any |= AppendValues(id, part, stack + 1);
      if (!any) continue;
      ++stack;
      otlp::Stack& added = *dictionary_.add_stack_table();
      for (size_t i = path.size(); i-- > (node.level == 0 ? 0U : 1U);) {
        added.add_location_indices(path[i]);
      }
      frames += path.size() + 1;
      if (frames < kStackFramesAtOnce) continue;
      Flush();
      frames = 0;
    }
  }

  // A sample in each profile in which that part of the node has a value; false: it has none.
  bool AppendValues(NodeId id, const NodePart& part, int32_t stack) {
    constexpr int kSamples = 2;
    bool any = false;
    for (size_t i = 0; i < types_.size(); ++i) {
      const int64_t value = part.Base(*types_[i].measure, id);
      if (value == 0) continue;
      any = true;
      otlp::Sample sample;
      sample.set_stack_index(stack);
      for (const int32_t attribute : thread_) sample.add_attribute_indices(attribute);
      if (part.labels) {
        for (const int32_t each : AttributesOf(part.labels)) sample.add_attribute_indices(each);
      }
      sample.add_values(WrapMultiply(value, types_[i].factor));
      AppendMessage(profiles_[i], kSamples, sample.SerializeAsString());
    }
    return any;
  }

  int32_t LocationOf(const CallNode& node, CallSite place) const {
    const uint32_t frame = placed_.Of(frames_.Of(node), IsLine(place) ? place : kNoCallSite);
    return static_cast<int32_t>(frame + 1);
  }

  // Its number is added to `numbers`.
  otlp::AnyValue& AddAttribute(std::string_view key, std::vector<int32_t>& numbers) {
    otlp::KeyValueAndUnit& attribute = *dictionary_.add_attribute_table();
    attribute.set_key_strindex(Text(key));
    numbers.push_back(++attributes_);
    return *attribute.mutable_value();
  }

  const std::vector<int32_t>& AttributesOf(LabelsId labels) {
    const auto [known, is_new] = labels_.try_emplace(labels);
    if (is_new) {
      for (const auto& [key, value] : input_.model.labels(labels)) {
        AddAttribute(ExportedKey(key, kOtlpKeys), known->second).set_string_value(value);
      }
    }
    return known->second;
  }

  // Names of attributes are those of OpenTelemetry's conventions.
  void SetThread(const ThreadInfo& thread) {
    thread_.clear();
    AddAttribute("thread.name", thread_).set_string_value(ValidUtf8(thread.name));
    if (thread.tid != 0) AddAttribute("thread.id", thread_).set_int_value(thread.tid);
  }

  otlp::Resource MakeResource() const {
    otlp::Resource resource;
    const TraceInfo& trace = input_.model.traces().front();
    const auto add = [&](std::string_view key) -> otlp::AnyValue& {
      otlp::KeyValue& attribute = *resource.add_attributes();
      attribute.set_key(std::string(key));
      return *attribute.mutable_value();
    };
    constexpr std::pair<std::string_view, std::string_view> kFacts[] = {
        {"command", "process.command_line"}, {"jvm", "process.runtime.description"}};
    for (const auto& [fact, key] : kFacts) {
      const std::string_view value = trace.Fact(fact);
      if (!value.empty()) add(key).set_string_value(ValidUtf8(value));
    }
    constexpr std::pair<std::string_view, std::string_view> kLabels[] = {
        {"service", "service.name"},
        {"version", "service.version"},
        {"host", "host.name"},
        {"container", "container.name"}};
    for (const auto& [label, key] : kLabels) {
      const std::string value = LabelOf(input_, label);
      if (!value.empty()) add(key).set_string_value(value);
    }
    int64_t pid = 0;
    if (ParseInteger(trace.Fact("pid"), pid)) add("process.pid").set_int_value(pid);
    return resource;
  }

  // A function for each frame, a location for each of its lines that call, a mapping for each
  // module.
  void WriteFrames() {
    StringMap<int32_t> mappings;
    for (const PlacedFrame& placed : placed_.all()) {
      const ExportFrame& frame = frames_.frames()[placed.frame];
      const auto [mapping, inserted] =
          mappings.try_emplace(frame.module, static_cast<int32_t>(mappings.size() + 1));
      if (inserted) dictionary_.add_mapping_table()->set_filename_strindex(Text(frame.module));
      if (placed.place == kNoCallSite) {
        otlp::Function& function = *dictionary_.add_function_table();
        function.set_name_strindex(Text(frame.name));
        function.set_filename_strindex(Text(frame.source));
      }
      // Numbers of locations are those of all placed frames, also of those that no stack has.
      otlp::Location& location = *dictionary_.add_location_table();
      location.set_mapping_index(mapping->second);
      otlp::Line& line = *location.add_lines();
      line.set_function_index(static_cast<int32_t>(placed.frame + 1));
      if (IsLine(placed.place)) line.set_line(NumberInCallSite(placed.place));
    }
  }

  const ReportInput& input_;
  const ExportTree tree_;
  const ExportFrames frames_;
  const PlacedFrames placed_;
  LabelledTicks parts_;
  std::ostream& out_;
  const std::vector<SampleType> types_;
  std::vector<std::string> profiles_;    // bytes, by type
  otlp::ProfilesDictionary dictionary_;  // the part that is not in `tables_` yet
  std::string tables_;                   // bytes
  NumberedTexts texts_;
  int32_t attributes_ = 0;                                  // in the table, but for the first
  std::vector<int32_t> thread_;                             // attributes of the current thread
  absl::btree_map<LabelsId, std::vector<int32_t>> labels_;  // attributes of label sets
};

void WriteOtlp(const ReportInput& input, std::ostream& out) { OtlpWriter(input, out).Write(); }

}  // namespace

extern const Report kOtlpReport = {
    .name = "otlp",
    .group = ReportGroup::kTools,
    .summary = "OpenTelemetry's profiles, as a collector receives them, with all metrics",
    .example = "jtrace-post --report=otlp -o profiles.pb trace.bin",
    .accepts = kAcceptsOfTree | kAcceptsSites | kAcceptsLabel,
    .document = WriteOtlp,
};

}  // namespace jtrace::postproc
