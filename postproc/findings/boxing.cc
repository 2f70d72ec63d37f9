// Numbers boxed as objects, by their time or, where calls out of scope are counted, their number.
#include "postproc/findings/rules.h"
#include "postproc/findings/topics.h"
#include "postproc/findings/words.h"
#include "postproc/report/shorten.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr double kLeastBoxingShare = 5;       // percent of the time
constexpr double kLeastBoxingCallShare = 10;  // percent of all calls
constexpr int64_t kLeastBoxes = 1'000'000;
constexpr size_t kMostBoxing = 3;

constexpr std::string_view kNoBoxes = "use arrays, primitive fields or streams of primitives";

constexpr Topic kBoxingTopics[] = {
    {"java.lang.Boolean.valueOf(boolean)", kNoBoxes},
    {"java.lang.Byte.valueOf(byte)", kNoBoxes},
    {"java.lang.Character.valueOf(char)", kNoBoxes},
    {"java.lang.Double.valueOf(double)", kNoBoxes},
    {"java.lang.Float.valueOf(float)", kNoBoxes},
    {"java.lang.Integer.valueOf(int)", kNoBoxes},
    {"java.lang.Long.valueOf(long)", kNoBoxes},
    {"java.lang.Short.valueOf(short)", kNoBoxes},
};

bool KnowsBoxing(const Facts& facts) {
  return facts.has_stacks() || facts.HasRoutineOf(RoutineKind::kCall) ||
         facts.HasOption("boundary=on") || facts.HasOption("boundary=costs");
}

std::string BoxesText(const Facts& facts, const TopicUse& use) {
  const int64_t calls = facts.CallsOf(use.owner);
  std::string text = StrCat(facts.Name(use.owner), " boxes ", Counted(use.calls, "time"));
  if (calls > 1) StrAppend(&text, ", ", EachText(use.calls, calls), " per call");
  return StrCat(text, ": ", facts.Name(use.callee));
}

void FindBoxing(const Facts& facts, std::vector<Finding>& findings) {
  size_t found = 0;
  for (const TopicUse& use : UsesOf(facts, kBoxingTopics, TopicOwner::kNearest)) {
    if (found == kMostBoxing) break;
    if (!use.owner) continue;
    const double call_share = PercentOf(use.calls, facts.all_calls());
    const bool is_much = facts.IsMuchTime(use.time, kLeastBoxingShare);
    if (!is_much && (use.calls < kLeastBoxes || call_share < kLeastBoxingCallShare)) continue;
    ++found;
    const std::string share = FormatPercent(facts.ShareOfTime(use.time));
    findings.push_back({.share = is_much ? facts.ShareOfTime(use.time) : call_share,
                        .of = is_much ? ShareOf::kTime : ShareOf::kCalls,
                        .sentence = use.calls > 0
                                        ? BoxesText(facts, use)
                                        : StrCat(facts.Name(use.owner), " boxes numbers for ",
                                                 share, " of the time: ", facts.Name(use.callee)),
                        .evidence = is_much ? StrCat(facts.FormatTime(use.time), " of ",
                                                     facts.FormatTime(facts.whole_time()))
                                            : StrCat(FormatPercent(call_share), " of all calls"),
                        .suggestion = std::string(use.topic->suggestion),
                        .next = {"--report=function", OfOption(facts, use.owner)}});
  }
}

}  // namespace

const Rule kBoxing = {"boxing", "numbers boxed as objects",
                      "mode=merged with stack=full or boundary=on", KnowsBoxing, FindBoxing};

}  // namespace jtrace::postproc
