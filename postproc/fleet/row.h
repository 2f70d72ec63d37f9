// One row of a table, column by column in their order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "postproc/parquet/file.h"

namespace jtrace::postproc::fleet {

class Row {
 public:
  explicit Row(parquet::Table& table) : table_(table) {}

  Row& Int(int64_t value) {
    Next().Add(value);
    return *this;
  }
  Row& Maybe(std::optional<int64_t> value) {
    Next().AddMaybe(value);
    return *this;
  }
  Row& Bool(bool value) { return Int(value ? 1 : 0); }
  Row& Text(std::string_view value) {
    Next().AddText(value);
    return *this;
  }
  // Null if it is empty: unknown.
  Row& TextOrNull(std::string_view value) { return value.empty() ? Null() : Text(value); }
  Row& Null() {
    Next().AddNull();
    return *this;
  }

 private:
  parquet::Column& Next() { return table_[column_++]; }

  parquet::Table& table_;
  size_t column_ = 0;
};

}  // namespace jtrace::postproc::fleet
