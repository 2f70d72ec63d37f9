// Threads that wait for monitors that others hold: from the records of their ends, from the metric,
// or from samples in real time, whichever there is first.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "postproc/findings/rules.h"
#include "postproc/findings/words.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr double kLeastWaitShare = 5;  // percent of the recording's time, or of sampled real time
constexpr int64_t kLeastWaitNs = 50'000'000;
constexpr int64_t kLeastWaitTicks = 50;
constexpr int64_t kLeastWaits = 10;  // where they are counted
constexpr size_t kMostMonitors = 3;

constexpr std::string_view kShorterBlocks =
    "shorten the synchronized block, divide the lock, or use a class of java.util.concurrent";

// Waits of one place for monitors of one class.
struct MonitorWaits {
  int64_t amount = 0;  // nanoseconds or ticks
  int64_t waits = 0;   // 0: not counted
  std::string on;      // the class; "": unknown
  std::string at;      // the routine that waited; "": unknown
};

struct WaitsFound {
  std::vector<MonitorWaits> waits;
  int64_t whole = 0;       // of what the amounts are shares
  bool are_ticks = false;  // else nanoseconds
  std::string report;      // that shows more
};

using WaitsByPlace = absl::btree_map<std::pair<std::string, std::string>, MonitorWaits>;

MonitorWaits& Place(WaitsByPlace& places, std::string_view on, std::string_view at) {
  MonitorWaits& place = places[{std::string(on), std::string(at)}];
  place.on = on;
  place.at = at;
  return place;
}

std::vector<MonitorWaits> Values(const WaitsByPlace& places) {
  std::vector<MonitorWaits> values;
  values.reserve(places.size());
  for (const auto& [key, waits] : places) values.push_back(waits);
  return values;
}

bool HasOwners(const Facts& facts) {
  const auto& waits = facts.input().waited.waits();
  return std::any_of(waits.begin(), waits.end(),
                     [](const auto& it) { return it.first.kind == "monitor"; });
}

bool HasWallSamples(const Facts& facts) {
  const auto& traces = facts.model().traces();
  return !facts.input().waits.places().empty() ||
         std::any_of(traces.begin(), traces.end(), [](const TraceInfo& trace) {
           return trace.Fact("timer").starts_with("wall");
         });
}

WaitsFound WaitsOfRecords(const Facts& facts) {
  WaitsByPlace places;
  const int64_t unit = NanosecondsPer(facts.model().unit());
  for (const auto& [wait, total] : facts.input().waited.waits()) {
    if (wait.kind != "monitor") continue;
    MonitorWaits& place = Place(places, wait.on, wait.at);
    place.amount = WrapAdd(place.amount, WrapMultiply(total.time, unit));
    place.waits = WrapAdd(place.waits, total.waits);
  }
  return {Values(places), facts.recorded_ns(), false, "--report=waited"};
}

WaitsFound WaitsOfMetric(const Facts& facts, MetricId metric) {
  WaitsByPlace places;
  const PrefixColumn<int64_t> waited = facts.tree().MetricBase(metric);
  for (uint32_t i = 1; i <= waited.size(); ++i) {
    const NodeId owner = facts.Owner(NodeId(i));
    if (waited[i - 1] == 0) continue;
    MonitorWaits& place =
        Place(places, "", owner ? facts.Name(facts.tree().node(owner).routine) : "");
    place.amount = WrapAdd(place.amount, waited[i - 1]);
  }
  return {Values(places), facts.recorded_ns(), false, "--report=flat --metric=monitor.wait.ns"};
}

WaitsFound WaitsOfSamples(const Facts& facts) {
  WaitsByPlace places;
  for (const auto& [place, total] : facts.input().waits.places()) {
    if (place.state != SampleState::kMonitor) continue;
    MonitorWaits& waits = Place(places, place.on, place.site.empty() ? place.call : place.site);
    waits.amount = WrapAdd(waits.amount, total.ticks);
  }
  // In most programs nearly all threads wait for work nearly all the time: if it is known how long
  // a tick is, shares are of the recording's time, as those of records are.
  const int64_t tick = facts.model().interval_ns();
  std::vector<MonitorWaits> waits = Values(places);
  if (tick <= 0 || facts.recorded_ns() == 0) {
    return {std::move(waits), facts.input().waits.ticks(), true, "--report=waits"};
  }
  for (MonitorWaits& it : waits) it.amount = WrapMultiply(it.amount, tick);
  return {std::move(waits), facts.recorded_ns(), false, "--report=waits"};
}

WaitsFound CollectWaits(const Facts& facts) {
  if (HasOwners(facts)) return WaitsOfRecords(facts);
  if (const MetricId metric = facts.model().FindMetric("monitor.wait.ns"); metric) {
    return WaitsOfMetric(facts, metric);
  }
  return WaitsOfSamples(facts);
}

bool KnowsMonitors(const Facts& facts) {
  return HasOwners(facts) || facts.HasMetric("monitor.wait.ns") || HasWallSamples(facts) ||
         facts.HasCode("owner");
}

bool IsMuchWaiting(const MonitorWaits& waits, const WaitsFound& all) {
  if (waits.waits > 0 && waits.waits < kLeastWaits) return false;
  return waits.amount >= (all.are_ticks ? kLeastWaitTicks : kLeastWaitNs) &&
         PercentOf(waits.amount, all.whole) >= kLeastWaitShare;
}

std::string AmountText(const Facts& facts, const MonitorWaits& waits, const WaitsFound& all) {
  const std::string amount = FormatInteger(
      waits.amount, all.are_ticks ? Style::kTicks : Style::kNanoseconds, facts.input().units());
  return waits.waits == 0 ? amount : StrCat(amount, " in ", Counted(waits.waits, "wait"));
}

void FindMonitors(const Facts& facts, std::vector<Finding>& findings) {
  WaitsFound all = CollectWaits(facts);
  std::sort(all.waits.begin(), all.waits.end(),
            [](const MonitorWaits& a, const MonitorWaits& b) { return a.amount > b.amount; });
  if (all.waits.size() > kMostMonitors) all.waits.resize(kMostMonitors);
  for (const MonitorWaits& waits : all.waits) {
    if (!IsMuchWaiting(waits, all)) continue;
    findings.push_back(
        {.share = std::min(PercentOf(waits.amount, all.whole), 100.0),
         .of = ShareOf::kRealTime,
         .sentence = StrCat("threads wait ", AmountText(facts, waits, all), " for monitors",
                            waits.on.empty() ? "" : " of ", waits.on,
                            waits.at.empty() ? "" : " in ", waits.at),
         .evidence =
             StrCat("all threads' waits, of ",
                    FormatInteger(all.whole, all.are_ticks ? Style::kTicks : Style::kNanoseconds,
                                  facts.input().units()),
                    all.are_ticks ? " sampled" : " recorded"),
         .suggestion = std::string(kShorterBlocks),
         .next = {all.report}});
  }
}

}  // namespace

const Rule kMonitors = {"monitors", "monitors that threads wait for",
                        "codes=+waited or metrics=monitor.wait.ns or timer=wall", KnowsMonitors,
                        FindMonitors};

}  // namespace jtrace::postproc
