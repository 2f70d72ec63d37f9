// Fuzz target of the class-file reader and rewriter. For any input: no crash, no undefined
// behaviour; a rewritten class parses again with the same methods, and each probed method's code
// still is a sequence of instructions whose jumps land on instructions.
#include <cstdint>
#include <string_view>
#include <utility>

#include "agent/calls/classfile/bytecode_editor.h"
#include "agent/calls/classfile/class_rewriter.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"
#include "common/classfile/disassembly.h"
#include "common/classfile/opcodes.h"
#include "common/classfile/source_map.h"
#include "native-tests/fuzz/require.h"

namespace jtrace::classfile {
namespace {

using fuzz::Require;

void CheckRewritten(const RewriteResult& result) {
  const auto file = ParseClassFile(result.bytes);
  Require(file.ok() && file->methods.size() == result.methods.size());
  Require(file->this_name == result.class_name);
  CodeAttribute code;
  BytecodeEditor editor;
  for (const MethodOutcome& outcome : result.methods) {
    const MethodInfo& method = file->methods[outcome.method.index];
    Require(method.name == outcome.method.name && method.descriptor == outcome.method.descriptor);
    if (!outcome.probed) continue;
    const Bytes attribute =
        Bytes(result.bytes).subspan(method.code_begin, method.code_end - method.code_begin);
    Require(code.Parse(attribute, file->pool));
    Require(code.code.size() > outcome.method.code_size);
    Require(editor.Scan(code.code) == Reason::kNone);
    for (const ExceptionRow& row : code.exceptions) {
      Require(editor.IsInstruction(row.start) && editor.IsInstruction(row.handler));
      Require(row.end == code.code.size() || editor.IsInstruction(row.end));
    }
  }
}

// Ids around those that need a constant. Treats every call as one of a native method.
class EveryTarget : public ProbeTargets {
 public:
  uint32_t IdOf(const ProbeTarget& site) override {
    Require(!site.class_name.empty() || site.kind == ProbePointKind::kCall ||
            site.kind == ProbePointKind::kNative);
    return 0x7fff + next_++ % 2;
  }
  bool IsNative(const ProbeTarget&) override { return true; }
  CallProbe ProbeOf(const ProbeTarget& callee) override {
    const CallProbe probe = ProbeOfLastArgument(callee.descriptor);
    return probe == CallProbe::kUsual && callee.name.size() % 2 == 0 ? CallProbe::kTimed : probe;
  }

 private:
  uint32_t next_ = 0;
};

// Ids around those that need a constant.
class EveryCounter : public CounterIds {
 public:
  uint32_t NewIds(uint32_t count) override { return std::exchange(next_, next_ + count); }
  bool NeedsEntryCounters(std::string_view name) override { return name.size() % 2 == 0; }

 private:
  uint32_t next_ = 0x7ff8;
};

// Numbers of one to three bytes; every second class has run with other code.
class EveryCallSite : public CallSiteIds {
 public:
  uint32_t NumberOf(uint32_t, CallSite site) override {
    Require(site != kNoCallSite);
    return NumberInCallSite(site) % 2046 + 1;
  }
  bool AddClassAndFindOtherVersion(std::string_view name, Bytes) override {
    return name.size() % 2 == 0;
  }
};

void Check(Bytes input, const ProbeSpec& spec, uint32_t first_id) {
  uint32_t calls = 0;
  EveryTarget targets;
  EveryCounter counters;
  EveryCallSite call_sites;
  const auto result = RewriteClass(
      input,
      {.filter = ScopeFilter::Everything(),
       .spec = spec,
       .assign_id = [&calls, first_id](const MethodDeclaration&) { return first_id + calls++; },
       .targets = &targets,
       .counters = &counters,
       .call_sites = &call_sites});
  if (!result.ok()) return;
  uint32_t probed = 0;
  for (const MethodOutcome& outcome : result->methods) probed += outcome.probed ? 1 : 0;
  Require(probed == calls);
  Require(result->bytes.empty() == (probed == 0));
  if (probed != 0) CheckRewritten(*result);
}

// What reports show of a class: its instructions as text, the files that its lines are of.
void CheckShown(Bytes input) {
  const auto file = ParseClassFile(input);
  if (!file.ok()) return;
  if (const auto map = SourceMap::Parse(SourceDebugExtensionOf(*file)); map.has_value()) {
    for (int32_t line = 0; line <= kMaxU2; line += 7) {
      const auto place = map->At(line);
      Require(!place.has_value() || (place->file != nullptr && place->line >= 0));
    }
  }
  CodeAttribute code;
  for (const MethodInfo& method : file->methods) {
    const Bytes attribute = input.subspan(method.code_begin, method.code_end - method.code_begin);
    if (!method.has_code() || !code.Parse(attribute, file->pool)) continue;
    for (size_t at = 0; at < code.code.size();) {
      const size_t length = InstructionLength(code.code, at);
      if (length == 0) break;
      Require(!Mnemonic(code.code, at).empty());
      OperandText(*file, code.code, at);
      at += length;
    }
  }
}

}  // namespace
}  // namespace jtrace::classfile

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using jtrace::classfile::ProbeSpec;
  jtrace::classfile::CheckShown({data, size});
  ProbeSpec sites = ProbeSpec::Tree();
  sites.boundary = sites.thrown = sites.caught = sites.monitors = true;
  sites.timed_calls = sites.elements = true;
  jtrace::classfile::Check({data, size}, sites, 0x7ffe);
  jtrace::classfile::Check({data, size}, ProbeSpec::Tree(), 0x7ffe);
  jtrace::classfile::Check({data, size}, ProbeSpec::TreeWithLeaves(), 0x7ffe);
  jtrace::classfile::Check({data, size}, ProbeSpec::Flat(), 1);
  for (ProbeSpec spec : {sites, ProbeSpec::TreeWithLeaves()}) {
    spec.call_site = "at";
    jtrace::classfile::Check({data, size}, spec, 0x7ffe);
  }
  for (ProbeSpec spec : {sites, ProbeSpec::TreeWithLeaves(), ProbeSpec::Flat()}) {
    spec.block_owner = "java/lang/invoke/JTraceBlocks";
    jtrace::classfile::Check({data, size}, spec, 0x7ffe);
  }
  return 0;
}
