#include "agent/hotspot/notes_judge.h"

#include <atomic>

#include "agent/hot/walk/debug_info.h"
#include "agent/hot/walk/known_frames.h"
#include "agent/hotspot/code_notes.h"

namespace jtrace::sampling {
namespace {

bool Has(const AddressSet& set, uintptr_t compilation) {
  return set.published()->load(std::memory_order_acquire)->Contains(compilation);
}

}  // namespace

void NotesJudge::Publish() {
  layout_->judged_code = judged_.published();
  layout_->unreliable_code = unreliable_.published();
}

void NotesJudge::Clear() {
  judged_.Clear();
  unreliable_.Clear();
}

void NotesJudge::Judge(const hot::CodeBlob& nmethod) {
  const uintptr_t compilation = hot::CompilationKey(*layout_, nmethod.address);
  if (Has(judged_, compilation)) return;
  Add(compilation, NotesAreWrong(*layout_, nmethod), nmethod.address);
}

void NotesJudge::Add(uintptr_t compilation, bool wrong, uintptr_t nmethod) {
  if (wrong) {
    unreliable_.Add(compilation);
    hot::ForgetKnownFrames(nmethod);
  }
  judged_.Add(compilation);
}

bool NotesJudge::Find(const hot::UnjudgedFrame& frame, hot::CodeBlob* nmethod) const {
  return hot::FindBlob(*layout_, frame.pc, nmethod) && nmethod->IsCompiled() &&
         hot::CompilationKey(*layout_, nmethod->address) == frame.compilation;
}

bool NotesJudge::Correct(const hot::UnjudgedFrame& frame, std::vector<hot::Frame>* methods) {
  hot::CodeBlob nmethod;
  if (!Find(frame, &nmethod)) return false;
  if (!Has(judged_, frame.compilation)) {
    const bool wrong = NotesAreWrong(*layout_, nmethod);
    if (!Find(frame, &nmethod)) return false;  // perhaps it was freed, and other memory was read
    Add(frame.compilation, wrong, nmethod.address);
  }
  if (!Has(unreliable_, frame.compilation)) return false;
  constexpr uint32_t kMostMethods = 256;
  methods->resize(kMostMethods);
  hot::Chain chain(methods->data(), kMostMethods);
  const bool found =
      hot::DebugInfo(*layout_, nmethod).PushScopes(frame.pc, /*interrupted=*/true, 0, chain);
  if (!found || !Find(frame, &nmethod)) return false;
  methods->resize(chain.pushed());
  return true;
}

}  // namespace jtrace::sampling
