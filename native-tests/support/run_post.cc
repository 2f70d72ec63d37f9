#include "native-tests/support/run_post.h"

#include <sstream>
#include <string_view>
#include <utility>

#include "postproc/pipeline.h"

namespace jtrace::testing {

RunResult RunPost(const std::vector<std::string>& args,
                  const std::map<std::string, std::string>& files,
                  std::function<bool(int64_t, const std::string&)> is_writing) {
  std::ostringstream out;
  std::ostringstream err;
  postproc::Environment environment{
      out, err, [&](const std::string& path) -> absl::StatusOr<postproc::InputFile> {
        if (const auto found = files.find(path); found != files.end()) {
          return postproc::InputFile::FromMemory(found->second);
        }
        return postproc::InputFile::Open(path);
      }};
  environment.is_writing = std::move(is_writing);
  environment.least_run = {1, 0};  // with --jobs, so that small traces are read like large ones
  const std::vector<std::string_view> views(args.begin(), args.end());
  RunResult result;
  result.exit_code = postproc::RunPostProcessor(views, environment);
  result.out = out.str();
  result.err = err.str();
  return result;
}

std::string ReportCsv(const std::string& trace, std::vector<std::string> args) {
  args.emplace_back("--format=csv");
  args.emplace_back("trace");
  const RunResult result = RunPost(args, {{"trace", trace}});
  return result.exit_code == 0 ? result.out
                               : "exit " + std::to_string(result.exit_code) + ": " + result.err;
}

std::vector<CsvRow> Rows(const std::string& trace, const std::string& report,
                         const CsvRow& columns) {
  return ParseCsv(ReportCsv(trace, {"--report=" + report})).Project(columns);
}

}  // namespace jtrace::testing
