# Makes a source file from the queries:
#   cmake -DFOLDER=sql -DOUTPUT=sql_texts.cc -P embed_sql.cmake
file(GLOB files ${FOLDER}/*.sql)
set(rows "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"sql(${text})sql\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"postproc/fleet/queries.h\"

namespace jtrace::postproc::fleet {
namespace {
constexpr QueryText kTexts[] = {
${rows}};
}  // namespace

absl::Span<const QueryText> AllQueries() { return kTexts; }

}  // namespace jtrace::postproc::fleet
")
