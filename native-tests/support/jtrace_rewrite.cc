// Rewrites class files in bulk, for the tests that put every class of a JDK before a verifier.
//
//     jtrace-rewrite [--flat|--leaves] [--sites] [--blocks|--paths] [--places] [--skip-object]
//     [--id-base=N] IN.pack OUT.pack
//
// --sites also puts probes around every call, except Object's constructor, and at every exception.
// --blocks also puts counters into blocks, in every second class those of methods' calls as well.
// --paths does the same by call path: no method with counters is a leaf.
// --places also distinguishes calls by their lines.
// --skip-object leaves java/lang/Object alone, as the agent always does: C2 compiles its
// constructor by special rules and crashes on a handler in it.
//
// A pack is a sequence of entries: u4 name length, name, u4 size, bytes (big-endian); other files,
// and classes that cannot be rewritten, are copied. Prints the counts of methods by reason.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "agent/calls/classfile/class_rewriter.h"
#include "common/classfile/byte_io.h"

namespace jtrace::classfile {
namespace {

struct Settings {
  ProbeSpec spec = ProbeSpec::Tree();
  bool sites = false;
  bool skip_object = false;
  uint32_t next_id = 1;
  uint32_t next_counter = 1;
};

struct Tally {
  size_t classes = 0;
  size_t rewritten = 0;
  size_t rejected = 0;  // not parsed as a class file at all
  size_t probed = 0;
  size_t leaves = 0;  // of `probed`
  size_t calls = 0;
  size_t exceptions = 0;
  size_t blocks = 0;
  size_t block_counters = 0;
  size_t throw_counters = 0;
  std::array<size_t, kReasonCount> by_reason{};
  std::array<size_t, kCallReasonCount> calls_left_out{};
};

// Treats every call as one of a native method, so that all of them are sites.
class EveryTarget : public ProbeTargets {
 public:
  explicit EveryTarget(uint32_t& next_id) : next_id_(next_id) {}
  uint32_t IdOf(const ProbeTarget&) override { return next_id_++; }
  bool IsNative(const ProbeTarget&) override { return true; }
  CallProbe ProbeOf(const ProbeTarget& callee) override {
    const CallProbe probe = ProbeOfLastArgument(callee.descriptor);
    return probe != CallProbe::kUsual || callee.descriptor.starts_with("()") ? probe
                                                                             : CallProbe::kTimed;
  }

 private:
  uint32_t& next_id_;
};

// Numbers that need a constant, and others.
class EveryCounter : public CounterIds {
 public:
  explicit EveryCounter(uint32_t& next_id) : next_id_(next_id) {}
  uint32_t NewIds(uint32_t count) override { return std::exchange(next_id_, next_id_ + count); }
  bool NeedsEntryCounters(std::string_view class_name) override {
    return class_name.size() % 2 == 0;
  }

 private:
  uint32_t& next_id_;
};

// Every second class has run with other code.
class EveryCallSite : public CallSiteIds {
 public:
  uint32_t NumberOf(uint32_t, CallSite site) override { return NumberInCallSite(site) % 2046 + 1; }
  bool AddClassAndFindOtherVersion(std::string_view name, Bytes) override {
    return name.size() % 2 == 0;
  }
};

Bytes RewriteEntry(std::string_view name, Bytes bytes, Settings& settings,
                   std::vector<uint8_t>& storage, Tally& tally) {
  ++tally.classes;
  if (settings.skip_object && name.ends_with("java/lang/Object.class")) return bytes;
  EveryTarget targets(settings.next_id);
  EveryCounter counters(settings.next_counter);
  EveryCallSite call_sites;
  auto result = RewriteClass(
      bytes, {.filter = ScopeFilter::Everything(),
              .spec = settings.spec,
              .assign_id = [&settings](const MethodDeclaration&) { return settings.next_id++; },
              .targets = settings.sites ? &targets : nullptr,
              .counters = &counters,
              .call_sites = &call_sites});
  if (!result.ok()) {
    ++tally.rejected;
    std::printf("rejected %.*s: %s\n", static_cast<int>(name.size()), name.data(),
                std::string(result.status().message()).c_str());
    return bytes;
  }
  tally.calls += result->probes.calls + result->probes.natives;
  tally.exceptions += result->probes.exceptions;
  tally.blocks += result->probes.blocks;
  tally.block_counters += result->probes.block_counters;
  tally.throw_counters += result->probes.throw_counters;
  for (size_t i = 0; i < tally.calls_left_out.size(); ++i) {
    tally.calls_left_out[i] += result->probes.calls_left_out[i];
  }
  for (const MethodOutcome& outcome : result->methods) {
    ++tally.by_reason[static_cast<size_t>(outcome.reason)];
    tally.probed += outcome.probed ? 1 : 0;
    tally.leaves += outcome.is_leaf ? 1 : 0;
    if (Describe(outcome.reason).effect != Effect::kUntouched) continue;
    std::printf("refused %.*s.%s%s: %s\n", static_cast<int>(name.size()), name.data(),
                std::string(outcome.method.name).c_str(),
                std::string(outcome.method.descriptor).c_str(),
                std::string(Describe(outcome.reason).name).c_str());
  }
  if (result->bytes.empty()) return bytes;
  ++tally.rewritten;
  storage = std::move(result->bytes);
  return storage;
}

void Print(const Tally& tally) {
  std::printf("classes %zu rewritten %zu rejected %zu probed %zu leaves %zu\n", tally.classes,
              tally.rewritten, tally.rejected, tally.probed, tally.leaves);
  size_t refused = 0;
  for (const ReasonInfo& info : AllReasons()) {
    const size_t count = tally.by_reason[static_cast<size_t>(info.reason)];
    if (info.effect == Effect::kUntouched) refused += count;
    if (count != 0) std::printf("reason %s %zu\n", std::string(info.name).c_str(), count);
  }
  std::printf("calls %zu exceptions %zu\n", tally.calls, tally.exceptions);
  if (tally.blocks != 0) {
    std::printf("blocks %zu block counters %zu throw counters %zu\n", tally.blocks,
                tally.block_counters, tally.throw_counters);
  }
  for (size_t i = 0; i < tally.calls_left_out.size(); ++i) {
    if (tally.calls_left_out[i] == 0) continue;
    std::printf("calls left out: %s %zu\n",
                std::string(Describe(static_cast<CallReason>(i)).name).c_str(),
                tally.calls_left_out[i]);
  }
  std::printf("refused %zu of %zu methods\n", refused, refused + tally.probed);
}

std::vector<uint8_t> ReadFile(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int Run(const char* in_path, const char* out_path, Settings settings) {
  const std::vector<uint8_t> pack = ReadFile(in_path);
  ByteReader reader(pack);
  ByteWriter out;
  out.Reserve(pack.size() * 2);
  Tally tally;
  std::vector<uint8_t> storage;
  while (!reader.AtEnd()) {
    const Bytes name = reader.Take(reader.U4());
    const Bytes bytes = reader.Take(reader.U4());
    if (!reader.ok()) {
      std::fprintf(stderr, "jtrace-rewrite: %s is cut short\n", in_path);
      return 1;
    }
    const Bytes written = RewriteEntry(AsText(name), bytes, settings, storage, tally);
    out.U4(static_cast<uint32_t>(name.size()));
    out.Append(name);
    out.U4(static_cast<uint32_t>(written.size()));
    out.Append(written);
  }
  std::ofstream file(out_path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size()));
  file.close();
  Print(tally);
  return file ? 0 : 1;
}

}  // namespace
}  // namespace jtrace::classfile

int main(int argc, char** argv) {
  jtrace::classfile::Settings settings;
  bool blocks = false;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    const std::string option = argv[at];
    if (option == "--flat") {
      settings.spec = jtrace::classfile::ProbeSpec::Flat();
    } else if (option == "--leaves") {
      settings.spec = jtrace::classfile::ProbeSpec::TreeWithLeaves();
    } else if (option == "--sites") {
      settings.sites = true;
    } else if (option == "--places") {
      settings.spec.call_site = "at";
    } else if (option == "--blocks") {
      blocks = true;
    } else if (option == "--paths") {
      blocks = settings.spec.blocks_by_path = true;
    } else if (option == "--skip-object") {
      settings.skip_object = true;
    } else if (option.starts_with("--id-base=")) {
      settings.next_id = static_cast<uint32_t>(std::strtoul(option.c_str() + 10, nullptr, 10));
    } else {
      at = argc;
    }
  }
  if (blocks) settings.spec.block_owner = "java/lang/invoke/JTraceBlocks";
  settings.spec.boundary = settings.spec.thrown = settings.spec.caught = settings.spec.monitors =
      settings.sites;
  settings.spec.timed_calls = settings.spec.elements = settings.sites;
  if (argc - at != 2) {
    std::fprintf(stderr,
                 "usage: jtrace-rewrite [--flat|--leaves] [--sites] [--blocks|--paths] [--places] "
                 "[--skip-object] [--id-base=N] IN.pack OUT.pack\n");
    return 2;
  }
  return jtrace::classfile::Run(argv[at], argv[at + 1], settings);
}
