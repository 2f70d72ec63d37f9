// Work that a method does anew at each call although its result can be kept: a pattern compiled, a
// format parsed, a factory looked up.
#include "postproc/findings/rules.h"
#include "postproc/findings/topics.h"
#include "postproc/findings/words.h"
#include "postproc/report/shorten.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr double kLeastCostlyShare = 5;     // percent of the time
constexpr int64_t kLeastCostlyCalls = 100;  // of the method: fewer may be all that a program needs
constexpr size_t kMostCostly = 5;

constexpr std::string_view kKeepPattern =
    "if the pattern is the same at each call, keep it in a static final field";
constexpr std::string_view kKeepObject =
    "if its arguments are the same at each call, keep the object";
constexpr std::string_view kKeepMember =
    "if its arguments are the same at each call, keep what it returns";
constexpr std::string_view kConcatenate = "concatenate, or append to a StringBuilder";
constexpr std::string_view kPool = "take threads from a pool";

constexpr Topic kCostlyTopics[] = {
    {"java.util.regex.Pattern.compile", kKeepPattern},
    {"java.lang.String.format", kConcatenate},
    {"java.lang.String.formatted", kConcatenate},
    {"java.util.Formatter.format", kConcatenate},
    {"java.text.MessageFormat.<init>", kKeepObject},
    {"java.text.SimpleDateFormat.<init>", "use a java.time.format.DateTimeFormatter, and keep it"},
    {"java.text.DecimalFormat.<init>", kKeepObject},
    {"java.text.NumberFormat.getInstance", kKeepObject},
    {"java.text.NumberFormat.getNumberInstance", kKeepObject},
    {"java.time.format.DateTimeFormatter.ofPattern", kKeepObject},
    {"java.util.ResourceBundle.getBundle", kKeepObject},
    {"java.lang.Class.getMethod", kKeepMember},
    {"java.lang.Class.getMethods", kKeepMember},
    {"java.lang.Class.getDeclaredMethod", kKeepMember},
    {"java.lang.Class.getDeclaredMethods", kKeepMember},
    {"java.lang.Class.getDeclaredField", kKeepMember},
    {"java.lang.Class.getDeclaredFields", kKeepMember},
    {"java.lang.Class.getDeclaredConstructor", kKeepMember},
    {"java.security.MessageDigest.getInstance", kKeepObject},
    {"java.security.SecureRandom.<init>", kKeepObject},
    {"javax.crypto.Cipher.getInstance", kKeepObject},
    {"javax.crypto.Mac.getInstance", kKeepObject},
    {"javax.xml.parsers.DocumentBuilderFactory.newInstance", kKeepObject},
    {"javax.xml.parsers.SAXParserFactory.newInstance", kKeepObject},
    {"javax.xml.stream.XMLInputFactory.newInstance", kKeepObject},
    {"javax.xml.stream.XMLInputFactory.newFactory", kKeepObject},
    {"javax.xml.transform.TransformerFactory.newInstance", kKeepObject},
    {"javax.xml.xpath.XPathFactory.newInstance", kKeepObject},
    {"com.fasterxml.jackson.databind.ObjectMapper.<init>", kKeepObject},
    {"javax.xml.bind.JAXBContext.newInstance", kKeepObject},
    {"jakarta.xml.bind.JAXBContext.newInstance", kKeepObject},
    {"java.lang.Thread.start", kPool},
};

bool HasTimeAndCalls(const Facts& facts) { return facts.sees_callees() && facts.has_calls(); }

void FindCostlySetup(const Facts& facts, std::vector<Finding>& findings) {
  size_t found = 0;
  for (const TopicUse& use : UsesOf(facts, kCostlyTopics, TopicOwner::kNearest)) {
    if (found == kMostCostly || !facts.IsMuchTime(use.time, kLeastCostlyShare)) break;
    if (!use.owner || facts.CallsOf(use.owner) < kLeastCostlyCalls) continue;
    ++found;
    const std::string_view callee = ShortMethod(facts.Name(use.callee));
    const double of_owner = PercentOf(use.time, facts.CumOf(use.owner));
    findings.push_back(
        {.share = facts.ShareOfTime(use.time),
         .of = ShareOf::kTime,
         .sentence = StrCat(facts.Name(use.owner), " ", RunsText(facts, use.owner, use.heaviest),
                            "; ", FormatPercent(of_owner), " of its time is ", callee),
         .evidence =
             StrCat(Counted(facts.CallsOf(use.owner), "call"), "; ", facts.FormatTime(use.time),
                    " in ", callee, " of ", facts.FormatTime(facts.whole_time())),
         .suggestion = std::string(use.topic->suggestion),
         .next = {"--report=function", OfOption(facts, use.owner)}});
  }
}

}  // namespace

const Rule kCostlySetup = {
    "costly-setup",
    "work done anew at each call whose result can be kept, such as a compiled pattern",
    "mode=merged with stack=full", HasTimeAndCalls, FindCostlySetup};

}  // namespace jtrace::postproc
