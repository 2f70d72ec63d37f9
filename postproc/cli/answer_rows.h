// The rows of a query's answer, by the names of its columns.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "postproc/duckdb/session.h"

namespace jtrace::control {

// Empty for null; doubles with all their digits.
std::string TextOf(const postproc::duckdb::Value& value);

// The answer outlives it, and has the columns that are asked for.
class AnswerRows {
 public:
  explicit AnswerRows(const postproc::duckdb::Answer& answer) : answer_(answer) {}

  size_t size() const { return answer_.rows.size(); }
  const postproc::duckdb::Value& at(size_t row, std::string_view column) const {
    return answer_.rows[row][static_cast<size_t>(answer_.Find(column))];
  }
  std::string Text(size_t row, std::string_view column) const { return TextOf(at(row, column)); }
  // Rounded; 0 for null and text.
  int64_t Number(size_t row, std::string_view column) const {
    const postproc::duckdb::Value& value = at(row, column);
    if (const double* real = std::get_if<double>(&value)) return std::llround(*real);
    const int64_t* number = std::get_if<int64_t>(&value);
    return number != nullptr ? *number : 0;
  }

 private:
  const postproc::duckdb::Answer& answer_;
};

}  // namespace jtrace::control
