#include "postproc/cli/fleet_spark.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "postproc/cli/fleet_spark_script.h"
#include "postproc/cli/run_program.h"
#include "postproc/fleet/queries.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using postproc::StrCat;
using postproc::duckdb::Answer;
using postproc::duckdb::Value;

std::string ReadAll(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return std::string{std::istreambuf_iterator<char>(in), {}};
}

absl::Status WriteAll(const fs::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (out.good()) return absl::OkStatus();
  return absl::UnavailableError(StrCat("cannot write ", file.string(), ": ", strerror(errno)));
}

// Readable for this user alone: queries name services and hosts.
absl::StatusOr<fs::path> MakeFolder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "jtrace-spark-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) {
    return absl::UnavailableError(StrCat("cannot make the folder ", name, ": ", strerror(errno)));
  }
  return fs::path(name);
}

// The client's script and its folder are on this machine: executors get no code of ours.
ProgramStart Submission(const std::string& spark, const std::string& master,
                        const fs::path& folder) {
  constexpr std::string_view kLogged = "exec \"$@\" >\"$0\" 2>&1 </dev/null";
  ProgramStart start;
  start.command = {"/bin/sh",
                   "-c",
                   std::string(kLogged),
                   (folder / "log").string(),
                   StrCat(spark, "/bin/spark-submit"),
                   "--master",
                   master,
                   "--deploy-mode",
                   "client",
                   "--name",
                   "jtrace fleet"};
  for (const char* setting : {"spark.ui.showConsoleProgress=false",
                              "spark.sql.sources.partitionColumnTypeInference.enabled=false"}) {
    start.command.insert(start.command.end(), {"--conf", setting});
  }
  start.command.push_back((folder / "ask.py").string());
  start.command.push_back(folder.string());
  start.variable = StrCat("SPARK_HOME=", spark);
  return start;
}

absl::StatusOr<Value> ValueOf(const json& value) {
  if (value.is_null()) return Value();
  if (value.is_boolean()) return Value(value.get<bool>());
  if (value.is_number_integer()) return Value(value.get<int64_t>());
  if (value.is_number()) return Value(value.get<double>());
  if (value.is_string()) return Value(value.get<std::string>());
  return absl::InternalError("Spark: an answer has a value that is neither number nor text");
}

}  // namespace

absl::StatusOr<std::string> FindSpark(const FleetOptions& options) {
  const char* const home = getenv("SPARK_HOME");
  const std::string folder = !options.spark.empty() ? options.spark : home != nullptr ? home : "";
  constexpr std::string_view kRemedy =
      "name its folder with --spark=DIR or SPARK_HOME (scripts/fleet.sh spark gets PySpark: "
      "build/fleet/spark/pyspark)";
  if (folder.empty()) return absl::NotFoundError(StrCat("--engine needs Spark: ", kRemedy));
  std::error_code error;
  if (!folder.starts_with('/') || !fs::exists(fs::path(folder) / "bin/spark-submit", error)) {
    return absl::NotFoundError(StrCat("there is no ", folder, "/bin/spark-submit: ", kRemedy));
  }
  return folder;
}

absl::StatusOr<Answer> ReadSparkAnswer(std::string_view text) {
  const absl::Status incomplete = absl::InternalError("Spark: an answer is not complete");
  const json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object() || !parsed.contains("columns") || !parsed.contains("rows")) {
    return incomplete;
  }
  const json& columns = parsed["columns"];
  const bool has_names =
      columns.is_array() &&
      std::all_of(columns.begin(), columns.end(), [](const json& it) { return it.is_string(); });
  if (!has_names || !parsed["rows"].is_array()) return incomplete;
  Answer answer;
  for (const json& column : columns) answer.columns.push_back(column.get<std::string>());
  for (const json& row : parsed["rows"]) {
    std::vector<Value>& values = answer.rows.emplace_back();
    for (const json& value : row) {
      absl::StatusOr<Value> read = ValueOf(value);
      if (!read.ok()) return read.status();
      values.push_back(*std::move(read));
    }
    if (values.size() != answer.columns.size()) {
      return absl::InternalError("Spark: an answer has a row of other columns");
    }
  }
  return answer;
}

std::string SparkError(std::string_view log) {
  std::string best;
  std::string last;
  for (const std::string_view line : postproc::Split(log, '\n')) {
    const std::string whole(line);
    const std::string text(absl::StripAsciiWhitespace(whole));
    if (text.empty()) continue;
    last = text;
    const bool is_error = text.find("Exception") != std::string::npos ||
                          text.find("Error") != std::string::npos ||
                          text.find("Giving up") != std::string::npos;
    if (best.empty() && is_error && !text.starts_with("at ")) best = text;
  }
  return best.empty() ? last : best;
}

absl::StatusOr<std::vector<Answer>> AskSpark(const FleetOptions& options,
                                             absl::Span<const std::string> views,
                                             absl::Span<const std::string_view> queries) {
  const absl::StatusOr<std::string> spark = FindSpark(options);
  if (!spark.ok()) return spark.status();
  const absl::StatusOr<fs::path> folder = MakeFolder();
  if (!folder.ok()) return folder.status();
  absl::Cleanup remove = [&] {
    std::error_code error;
    fs::remove_all(*folder, error);
  };
  json request = {{"statements", json::array()}, {"queries", json::array()}};
  for (const std::string& view : views) request["statements"].push_back(view);
  for (const std::string_view query : queries) {
    request["queries"].push_back(std::string(postproc::fleet::FindQuery(query)));
  }
  for (const auto& [name, text] : {std::pair("ask.py", std::string(kSparkScript)),
                                   std::pair("request.json", request.dump())}) {
    if (absl::Status status = WriteAll(*folder / name, text); !status.ok()) return status;
  }
  const absl::StatusOr<int> code = RunAndWait(Submission(*spark, options.engine, *folder));
  if (!code.ok()) return code.status();
  if (*code != 0) {
    std::move(remove).Cancel();
    return absl::InternalError(StrCat("Spark: ", SparkError(ReadAll(*folder / "log")),
                                      "; all that it said: ", (*folder / "log").string()));
  }
  std::vector<Answer> answers;
  for (size_t i = 0; i < queries.size(); ++i) {
    absl::StatusOr<Answer> answer = ReadSparkAnswer(ReadAll(*folder / StrCat(i, ".json")));
    if (!answer.ok()) return answer.status();
    answers.push_back(*std::move(answer));
  }
  return answers;
}

}  // namespace jtrace::control
