// Programs that are mostly busy with loading classes, as at their start.
#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "common/jdk_packages.h"
#include "postproc/findings/rules.h"
#include "postproc/findings/topics.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr double kLeastLoadingShare = 20;  // percent of the time
constexpr int64_t kLeastClasses = 200;     // other than the JDK's

constexpr Topic kLoadingTopics[] = {
    {"java.lang.ClassLoader.loadClass*", ""},
    {"java.lang.ClassLoader.defineClass*", ""},
    {"java.lang.ClassLoader.findLoadedClass*", ""},
    {"java.net.URLClassLoader.findClass", ""},
    {"java.security.SecureClassLoader.defineClass", ""},
    {"jdk.internal.loader.BuiltinClassLoader.*", ""},
    {"jdk.internal.loader.ClassLoaders$*", ""},
    {"SystemDictionary::*", ""},
    {"ClassFileParser::*", ""},
    {"ClassLoader::load_class*", ""},
    {"InstanceKlass::link_class*", ""},
};

bool KnowsLoading(const Facts& facts) {
  return facts.has_stacks() && !facts.input().classes.classes().empty();
}

struct LoadedClasses {
  int64_t all = 0;
  int64_t of_others = 0;  // than the JDK
  std::string package;    // the one with the most of these
  int64_t in_package = 0;
};

// The agent defines some beside the program.
bool IsOfAgent(std::string_view name) { return name.starts_with("jtrace."); }

LoadedClasses CountClasses(const ClassLog& log) {
  LoadedClasses count;
  absl::flat_hash_map<std::string, int64_t> packages;
  for (const auto& [name, entry] : log.classes()) {
    count.all = WrapAdd(count.all, entry.loads);
    if (entry.loads == 0 || IsJdkClass(name) || IsOfAgent(name)) continue;
    count.of_others = WrapAdd(count.of_others, entry.loads);
    const bool has_package = name.find('.') != std::string::npos;
    int64_t& sum = packages[has_package ? LibraryOf(StrCat(name, ".x")) : "the unnamed package"];
    sum = WrapAdd(sum, entry.loads);
  }
  for (const auto& [name, classes] : packages) {
    if (classes < count.in_package || (classes == count.in_package && name > count.package)) {
      continue;
    }
    count.package = name;
    count.in_package = classes;
  }
  return count;
}

void FindClassLoading(const Facts& facts, std::vector<Finding>& findings) {
  int64_t time = 0;
  for (const TopicUse& use : UsesOf(facts, kLoadingTopics, TopicOwner::kNearest)) {
    time = WrapAdd(time, use.time);
  }
  if (!facts.IsMuchTime(time, kLeastLoadingShare)) return;
  const LoadedClasses classes = CountClasses(facts.input().classes);
  if (classes.of_others < kLeastClasses) return;
  std::string evidence =
      StrCat(facts.FormatTime(time), " of ", facts.FormatTime(facts.whole_time()), "; ",
             FormatCount(classes.all), " classes are loaded");
  if (!classes.package.empty()) {
    StrAppend(&evidence, ", ", FormatCount(classes.in_package), " of them of ", classes.package);
  }
  findings.push_back(
      {.share = facts.ShareOfTime(time),
       .of = ShareOf::kTime,
       .sentence =
           StrCat("class loading takes ", FormatPercent(facts.ShareOfTime(time)),
                  " of the time: ", FormatCount(classes.of_others), " classes besides the JDK's"),
       .evidence = std::move(evidence),
       .suggestion =
           "an archive of classes shortens a start: -XX:ArchiveClassesAtExit=FILE makes one",
       .next = {"--report=classes"}});
}

}  // namespace

const Rule kClassLoading = {"class-loading",
                            "loading of classes that takes a good part of the time",
                            "mode=merged with stack=full", KnowsLoading, FindClassLoading};

}  // namespace jtrace::postproc
