#include "postproc/cli/metrics_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace jtrace::control {
namespace {

using nlohmann::json;

// As the parser counts: of a value in the totals of a thread in the list of the object.
constexpr int kMostDepth = 4;
// Of all threads together. An agent counts about a hundred metrics.
constexpr size_t kMostValues = size_t{1} << 24;

const json& Member(const json& object, const char* key) {
  static const json kNothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? kNothing : *found;
}

std::string Text(const json& object, const char* key) {
  const json& member = Member(object, key);
  return member.is_string() ? member.get<std::string>() : std::string();
}

std::optional<int64_t> Number(const json& member) {
  return member.is_number_integer() ? std::optional(member.get<int64_t>()) : std::nullopt;
}

MetricsAnswer::Metric ReadMetric(const json& from) {
  return {.name = Text(from, "name"),
          .unit = Text(from, "unit"),
          .what = Text(from, "what"),
          .by_thread = Member(from, "by_thread") == true,
          .process = Number(Member(from, "process")).value_or(0),
          .ended = Number(Member(from, "ended"))};
}

std::vector<std::optional<int64_t>> ReadTotals(const json& from, const MetricsAnswer& answer) {
  const json& totals = Member(from, "totals");
  std::vector<std::optional<int64_t>> values;
  for (const MetricsAnswer::Metric& metric : answer.metrics) {
    values.push_back(Number(Member(totals, metric.name.c_str())));
  }
  return values;
}

MetricsAnswer::Thread ReadThread(const json& from, const MetricsAnswer& answer) {
  return {.name = Text(from, "name"),
          .java_tid = static_cast<uint64_t>(Number(Member(from, "java_tid")).value_or(0)),
          .os_tid = Number(Member(from, "os_tid")).value_or(0),
          .values = ReadTotals(from, answer)};
}

}  // namespace

absl::StatusOr<MetricsAnswer> ParseMetricsAnswer(std::string_view text) {
  bool is_too_deep = false;
  const auto keep = [&](int depth, json::parse_event_t, json&) {
    is_too_deep = is_too_deep || depth > kMostDepth;
    return !is_too_deep;
  };
  const json whole = json::parse(text, keep, /*allow_exceptions=*/false);
  if (is_too_deep || !whole.is_object()) {
    return absl::InvalidArgumentError("the agent's answer is not a JSON object");
  }
  MetricsAnswer answer;
  answer.pid = Number(Member(whole, "pid")).value_or(0);
  answer.ended_threads = static_cast<uint64_t>(Number(Member(whole, "ended_threads")).value_or(0));
  for (const json& metric : Member(whole, "metrics")) {
    answer.metrics.push_back(ReadMetric(metric));
  }
  const json& threads = Member(whole, "threads");
  if (threads.size() > kMostValues / std::max<size_t>(answer.metrics.size(), 1)) {
    return absl::InvalidArgumentError("the agent's answer claims too many threads or metrics");
  }
  for (const json& thread : threads) {
    answer.threads.push_back(ReadThread(thread, answer));
  }
  const json& more = Member(whole, "more");
  answer.more_threads = static_cast<uint64_t>(Number(Member(more, "threads")).value_or(0));
  answer.more = ReadTotals(more, answer);
  return answer;
}

}  // namespace jtrace::control
