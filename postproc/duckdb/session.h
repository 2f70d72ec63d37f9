// A database in memory, and the answers of its queries.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "postproc/duckdb/library.h"

namespace jtrace::postproc::duckdb {

// monostate: null.
using Value = std::variant<std::monostate, bool, int64_t, double, std::string>;

struct Answer {
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;
  // The place of a column, or -1.
  int Find(std::string_view column) const;
};

// One thread at a time; DuckDB itself uses all processors.
class Session {
 public:
  static absl::StatusOr<Session> Open(const Library& library);
  Session(Session&& other) noexcept;
  Session& operator=(Session&&) = delete;
  ~Session();

  // The last statement's answer. Its columns are BOOLEAN, INTEGER, BIGINT, DOUBLE or VARCHAR;
  // Internal for others, and with DuckDB's message for an error in the query.
  absl::StatusOr<Answer> Query(const std::string& sql);

 private:
  explicit Session(const Library& library) : library_(library) {}
  absl::StatusOr<Answer> Read(Result& result) const;
  absl::Status ReadChunk(Handle chunk, const std::vector<int>& types, Answer& answer) const;

  Library library_;
  Handle database_ = nullptr;
  Handle connection_ = nullptr;
};

}  // namespace jtrace::postproc::duckdb
