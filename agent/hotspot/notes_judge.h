// Judges the debug information of compilations when samples first meet them.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/hot/walk/chain.h"
#include "agent/hot/walk/code_cache.h"
#include "agent/hot/walk/vm_layout.h"
#include "agent/hotspot/address_set.h"

namespace jtrace::sampling {

// A program has some thousand compilations, and samples interrupt a tenth of them: to judge each
// one as it is made would cost more than the samples. So the handler marks an interrupted frame of
// code that is not in VmLayout::judged_code (UnjudgedFrame), and whoever reads the sample judges
// the code and corrects the frame.
//
// Thread-safe.
class NotesJudge {
 public:
  explicit NotesJudge(hot::VmLayout* layout) : layout_(layout) {}

  // Lets handlers see the verdicts. Before they run.
  void Publish();

  // Forgets the verdicts, for a new recording: keys of code that was freed would add up. No handler
  // whose samples are kept runs.
  void Clear();

  // Of an nmethod that is alive during the call.
  void Judge(const hot::CodeBlob& nmethod);

  // Judges the code of a sample's frame. True: what the frame has is wrong; `methods` are the right
  // ones, the innermost first. Code that was freed meanwhile is not judged.
  bool Correct(const hot::UnjudgedFrame& frame, std::vector<hot::Frame>* methods);

 private:
  // Whether the frame's code is still there.
  bool Find(const hot::UnjudgedFrame& frame, hot::CodeBlob* nmethod) const;
  void Add(uintptr_t compilation, bool wrong, uintptr_t nmethod);

  hot::VmLayout* const layout_;
  AddressSet judged_;
  AddressSet unreliable_;
};

}  // namespace jtrace::sampling
