#include "postproc/duckdb/session.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::duckdb {
namespace {

bool IsRead(int type) {
  return type == kBoolean || type == kInteger || type == kBigint || type == kDouble ||
         type == kVarchar;
}

Value ReadValue(const void* data, int type, uint64_t row) {
  switch (type) {
    case kBoolean:
      return static_cast<const bool*>(data)[row];
    case kInteger:
      return int64_t{static_cast<const int32_t*>(data)[row]};
    case kBigint:
      return static_cast<const int64_t*>(data)[row];
    case kDouble:
      return static_cast<const double*>(data)[row];
    default:
      return std::string(static_cast<const TextValue*>(data)[row].text());
  }
}

}  // namespace

int Answer::Find(std::string_view column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

absl::StatusOr<Session> Session::Open(const Library& library) {
  Session session(library);
  if (library.open(":memory:", &session.database_) != 0 ||
      library.connect(session.database_, &session.connection_) != 0) {
    return absl::InternalError("DuckDB cannot open a database in memory");
  }
  // What a query needs is in the library: nothing is fetched. Without a folder for what memory does
  // not hold: the usual one is `.tmp` in the user's current folder.
  for (const char* setting : {"SET autoinstall_known_extensions = false",
                              "SET autoload_known_extensions = false", "SET temp_directory = ''"}) {
    if (const auto done = session.Query(setting); !done.ok()) return done.status();
  }
  return session;
}

Session::Session(Session&& other) noexcept
    : library_(other.library_),
      database_(std::exchange(other.database_, nullptr)),
      connection_(std::exchange(other.connection_, nullptr)) {}

Session::~Session() {
  if (connection_ != nullptr) library_.disconnect(&connection_);
  if (database_ != nullptr) library_.close(&database_);
}

absl::StatusOr<Answer> Session::Query(const std::string& sql) {
  Result result;
  const bool is_done = library_.query(connection_, sql.c_str(), &result) == 0;
  const absl::Cleanup destroy = [&] { library_.destroy_result(&result); };
  if (is_done) return Read(result);
  const char* const error = library_.result_error(&result);
  std::string message = error != nullptr ? error : "unknown error";
  std::replace(message.begin(), message.end(), '\n', ' ');
  return absl::InternalError(StrCat("DuckDB: ", message));
}

absl::StatusOr<Answer> Session::Read(Result& result) const {
  Answer answer;
  std::vector<int> types;
  for (uint64_t i = 0; i < library_.column_count(&result); ++i) {
    answer.columns.emplace_back(library_.column_name(&result, i));
    types.push_back(library_.column_type(&result, i));
  }
  while (Handle chunk = library_.fetch_chunk(result)) {
    const absl::Status status = ReadChunk(chunk, types, answer);
    library_.destroy_chunk(&chunk);
    if (!status.ok()) return status;
  }
  return answer;
}

absl::Status Session::ReadChunk(Handle chunk, const std::vector<int>& types, Answer& answer) const {
  const uint64_t size = library_.chunk_size(chunk);
  const size_t first = answer.rows.size();
  answer.rows.resize(first + size, std::vector<Value>(types.size()));
  for (uint64_t column = 0; column < types.size(); ++column) {
    Handle const vector = library_.chunk_vector(chunk, column);
    const void* const data = library_.vector_data(vector);
    const uint64_t* const validity = library_.vector_validity(vector);
    if (size > 0 && !IsRead(types[column])) {
      return absl::InternalError(StrCat("column ", answer.columns[column], " has the type ",
                                        types[column], " of DuckDB: cast it in the query"));
    }
    for (uint64_t row = 0; row < size; ++row) {
      if (validity != nullptr && (validity[row / 64] >> (row % 64) & 1) == 0) continue;
      answer.rows[first + row][column] = ReadValue(data, types[column], row);
    }
  }
  return absl::OkStatus();
}

}  // namespace jtrace::postproc::duckdb
