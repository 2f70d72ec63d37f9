#include "postproc/parquet/column.h"

#include <utility>

#include "common/utf8.h"

namespace jtrace::postproc::parquet {

void Column::Add(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  auto [entry, inserted] = number_ids_.try_emplace(bits, static_cast<uint32_t>(numbers_.size()));
  if (inserted) numbers_.push_back(bits);
  indexes_.push_back(entry->second);
}

void Column::AddText(std::string_view value) {
  auto found = text_ids_.find(value);
  if (found == text_ids_.end()) {
    found = text_ids_.emplace(value, static_cast<uint32_t>(texts_.size())).first;
    texts_.push_back(ValidUtf8(value));
  }
  indexes_.push_back(found->second);
}

void Column::Reorder(const std::vector<uint32_t>& order) {
  std::vector<uint32_t> indexes;
  indexes.reserve(order.size());
  for (const uint32_t row : order) indexes.push_back(indexes_[row]);
  indexes_ = std::move(indexes);
}

}  // namespace jtrace::postproc::parquet
