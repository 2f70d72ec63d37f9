#include "agent/calls/classfile/class_rewriter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "agent/calls/classfile/method_rewriter.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"

namespace jtrace::classfile {
namespace {

// Returns the method's code_length; 0 if its Code attribute is too short.
uint32_t CodeSize(const ClassFile& file, const MethodInfo& method) {
  if (method.code_end - method.code_begin < kCodeOffset) return 0;
  return LoadU4(file.bytes.data() + method.code_begin + kCodeLengthOffset);
}

RewriteResult Outline(const ClassFile& file) {
  RewriteResult result;
  result.class_name = file.this_name;
  result.super_name = file.super_name;
  result.access = file.access;
  result.major_version = file.major_version;
  result.methods.reserve(file.methods.size());
  for (const MethodInfo& method : file.methods) {
    MethodOutcome& outcome = result.methods.emplace_back();
    outcome.method = {.class_name = file.this_name,
                      .name = method.name,
                      .descriptor = method.descriptor,
                      .access = method.access,
                      .index = static_cast<uint16_t>(result.methods.size() - 1),
                      .code_size = method.has_code() ? CodeSize(file, method) : 0};
    outcome.reason = method.has_code() ? Reason::kOutOfScope : Reason::kNoCode;
  }
  return result;
}

void SetCounters(MethodRewriter& rewriter, CounterIds& ids, MethodOutcome& outcome,
                 ByteWriter& methods) {
  outcome.has_blocks = rewriter.has_blocks();
  outcome.counters.assign(rewriter.counters().begin(), rewriter.counters().end());
  if (outcome.has_blocks) {
    rewriter.ForEachMove([&](uint32_t now, uint32_t before) {
      outcome.moved.push_back({now, before});
    });
  }
  if (outcome.counters.empty()) return;
  const auto count = std::count_if(outcome.counters.begin(), outcome.counters.end(), IsCounter);
  outcome.first_counter = ids.NewIds(static_cast<uint32_t>(count));
  rewriter.SetCounters(outcome.first_counter, methods);
}

std::vector<uint8_t> Assemble(const ClassFile& file, const ConstantPoolBuilder& pool,
                              Bytes methods) {
  constexpr size_t kPoolCountAt = 8;  // after magic, minor_version and major_version (JVMS 4.1)
  ByteWriter out;
  out.Reserve(file.bytes.size() + pool.added().size() + methods.size());
  out.Append(file.bytes.first(file.pool_end));
  out.PatchU2(kPoolCountAt, pool.count());
  out.Append(pool.added());
  out.Append(file.bytes.subspan(file.pool_end, file.methods_begin + 2 - file.pool_end));
  out.Append(methods);
  out.Append(file.bytes.subspan(file.methods_end));
  return out.Release();
}

}  // namespace

absl::StatusOr<RewriteResult> RewriteClass(absl::Span<const uint8_t> class_bytes,
                                           const InstrumentSettings& settings) {
  absl::StatusOr<ClassFile> file = ParseClassFile(class_bytes);
  if (!file.ok()) return file.status();
  RewriteResult result = Outline(*file);
  const ScopeFilter::ClassScope scope = settings.filter.ScopeOf(file->this_name);
  const bool unwound =
      settings.unwinds != nullptr && settings.unwinds->MayMatchClass(file->this_name);
  if (scope == ScopeFilter::ClassScope::kNone && !unwound) return result;

  ConstantPoolBuilder pool(file->pool);
  std::optional<ProbePointFinder> finder;
  if (settings.targets != nullptr) {
    finder.emplace(*file, settings.filter, settings.spec, *settings.targets);
  }
  const bool count_entry = settings.counters != nullptr && !settings.spec.block_owner.empty() &&
                           settings.counters->NeedsEntryCounters(file->this_name);
  MethodRewriter rewriter(*file, settings, pool, finder ? &*finder : nullptr);
  ByteWriter methods;
  methods.Reserve((file->methods_end - file->methods_begin) * 3 / 2);
  bool changed = false;
  for (size_t i = 0; i < file->methods.size(); ++i) {
    const MethodInfo& method = file->methods[i];
    MethodOutcome& outcome = result.methods[i];
    const bool in_scope =
        method.has_code() && (scope == ScopeFilter::ClassScope::kAllMethods ||
                              settings.filter.Includes(file->this_name, method.name));
    const bool unwind =
        method.has_code() && unwound && settings.unwinds->Includes(file->this_name, method.name);
    if (in_scope || unwind) {
      outcome.reason = rewriter.Rewrite(
          method, {.probes = in_scope, .unwind = unwind, .count_entry = count_entry}, methods);
    }
    if (!(in_scope || unwind) || outcome.reason == Reason::kOutOfScope ||
        Describe(outcome.reason).effect == Effect::kUntouched) {
      methods.Append(class_bytes.subspan(method.begin, method.end - method.begin));
      continue;
    }
    changed = true;
    outcome.probed = in_scope && settings.spec.methods;
    outcome.unwound = unwind;
    if (outcome.probed) outcome.is_leaf = rewriter.is_leaf();
    if (outcome.probed || unwind) outcome.id = settings.assign_id(outcome.method);
    rewriter.SetId(outcome.id, methods);
    if (outcome.probed && rewriter.has_call_sites()) {
      outcome.call_sites = rewriter.CallSites();
      outcome.only_call_site = rewriter.only_call_site();
    }
    if (settings.counters != nullptr) {
      SetCounters(rewriter, *settings.counters, outcome, methods);
    }
  }
  result.probes = rewriter.counts();
  if (changed) result.bytes = Assemble(*file, pool, methods.bytes());
  return result;
}

absl::StatusOr<RewriteResult> Summarize(absl::Span<const uint8_t> class_bytes) {
  absl::StatusOr<ClassFile> file = ParseClassFile(class_bytes);
  if (!file.ok()) return file.status();
  return Outline(*file);
}

}  // namespace jtrace::classfile
