#include "postproc/lines/inlined_lines.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

// The methods of a profile by class. Methods may be added while it is used.
class MethodsOfClasses {
 public:
  explicit MethodsOfClasses(LineProfile& profile) : profile_(profile) {
    for (size_t i = 0; i < profile.methods.size(); ++i) {
      by_class_[profile.methods[i].class_name].push_back(i);
    }
  }

  bool HasClass(const std::string& name) const { return by_class_.contains(name); }

  // Null: no method has it.
  MethodLines* WithLine(const std::string& class_name, int32_t line) {
    return Find(class_name,
                [&](MethodLines& method) { return FindLine(method.lines, line) != nullptr; });
  }
  MethodLines* Named(const std::string& class_name, const std::string& name) {
    return Find(class_name, [&](const MethodLines& method) { return method.name == name; });
  }
  MethodLines& PartOf(const std::string& class_name, const std::string& source_file) {
    MethodLines* part = Find(class_name, [&](const MethodLines& method) {
      return method.is_part && method.name == kInlinedPart && method.source_file == source_file;
    });
    if (part != nullptr) return *part;
    by_class_[class_name].push_back(profile_.methods.size());
    MethodLines& added = profile_.methods.emplace_back();
    added.class_name = class_name;
    added.name = kInlinedPart;
    added.source_file = source_file;
    added.is_part = true;
    return added;
  }

 private:
  template <typename Is>
  MethodLines* Find(const std::string& class_name, Is is) {
    const auto found = by_class_.find(class_name);
    if (found == by_class_.end()) return nullptr;
    for (const size_t index : found->second) {
      if (is(profile_.methods[index])) return &profile_.methods[index];
    }
    return nullptr;
  }

  LineProfile& profile_;
  absl::flat_hash_map<std::string, std::vector<size_t>> by_class_;
};

}  // namespace

void InlinedLines::Add(const std::string& class_name, const std::string& source_file,
                       const LineCounts& line, const Call& call) {
  const auto [at, added] =
      lines_.try_emplace(std::tuple(class_name, source_file, line.line), Copies{line, {}});
  if (!added) AddCopy(line, at->second.sum);
  if (call.line > 0) at->second.calls.emplace_back(call, line);
}

void InlinedLines::PlaceInto(absl::FunctionRef<bool(std::string_view)> is_in_scope,
                             LineProfile& profile) const {
  MethodsOfClasses methods(profile);
  for (const auto& [key, copies] : lines_) {
    const auto& [class_name, source_file, number] = key;
    if (MethodLines* owner = methods.WithLine(class_name, number); owner != nullptr) {
      AddCopy(copies.sum, LineOf(owner->lines, number));
      owner->was_inlined |= copies.sum.executions > 0;
      continue;
    }
    if (methods.HasClass(class_name) || is_in_scope(class_name)) {
      AddCopy(copies.sum, LineOf(methods.PartOf(class_name, source_file).lines, number));
      continue;
    }
    for (const auto& [call, counts] : copies.calls) {
      MethodLines* caller = methods.Named(call.class_name, call.method);
      LineCounts* line = caller == nullptr ? nullptr : FindLine(caller->lines, call.line);
      if (line == nullptr) continue;
      line->instructions = AddCounts(line->instructions, counts.instructions);
      line->cycles = AddCounts(line->cycles, counts.cycles);
      line->ticks = WrapAdd(line->ticks, counts.ticks);
    }
  }
}

}  // namespace jtrace::postproc
