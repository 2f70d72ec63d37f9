#include "postproc/lines/method_codes.h"

#include <optional>
#include <utility>

#include "postproc/lines/line_builder.h"

namespace jtrace::postproc {
namespace {

void AddTicksTo(const TicksByBci& places, MethodCode& code) {
  for (InstructionCounts& instruction : code.instructions) {
    const auto found = places.find(static_cast<uint16_t>(instruction.bci));
    if (found != places.end()) instruction.ticks = found->second;
  }
}

}  // namespace

MethodCodes::MethodCodes(const LineSources& sources) : sources_(sources) {
  const std::vector<BlockLog::Method>& methods = sources.blocks.methods();
  for (size_t i = 0; i < methods.size(); ++i) by_routine_[methods[i].routine].push_back(i);
}

std::vector<MethodCode> MethodCodes::Of(const MethodLines& method) {
  std::vector<MethodCode> versions;
  const auto found = by_routine_.find(method.routine);
  if (!method.routine || found == by_routine_.end()) return versions;
  for (const size_t index : found->second) {
    const BlockLog::Method& counted = sources_.blocks.methods()[index];
    const BlockLog::ClassCode& code = sources_.blocks.classes()[counted.class_code];
    if (code.name != method.class_name) continue;
    if (!parsed_.Parse(counted.class_code, code.bytes, counted.index)) continue;
    const LineBuilder builder(*parsed_.file, counted.index, sources_.costs);
    std::optional<MethodCode> version = builder.Code(counted.counts);
    if (!version.has_value()) continue;
    // As with lines: samples do not distinguish versions.
    const TicksByBci* places = sources_.ticks.Of(method.routine);
    if (places != nullptr && versions.empty()) AddTicksTo(*places, *version);
    for (InstructionCounts& instruction : version->instructions) {
      if (instruction.line > 0) instruction.line = parsed_.source->ListedLine(instruction.line);
    }
    versions.push_back(*std::move(version));
  }
  return versions;
}

}  // namespace jtrace::postproc
