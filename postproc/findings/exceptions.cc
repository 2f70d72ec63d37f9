// Exceptions as control flow: their time, from samples, or their number, where it was counted.
#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "postproc/findings/rules.h"
#include "postproc/findings/topics.h"
#include "postproc/findings/words.h"
#include "postproc/report/shorten.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr double kLeastExceptionShare = 5;  // percent of the time
constexpr int64_t kLeastExceptions = 10'000;
constexpr int64_t kCallsPerException = 10;  // of the method that throws, at most
constexpr double kLeastThrownShare = 1;     // percent of all calls
constexpr size_t kMostThrowers = 3;

constexpr std::string_view kNoException =
    "return a value for what is expected; a constructor of Throwable can leave out the stack trace";

// What makes exceptions, and HotSpot's search for their handlers.
constexpr Topic kExceptionTopics[] = {
    {"java.lang.Throwable.<init>", ""},
    {"java.lang.Throwable.fillInStackTrace", ""},
    {"java_lang_Throwable::fill_in_stack_trace*", ""},
    {"InterpreterRuntime::exception_handler_for_exception*", ""},
    {"InterpreterRuntime::create_exception*", ""},
    {"OptoRuntime::handle_exception_C*", ""},
    {"OptoRuntime::rethrow_C*", ""},
    {"Runtime1::exception_handler_for_pc*", ""},
    {"SharedRuntime::raw_exception_handler_for_return_address*", ""},
    {"SharedRuntime::compute_compiled_exc_handler*", ""},
};

// The exceptions that methods throw, where that is counted (codes=+exception). The metric of that
// name counts each one again where it passes a probe.
class ThrownCounts {
 public:
  explicit ThrownCounts(const Facts& facts);

  bool empty() const { return by_method_.empty(); }
  int64_t total() const { return total_; }
  int64_t Of(RoutineId method) const {
    const auto found = by_method_.find(method);
    return found == by_method_.end() ? 0 : found->second;
  }
  // Most first.
  std::vector<std::pair<RoutineId, int64_t>> Sorted() const;

 private:
  void Add(NodeId owner, int64_t count) {
    total_ = WrapAdd(total_, count);
    if (!owner) return;
    int64_t& sum = by_method_[facts_.tree().node(owner).routine];
    sum = WrapAdd(sum, count);
  }

  const Facts& facts_;
  int64_t total_ = 0;
  absl::flat_hash_map<RoutineId, int64_t> by_method_;
};

ThrownCounts::ThrownCounts(const Facts& facts) : facts_(facts) {
  const CallTree& tree = facts.tree();
  for (uint32_t i = 1; i <= tree.size(); ++i) {
    const CallNode& node = tree.node(NodeId(i));
    if (!node.routine || node.calls == 0) continue;
    if (facts.model().TraitsOf(node.routine).kind != RoutineKind::kThrown) continue;
    Add(facts.Owner(NodeId(i)), node.calls);
  }
}

std::vector<std::pair<RoutineId, int64_t>> ThrownCounts::Sorted() const {
  std::vector<std::pair<RoutineId, int64_t>> sorted(by_method_.begin(), by_method_.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first.value < b.first.value;
  });
  return sorted;
}

bool KnowsExceptions(const Facts& facts) {
  return facts.has_stacks() || facts.HasRoutineOf(RoutineKind::kThrown) || facts.HasCode("thrown");
}

// The method with the greatest part of the time, if it has a good part of it.
std::string MostlyIn(const Facts& facts, const std::vector<TopicUse>& uses, int64_t all,
                     RoutineId& method) {
  absl::flat_hash_map<RoutineId, int64_t> times;
  for (const TopicUse& use : uses) {
    if (!use.owner) continue;
    int64_t& time = times[use.owner];
    time = WrapAdd(time, use.time);
    if (!method || time > times[method]) method = use.owner;
  }
  if (!method) return "";
  const double share = PercentOf(times[method], all);
  return StrCat(", ", FormatPercent(share), " of it in ", facts.Name(method));
}

bool FindTimeOfExceptions(const Facts& facts, const ThrownCounts& thrown,
                          std::vector<Finding>& findings) {
  const std::vector<TopicUse> uses = UsesOf(facts, kExceptionTopics, TopicOwner::kConstructed);
  int64_t time = 0;
  for (const TopicUse& use : uses) time = WrapAdd(time, use.time);
  if (!facts.IsMuchTime(time, kLeastExceptionShare)) return false;
  RoutineId method;
  const std::string mostly = MostlyIn(facts, uses, time, method);
  std::string evidence =
      StrCat(facts.FormatTime(time), " of ", facts.FormatTime(facts.whole_time()));
  if (method && facts.CallsOf(method) > 0) {
    StrAppend(&evidence, "; ", ShortMethod(facts.Name(method)), " has ",
              Counted(facts.CallsOf(method), "call"));
  }
  if (thrown.total() > 0) {
    StrAppend(&evidence, "; ", Counted(thrown.total(), "exception"), " thrown");
  }
  Finding finding = {.share = facts.ShareOfTime(time),
                     .of = ShareOf::kTime,
                     .sentence = StrCat("exceptions take ", FormatPercent(facts.ShareOfTime(time)),
                                        " of the time", mostly),
                     .evidence = std::move(evidence),
                     .suggestion = std::string(kNoException),
                     .next = {}};
  if (method) finding.next = {"--report=function", OfOption(facts, method)};
  if (!method) finding.next = {"--report=callers", "--of=java.lang.Throwable.<init>"};
  findings.push_back(std::move(finding));
  return true;
}

void FindNumberOfExceptions(const Facts& facts, const ThrownCounts& thrown,
                            std::vector<Finding>& findings) {
  size_t found = 0;
  for (const auto& [method, count] : thrown.Sorted()) {
    if (found == kMostThrowers || count < kLeastExceptions) break;
    const int64_t calls = facts.CallsOf(method);
    const double share = PercentOf(count, facts.all_calls());
    if (calls == 0 || count < calls / kCallsPerException || share < kLeastThrownShare) continue;
    ++found;
    findings.push_back({.share = share,
                        .of = ShareOf::kCalls,
                        .sentence = StrCat(facts.Name(method), " throws ", FormatCount(count),
                                           " exceptions, ", EachText(count, calls), " per call"),
                        .evidence = StrCat(Counted(calls, "call"), "; ",
                                           FormatCount(thrown.total()), " exceptions in all"),
                        .suggestion = std::string(kNoException),
                        .next = {"--report=function", OfOption(facts, method)}});
  }
}

void FindExceptions(const Facts& facts, std::vector<Finding>& findings) {
  const ThrownCounts thrown(facts);
  if (facts.has_stacks() && FindTimeOfExceptions(facts, thrown, findings)) return;
  FindNumberOfExceptions(facts, thrown, findings);
}

}  // namespace

const Rule kExceptions = {"exceptions", "exceptions as control flow: their time or their number",
                          "mode=merged with stack=full or codes=+exception", KnowsExceptions,
                          FindExceptions};

}  // namespace jtrace::postproc
