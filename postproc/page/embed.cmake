# Makes a source file from the page's template:
#   cmake -DTEMPLATE=page.html -DOUTPUT=page_template.cc -P embed.cmake
file(READ ${TEMPLATE} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"postproc/page/page_report.h\"

namespace jtrace::postproc {
namespace {
constexpr unsigned char kTemplate[] = {
${bytes}};
}  // namespace

std::string_view PageTemplate() {
  return {reinterpret_cast<const char*>(kTemplate), sizeof kTemplate};
}

}  // namespace jtrace::postproc
")
