#include "postproc/duckdb/library.h"

#include <dlfcn.h>

#include "postproc/support/strings.h"

namespace jtrace::postproc::duckdb {
namespace {

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

const char* LoadError() {
  const char* const error = dlerror();
  return error != nullptr ? error : "unknown error";
}

}  // namespace

absl::StatusOr<Library> LoadLibrary(const std::string& path) {
  if (!path.starts_with('/')) {
    return absl::InvalidArgumentError(StrCat("'", path, "' is not an absolute path"));
  }
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return absl::NotFoundError(LoadError());
  Library it;
  const bool is_complete =
      Find(handle, "duckdb_open", it.open) && Find(handle, "duckdb_close", it.close) &&
      Find(handle, "duckdb_connect", it.connect) &&
      Find(handle, "duckdb_disconnect", it.disconnect) && Find(handle, "duckdb_query", it.query) &&
      Find(handle, "duckdb_destroy_result", it.destroy_result) &&
      Find(handle, "duckdb_result_error", it.result_error) &&
      Find(handle, "duckdb_column_count", it.column_count) &&
      Find(handle, "duckdb_column_name", it.column_name) &&
      Find(handle, "duckdb_column_type", it.column_type) &&
      Find(handle, "duckdb_fetch_chunk", it.fetch_chunk) &&
      Find(handle, "duckdb_destroy_data_chunk", it.destroy_chunk) &&
      Find(handle, "duckdb_data_chunk_get_size", it.chunk_size) &&
      Find(handle, "duckdb_data_chunk_get_vector", it.chunk_vector) &&
      Find(handle, "duckdb_vector_get_data", it.vector_data) &&
      Find(handle, "duckdb_vector_get_validity", it.vector_validity);
  if (!is_complete) {
    return absl::InvalidArgumentError(StrCat(path, " is not DuckDB 1.0 or later: ", LoadError()));
  }
  return it;
}

}  // namespace jtrace::postproc::duckdb
