#include "postproc/lines/unloaded_classes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/classfile/class_file.h"
#include "common/visible_text.h"
#include "postproc/lines/class_source.h"
#include "postproc/lines/line_builder.h"
#include "postproc/reader/java_names.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

std::string DottedClass(std::string_view internal_name) {
  std::string name = FromModifiedUtf8(std::string(internal_name));
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

// "run(int,String)" of each method, as traces would name them.
std::vector<std::string> MethodNames(const classfile::ClassFile& file, std::string_view owner) {
  JavaNames names;
  std::vector<uint32_t> numbers;
  numbers.reserve(file.methods.size());
  for (const classfile::MethodInfo& method : file.methods) {
    const std::string name = FromModifiedUtf8(std::string(method.name));
    const std::string descriptor = FromModifiedUtf8(std::string(method.descriptor));
    numbers.push_back(names.Intern({owner, name, descriptor}));
  }
  names.AssignNames();
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const uint32_t number : numbers) {
    texts.push_back(names.Name(number).substr(owner.size() + 1));
  }
  return texts;
}

}  // namespace

void UnloadedClasses::Add(classfile::Bytes bytes) {
  const absl::StatusOr<classfile::ClassFile> file = classfile::ParseClassFile(bytes);
  if (!file.ok()) {
    ++unreadable_;
    return;
  }
  if (!scope_.HasClass(file->this_name)) return;
  const std::string name = DottedClass(file->this_name);
  if (!known_.insert(name).second) return;
  const std::vector<std::string> names = MethodNames(*file, name);
  const ClassSource source(*file);
  static const InstructionCosts kCosts = InstructionCosts::Standard();
  for (size_t i = 0; i < file->methods.size(); ++i) {
    const classfile::MethodInfo& info = file->methods[i];
    if (!info.has_code() || !scope_.HasMethod(file->this_name, info.name)) continue;
    MethodLines lines = LineBuilder(*file, i, kCosts).BuildNeverRun().value_or(MethodLines());
    lines.class_name = name;
    lines.name = names[i];
    lines.never_loaded = true;
    // What it has inlined did not run.
    InlinedLines inlined;
    std::vector<MethodLines> parts;
    source.Place(lines, parts, inlined);
    methods_.push_back(std::move(lines));
    for (MethodLines& part : parts) {
      part.never_loaded = true;
      methods_.push_back(std::move(part));
    }
  }
}

namespace {

// "…,include=a.**;b.*,exclude=c.D": patterns have no commas.
classfile::ScopeFilter FilterOf(std::string_view options) {
  std::vector<std::string> include, exclude;
  for (std::string_view option : Split(options, ',')) {
    if (ConsumePrefix(option, "include=")) include.emplace_back(option);
    if (ConsumePrefix(option, "exclude=")) exclude.emplace_back(option);
  }
  // A trace's text may be anything: then the scope is the default one.
  return classfile::ScopeFilter::Create(include, exclude).value_or(classfile::ScopeFilter());
}

}  // namespace

RecordedScope::RecordedScope(const TraceModel& model) {
  for (const TraceInfo& trace : model.traces()) filters_.push_back(FilterOf(trace.Fact("options")));
}

bool RecordedScope::HasClass(std::string_view class_name) const {
  return std::any_of(filters_.begin(), filters_.end(), [&](const classfile::ScopeFilter& filter) {
    return filter.MayMatchClass(class_name);
  });
}

bool RecordedScope::HasMethod(std::string_view class_name, std::string_view method_name) const {
  return std::any_of(filters_.begin(), filters_.end(), [&](const classfile::ScopeFilter& filter) {
    return filter.Includes(class_name, method_name);
  });
}

}  // namespace jtrace::postproc
