// Open readers, each with its own cursor. Any thread, no handler. Readings of one reader run one
// after the other, those of different readers in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "agent/abi/totals.h"

namespace jtrace::abi {

class Readers {
 public:
  static constexpr size_t kMost = 65536;

  // Returns error codes; `subject` must be resolved.
  int32_t Open(const Subject& subject, const uint32_t* ids, size_t count, uint64_t& reader);
  int32_t Read(uint64_t reader, int64_t* totals, int64_t* deltas);
  int32_t Close(uint64_t reader);

 private:
  struct Reader {
    Subject subject;
    std::vector<uint32_t> ids;
    std::mutex mutex;  // guards the members below
    std::vector<int64_t> last;
    std::vector<int64_t> now;
  };

  std::mutex mutex_;  // guards the members below; a leaf
  uint64_t last_ = 0;
  absl::flat_hash_map<uint64_t, std::shared_ptr<Reader>> readers_;
};

}  // namespace jtrace::abi
