#include "postproc/export/run_identity.h"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <filesystem>

#include "common/utf8.h"
#include "postproc/support/percent.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Of jtrace's profiles; any number that nobody else has.
constexpr boost::uuids::uuid kNamespace = {{0x6a, 0x74, 0x72, 0x61, 0x63, 0x65, 0x50, 0x05, 0x80,
                                            0x01, 0x70, 0x72, 0x6f, 0x66, 0x69, 0x6c}};

std::string NameOf(const TraceInfo& trace) {
  const std::string_view pid = trace.Fact("pid");
  const std::string_view start = trace.Fact("unix_time_ns");
  if (pid.empty() || start.empty()) return std::filesystem::path(trace.file).filename().string();
  return StrCat(trace.Fact("host"), "\n", pid, "\n", start, "\n", trace.Fact("file_begin_ns"));
}

// "org.acme.Main" of "org.acme.Main --port 80"; "shop.jar" of "/srv/shop.jar".
std::string_view ProgramOf(std::string_view command) {
  const std::string_view first = command.substr(0, command.find(' '));
  return first.substr(first.rfind('/') + 1);
}

// Pyroscope's names have no escapes. A long value is cut: the line for `jtrace ship` that has it
// must fit into what that keeps of a program's output.
std::string IngestLabel(const ReportInput& input, std::string_view key) {
  constexpr size_t kMaxBytes = 1024;
  std::string part = ValidUtf8(LabelOf(input, key).substr(0, kMaxBytes));
  for (char& c : part) {
    if (std::string_view("{}=,\"").find(c) != std::string_view::npos) c = '_';
  }
  return part;
}

}  // namespace

std::string LabelOf(const ReportInput& input, std::string_view key) {
  for (const auto& [given, value] : input.options.labels) {
    if (given == key) return ValidUtf8(value);
  }
  const TraceInfo& trace = input.model.traces().front();
  if (key == "host") return ValidUtf8(trace.Fact("host"));
  if (key == "service") return ValidUtf8(ProgramOf(trace.Fact("command")));
  return "";
}

boost::uuids::uuid ProfileId(const ReportInput& input, std::string_view measure) {
  std::string name(measure);
  for (const TraceInfo& trace : input.model.traces()) name += StrCat("\n\n", NameOf(trace));
  return boost::uuids::name_generator_sha1(kNamespace)(name);
}

std::string IngestQuery(const ReportInput& input, int64_t start_ns, int64_t duration_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  const std::string service = IngestLabel(input, "service");
  std::string labels;
  for (const std::string_view key : {"host", "version", "container"}) {
    const std::string value = IngestLabel(input, key);
    if (!value.empty()) StrAppend(&labels, labels.empty() ? "" : ",", key, "=", value);
  }
  const int64_t from = start_ns / kSecond;
  const int64_t until = std::max(WrapAdd(start_ns, duration_ns) / kSecond, from + 1);
  return StrCat(
      "name=", EncodePercents(StrCat(service.empty() ? "java" : service, "{", labels, "}")),
      "&from=", from, "&until=", until, "&format=pprof&spyName=jtrace");
}

}  // namespace jtrace::postproc
