#include "agent/jvm/hotspot/code_cache_check.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/jvm/hotspot/checked_read.h"
#include "agent/samples/walk/call_instruction.h"

namespace jtrace::jvm {

using samples::kAbsent;
using samples::VmLayout;

namespace {

constexpr uintptr_t kMaxBytes = uintptr_t{1} << 32;
constexpr int kBlobsOfAHeap = 32;
constexpr uint8_t kFree = 0xff;

absl::Status Wrong(std::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the code cache of this JVM is not as its tables say (", std::string(what), ")"));
}

// A code heap, read once.
struct Heap {
  uintptr_t low, high;
  uint32_t shift;
  std::vector<uint8_t> map;  // a byte for each segment (BlockOf)

  uintptr_t AddressOf(size_t segment) const { return low + (segment << shift); }
  // The first segment after `segment` at which a block begins.
  size_t BlockAfter(size_t segment) const {
    do {
      ++segment;
    } while (segment < map.size() && map[segment] != 0);
    return segment;
  }
  // The segment at which the block with `address` begins; none if it is free or not in this heap.
  // An entry is the number of segments to go back, in several hops if they are many.
  std::optional<size_t> BlockOf(uintptr_t address) const {
    if (address < low || address >= low + (map.size() << shift)) return std::nullopt;
    size_t segment = (address - low) >> shift;
    while (map[segment] != 0) {
      if (map[segment] == kFree || map[segment] > segment) return std::nullopt;
      segment -= map[segment];
    }
    return segment;
  }
};

class CodeCacheCheck {
 public:
  explicit CodeCacheCheck(const VmLayout& layout) : layout_(layout) {}

  absl::Status Run() {
    low_ = Variable(layout_.code_low);
    high_ = Variable(layout_.code_high);
    if (low_ == 0 || high_ <= low_ || high_ - low_ > kMaxBytes) return Wrong("its bounds");
    if (layout_.heap_count <= 0) return Wrong("no heaps");
    for (int i = 0; i < layout_.heap_count; ++i) {
      Heap heap;
      if (absl::Status status = ReadHeap(layout_.heaps[i], &heap); !status.ok()) return status;
      if (absl::Status status = WalkBlobs(heap); !status.ok()) return status;
      // The walk may end before these two: an AOT cache puts hundreds of adapters before them.
      CheckBlobAt(heap, layout_.interpreter_low);
      CheckBlobAt(heap, layout_.call_stub_return);
    }
    if (!has_interpreter_) return Wrong("the interpreter is in no blob of that name");
    return has_call_stub_ ? absl::OkStatus()
                          : Wrong("the call stub does not return to where a call ends");
  }

 private:
  uintptr_t Variable(const uintptr_t* address) {
    return reader_.Load<uintptr_t>(reinterpret_cast<uintptr_t>(address));
  }
  template <typename T>
  T Field(uintptr_t object, samples::Offset offset) {
    return reader_.Load<T>(object + static_cast<uintptr_t>(offset));
  }

  absl::Status ReadHeap(const VmLayout::CodeHeap& from, Heap* heap) {
    *heap = {Variable(from.low), Variable(from.high), from.segment_shift, {}};
    if (heap->low < low_ || heap->high <= heap->low || heap->high > high_) {
      return Wrong("a heap's bounds");
    }
    if (heap->shift < 4 || heap->shift > 16) return Wrong("a heap's segments");
    heap->map.resize((heap->high - heap->low) >> heap->shift);
    if (!CheckedCopy(Variable(from.segment_map), heap->map.data(), heap->map.size())) {
      return Wrong("a heap's segment map");
    }
    const bool begins = !heap->map.empty() && (heap->map[0] == 0 || heap->map[0] == kFree);
    return begins ? absl::OkStatus() : Wrong("a heap does not begin with a block");
  }

  // A compiler may be making some of the blobs right now. If an offset is wrong, all blobs are.
  absl::Status WalkBlobs(const Heap& heap) {
    constexpr int kMaxWrongShare = 4;
    int right = 0, wrong = 0;
    absl::Status last = absl::OkStatus();
    for (size_t at = 0; at < heap.map.size() && right + wrong < kBlobsOfAHeap;) {
      const size_t next = heap.BlockAfter(at);
      const uintptr_t block = heap.AddressOf(at);
      const bool is_block = heap.map[at] == 0;
      at = next;
      if (!is_block) continue;
      const auto used = Field<uint8_t>(block, layout_.heap_block_used);
      if (used == 0) continue;
      const absl::Status status =
          used > 1 ? Wrong("blocks are neither used nor free")
                   : CheckBlob(block + layout_.heap_block_header, heap.AddressOf(next));
      ++(status.ok() ? right : wrong);
      if (!status.ok()) last = status;
    }
    return wrong * kMaxWrongShare > right ? last : absl::OkStatus();
  }

  void CheckBlobAt(const Heap& heap, uintptr_t address) {
    const std::optional<size_t> segment = heap.BlockOf(address);
    if (!segment.has_value()) return;
    const uintptr_t blob = heap.AddressOf(*segment) + layout_.heap_block_header;
    CheckBlob(blob, heap.AddressOf(heap.BlockAfter(*segment))).IgnoreError();
  }

  // Checks a blob, which must end before `limit`, where the next one begins.
  absl::Status CheckBlob(uintptr_t blob, uintptr_t limit) {
    const auto size = Field<int32_t>(blob, layout_.blob.size);
    const uintptr_t end = blob + static_cast<uintptr_t>(std::max(size, 0));
    if (size <= 0 || end > limit) return Wrong("a blob's size");
    const uintptr_t code = CodeOf(blob);
    if (code <= blob || code > end) return Wrong("where a blob's code begins");
    const auto frame_size = Field<int32_t>(blob, layout_.blob.frame_size);
    if (frame_size < -1 || frame_size > size) return Wrong("a blob's frame size");
    const std::string name = reader_.Text(Field<uintptr_t>(blob, layout_.blob.name), 64);
    constexpr auto is_text = [](char c) { return c >= ' ' && c <= '~'; };
    if (name.size() < 2 || !std::all_of(name.begin(), name.end(), is_text)) {
      return Wrong("a blob's name");
    }
    if (name == "Interpreter") {
      has_interpreter_ |= IsInterpreter(code, end);
    } else if (name != "nmethod" && name != "native nmethod") {
      has_call_stub_ |= HasCallStub(code, end);
    }
    return absl::OkStatus();
  }

  uintptr_t CodeOf(uintptr_t blob) {
    return layout_.blob.code_offset != kAbsent
               ? blob + static_cast<uintptr_t>(Field<int32_t>(blob, layout_.blob.code_offset))
               : Field<uintptr_t>(blob, layout_.blob.code_begin);
  }

  // Whether the queue of the interpreter's codelets fills this code of a blob.
  bool IsInterpreter(uintptr_t code, uintptr_t end) const {
    constexpr uintptr_t kAlignment = 64;
    return layout_.interpreter_low >= code && layout_.interpreter_low - code < kAlignment &&
           layout_.interpreter_high > layout_.interpreter_low && layout_.interpreter_high <= end &&
           end - layout_.interpreter_high < kAlignment;
  }

  // Whether this code of a blob has the call stub: a call ends where it returns. The blob has many
  // names: "StubRoutines (1)" or "(initial stubs)", from an AOT cache "initial_blob (stub gen)".
  bool HasCallStub(uintptr_t code, uintptr_t end) {
    std::array<uint8_t, 8> before;
    const uintptr_t address = layout_.call_stub_return;
    if (address < code + before.size() || address >= end) return false;
    return reader_.Copy(address - before.size(), before.data(), before.size()) &&
           samples::EndsWithCall(before.data());
  }

  const VmLayout& layout_;
  PageReader reader_;
  uintptr_t low_ = 0, high_ = 0;
  bool has_interpreter_ = false, has_call_stub_ = false;
};

}  // namespace

absl::Status CheckCodeCache(const VmLayout& layout) {
  // A small heap may have one blob, and a compiler may be making it.
  constexpr int kTries = 3;
  constexpr useconds_t kPauseUs = 1000;
  absl::Status status = CodeCacheCheck(layout).Run();
  for (int i = 1; i < kTries && !status.ok(); ++i) {
    usleep(kPauseUs);
    status = CodeCacheCheck(layout).Run();
  }
  return status;
}

}  // namespace jtrace::jvm
