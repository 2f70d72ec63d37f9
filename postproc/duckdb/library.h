// The part of DuckDB's C interface that jtrace uses, from a libduckdb.so that is loaded by its
// absolute path. The build needs nothing of DuckDB.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace jtrace::postproc::duckdb {

// As duckdb.h declares them.
using Handle = void*;
struct Result {
  uint64_t unused_counts[3] = {};
  void* unused_columns = nullptr;
  char* unused_error = nullptr;
  void* data = nullptr;
};
// A value of a text column: up to twelve bytes are in place; of longer ones there are the first
// four, and a pointer to all.
struct alignas(const char*) TextValue {
  uint32_t length = 0;
  char inlined[12] = {};

  std::string_view text() const {
    if (length <= sizeof inlined) return {inlined, length};
    const char* all = nullptr;
    std::memcpy(&all, inlined + 4, sizeof all);
    return {all, length};
  }
};
static_assert(sizeof(Result) == 48 && sizeof(TextValue) == 16);
enum TypeNumber { kBoolean = 1, kInteger = 4, kBigint = 5, kDouble = 11, kVarchar = 17 };

struct Library {
  int (*open)(const char* path, Handle* database) = nullptr;
  void (*close)(Handle* database) = nullptr;
  int (*connect)(Handle database, Handle* connection) = nullptr;
  void (*disconnect)(Handle* connection) = nullptr;
  int (*query)(Handle connection, const char* sql, Result* result) = nullptr;
  void (*destroy_result)(Result* result) = nullptr;
  const char* (*result_error)(Result* result) = nullptr;
  uint64_t (*column_count)(Result* result) = nullptr;
  const char* (*column_name)(Result* result, uint64_t column) = nullptr;
  int (*column_type)(Result* result, uint64_t column) = nullptr;
  Handle (*fetch_chunk)(Result result) = nullptr;
  void (*destroy_chunk)(Handle* chunk) = nullptr;
  uint64_t (*chunk_size)(Handle chunk) = nullptr;
  Handle (*chunk_vector)(Handle chunk, uint64_t column) = nullptr;
  void* (*vector_data)(Handle vector) = nullptr;
  uint64_t* (*vector_validity)(Handle vector) = nullptr;
};

// It stays loaded. NotFound with the loader's reason; InvalidArgument if the path is not absolute,
// or the library is another.
absl::StatusOr<Library> LoadLibrary(const std::string& path);

}  // namespace jtrace::postproc::duckdb
