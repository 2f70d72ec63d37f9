// Interned strings: one number for each distinct text, dense from 1 on.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "postproc/support/strings.h"

namespace jtrace::postproc {

// Its views stay valid as long as the pool. IdType is an Id<…>.
template <typename IdType>
class StringPool {
 public:
  IdType Intern(std::string_view text) {
    if (auto found = ids_.find(text); found != ids_.end()) return found->second;
    const std::string& kept = texts_.emplace_back(text);
    const IdType id(static_cast<uint32_t>(texts_.size()));
    ids_.emplace(kept, id);
    return id;
  }

  // The id of an interned text, or none.
  IdType Find(std::string_view text) const {
    auto found = ids_.find(text);
    return found == ids_.end() ? IdType() : found->second;
  }

  // Empty for "none".
  std::string_view Text(IdType id) const {
    return id ? std::string_view(texts_[id.value - 1]) : std::string_view();
  }

  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  ViewMap<IdType> ids_;
};

}  // namespace jtrace::postproc
