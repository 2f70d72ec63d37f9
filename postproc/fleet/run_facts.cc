#include "postproc/fleet/run_facts.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "common/utf8.h"
#include "postproc/fleet/stable_ids.h"
#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc::fleet {
namespace {

// When the file began: a later one of loop= begins long after the recording.
std::optional<int64_t> StartOf(const TraceInfo& trace) {
  const std::optional<int64_t> session = NumberFact(trace, "unix_time_ns");
  if (!session.has_value()) return std::nullopt;
  return WrapAdd(*session, NumberFact(trace, "file_begin_ns").value_or(0));
}

// "org.acme.Main" of "org.acme.Main --port 80"; "shop.jar" of "/srv/shop.jar".
std::string ProgramOf(std::string_view command) {
  const std::string_view first = command.substr(0, command.find(' '));
  return std::string(first.substr(first.rfind('/') + 1));
}

std::string DayOf(std::optional<int64_t> start_ns) {
  const absl::Time time = absl::FromUnixNanos(start_ns.value_or(0));
  const absl::CivilDay day = absl::ToCivilDay(time, absl::UTCTimeZone());
  return absl::StrFormat("%04d-%02d-%02d", day.year(), day.month(), day.day());
}

// As a folder's name: far below the longest that file systems have.
std::string PathPart(std::string_view value) {
  constexpr size_t kLongest = 80;
  const std::string text = ValidUtf8(value);
  size_t end = std::min(text.size(), kLongest);
  const auto is_inside = [&](size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (is_inside(end)) --end;
  std::string part;
  for (const char c : text.substr(0, end)) {
    const bool is_plain = absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
    if (is_plain) {
      part += c;
    } else {
      part += absl::StrFormat("%%%02X", static_cast<unsigned char>(c));
    }
  }
  return part.empty() ? "unknown" : part;
}

}  // namespace

std::optional<int64_t> NumberFact(const TraceInfo& trace, std::string_view key) {
  int64_t number = 0;
  if (!ParseInteger(trace.Fact(key), number)) return std::nullopt;
  return number;
}

std::string Partition::Folder() const {
  return StrCat("service=", PathPart(service), "/day=", PathPart(day), "/host=", PathPart(host));
}

std::optional<int64_t> RunFacts::Nanoseconds(int64_t time) const {
  if (ns_per_unit == 0) return std::nullopt;
  return static_cast<int64_t>(static_cast<uint64_t>(time) * static_cast<uint64_t>(ns_per_unit));
}

RunFacts FactsOf(const ReportInput& input, const Labels& labels) {
  const TraceInfo& trace = input.model.traces().front();
  RunFacts facts;
  facts.trace = std::filesystem::path(trace.file).filename().string();
  facts.pid = NumberFact(trace, "pid");
  facts.start_ns = StartOf(trace);
  if (trace.interval_ns != 0) facts.interval_ns = trace.interval_ns;
  facts.ns_per_unit = NanosecondsPer(input.model.unit());
  facts.duration_ns = facts.Nanoseconds(WrapSub(input.last_time, input.first_time));
  const std::string host(trace.Fact("host"));
  const bool is_known = facts.pid.has_value() && facts.start_ns.has_value();
  facts.id = is_known ? StableId(StrCat(host, "\n", *facts.pid, "\n", *facts.start_ns))
                      : StableId(facts.trace);
  const std::string program = ProgramOf(trace.Fact("command"));
  facts.partition.service = !labels.service.empty() ? labels.service
                            : !program.empty()      ? program
                                                    : "unknown";
  facts.partition.day = DayOf(facts.start_ns);
  facts.partition.host = !labels.host.empty() ? labels.host : !host.empty() ? host : "unknown";
  return facts;
}

}  // namespace jtrace::postproc::fleet
