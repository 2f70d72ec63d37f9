// Strings of a trace by number. A string that definitions use is forgotten with the last of them;
// others are kept. A forgotten string that occurs again gets a new number.
//
// Not synchronised: RecordEncoder's mutex guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace jtrace::trace {

class StringTable {
 public:
  struct Interned {
    uint32_t id = 0;
    bool is_new = false;
  };
  // "" is 0.
  Interned Intern(absl::string_view text);
  // 0: unknown, or "".
  uint32_t Find(absl::string_view text) const;
  absl::string_view Text(uint32_t id) const;

  // A definition starts or stops using the string.
  void Use(uint32_t id);
  void Release(uint32_t id);

  // Numbers the strings 1, 2, 3 … without holes, in the order of their numbers so far. Returns the
  // new number of each old one.
  absl::flat_hash_map<uint32_t, uint32_t> Renumber();
  // By number, from 1 on: after Renumber, before anything else.
  std::vector<absl::string_view> All() const;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string text;
    uint32_t uses = 0;
  };

  uint32_t last_ = 0;
  absl::flat_hash_map<uint32_t, std::unique_ptr<Entry>> entries_;
  absl::flat_hash_map<absl::string_view, uint32_t> ids_;  // of the entries' texts
};

}  // namespace jtrace::trace
