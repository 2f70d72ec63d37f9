#include "java-tests/walker/path_checker.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace jtrace::walker_test {
namespace {

constexpr int kBitsPerCall = 2;

bool OneCallMore(uint64_t longer, uint64_t shorter) { return longer >> kBitsPerCall == shorter; }

bool IsPrefix(uint64_t prefix, uint64_t path) {
  while (path > prefix) path >>= kBitsPerCall;
  return path == prefix;
}

}  // namespace

void PathChecker::Register(const uint64_t (&methods)[4], std::vector<uint64_t> leaves) {
  std::copy(std::begin(methods), std::end(methods), methods_);
  leaves_ = std::move(leaves);
  registered_ = true;
}

uint64_t PathChecker::Spell(const samples::SampleView& sample, uint32_t from) const {
  uint64_t path = 1;
  for (uint32_t i = sample.header.frame_count; i-- > from;) {
    if (!samples::IsJava(sample.frames[i])) continue;
    for (uint64_t m = 0; m < 4; ++m) {
      if (sample.frames[i].value == methods_[m]) path = path << kBitsPerCall | m;
    }
  }
  return path;
}

bool PathChecker::MayHoldMore(const samples::Frame& frame) const {
  return frame.kind == samples::FrameKind::kCompiled &&
         std::find(leaves_.begin(), leaves_.end(), frame.value) == leaves_.end();
}

std::string PathChecker::Check(const samples::SampleView& sample) {
  if (!sample.header.position_known || sample.header.end == samples::ChainEnd::kFailed) return "";
  // The interrupted frame, below the kernel's frames: the inlined methods, and the one they are
  // inlined into.
  uint32_t outermost = 0;
  const auto skip = [&](samples::FrameKind kind) {
    while (outermost < sample.header.frame_count && sample.frames[outermost].kind == kind) {
      ++outermost;
    }
  };
  skip(samples::FrameKind::kKernel);
  skip(samples::FrameKind::kInlined);
  if (outermost == sample.header.frame_count) return "no frames";
  const uint64_t expected = sample.header.node;
  const uint64_t path = Spell(sample, 0);
  const uint64_t certain = Spell(sample, outermost);
  const bool close = path == expected || OneCallMore(path, expected) || OneCallMore(expected, path);
  ++checked_;
  if (path == expected) ++equal_;
  if (!close) ++inexact_;
  // The one additional call may just be calling publish.
  const bool right = MayHoldMore(sample.frames[outermost])
                         ? IsPrefix(certain, expected) || OneCallMore(certain, expected)
                         : close;
  if (right) return "";
  ++mismatches_;
  char text[100];
  snprintf(text, sizeof text, "path %lx, certain %lx, expected %lx", path, certain, expected);
  return text;
}

bool PathChecker::Ok(double max_inexact, double max_unequal) const {
  if (!registered_) return true;
  const auto within = [this](uint64_t count, double percent) {
    return 100.0 * static_cast<double>(count) <= percent * static_cast<double>(checked_);
  };
  return mismatches_ == 0 && checked_ > 0 && within(inexact_, max_inexact) &&
         within(checked_ - equal_, max_unequal);
}

std::string PathChecker::Summary() const {
  return "paths checked " + std::to_string(checked_) + " equal " + std::to_string(equal_) +
         " inexact leaf " + std::to_string(inexact_) + " mismatches " + std::to_string(mismatches_);
}

}  // namespace jtrace::walker_test
