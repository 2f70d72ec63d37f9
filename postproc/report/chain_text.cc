#include "postproc/report/chain_text.h"

#include <algorithm>
#include <string_view>

#include "postproc/report/name_parts.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

std::string_view TextOf(CodeOwner kind) {
  constexpr std::string_view kTexts[kCodeOwners] = {
      "the program", "libraries", "the JDK", "native code", "the JVM", "the kernel", "others"};
  return kTexts[static_cast<size_t>(kind)];
}

class ChainTeller {
 public:
  ChainTeller(const ReportInput& input, const std::vector<CodeOwner>& kinds, const TreeLine& line)
      : input_(input) {
    for (NodeId at = line.end;; at = input.tree.node(at).parent) {
      Add(input.tree.node(at).routine, kinds);
      if (at == line.id) break;
    }
    std::reverse(kinds_.begin(), kinds_.end());
    begins_at_root_ = !input.tree.node(input.tree.node(line.id).parent).parent;
  }

  std::vector<std::string> Texts(uint64_t count) const {
    const std::string frames = StrCat("… ", Counted(static_cast<int64_t>(count), "frame"));
    std::vector<std::string> texts;
    const auto add = [&](std::string_view what) { texts.push_back(StrCat(frames, " of ", what)); };
    if (begins_at_root_ && !has_program_) {
      add(has_main_ ? "JVM start-up" : "thread start-up");
    } else if (is_one_routine_) {
      const NameParts parts = SplitName(input_.model.RoutineName(routine_));
      if (!parts.owner.empty()) add(StrCat(parts.owner, parts.method));
      add(parts.method);
    } else {
      if (const std::string package = Package(); !package.empty()) add(package);
      add(Kinds());
    }
    texts.push_back(frames);
    return texts;
  }

 private:
  void Add(RoutineId routine, const std::vector<CodeOwner>& kinds) {
    const CodeOwner kind = kinds[routine.value];
    if (std::find(kinds_.begin(), kinds_.end(), kind) == kinds_.end()) kinds_.push_back(kind);
    has_program_ = has_program_ || kind == CodeOwner::kProgram;
    is_java_ = is_java_ && IsJavaCode(kind);
    const std::string_view name = input_.model.RoutineName(routine);
    has_main_ = has_main_ || name == "JavaMain";
    is_one_routine_ = is_one_routine_ && (!routine_ || routine == routine_);
    const std::string_view package = SplitName(name).package;
    // The longest common beginning, of whole packages.
    if (!routine_) common_ = package;
    while (!package.starts_with(common_)) {
      const size_t dot =
          common_.size() < 2 ? std::string_view::npos : common_.rfind('.', common_.size() - 2);
      common_ = common_.substr(0, dot == std::string_view::npos ? 0 : dot + 1);
    }
    routine_ = routine;
  }

  // "org.h2.command" if all are in it; a single word says nothing.
  std::string Package() const {
    const size_t first = common_.find('.');
    if (!is_java_ || first == std::string_view::npos || first + 1 == common_.size()) return "";
    return std::string(common_.substr(0, common_.size() - 1));
  }
  std::string Kinds() const {
    std::string text;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const std::string_view joint = i == 0 ? "" : i + 1 == kinds_.size() ? " and " : ", ";
      StrAppend(&text, joint, TextOf(kinds_[i]));
    }
    return text;
  }

  const ReportInput& input_;
  std::vector<CodeOwner> kinds_;  // in the order of the chain, each once
  std::string_view common_;
  RoutineId routine_;
  bool is_one_routine_ = true;
  bool is_java_ = true;
  bool has_program_ = false;
  bool has_main_ = false;
  bool begins_at_root_ = false;
};

}  // namespace

std::vector<std::string> ChainTexts(const ReportInput& input, const std::vector<CodeOwner>& kinds,
                                    const TreeLine& line) {
  return ChainTeller(input, kinds, line).Texts(line.count);
}

}  // namespace jtrace::postproc
