#include "postproc/export/xml_writer.h"

#include "common/visible_text.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

std::string XmlText(std::string_view text) {
  std::string shown = VisibleText(text);
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"&", "&amp;"},
                                 {"<", "&lt;"},
                                 {">", "&gt;"},
                                 {"\"", "&quot;"},
                                 {"'", "&apos;"},
                                 // The two characters of Unicode that are none in XML.
                                 {"\xEF\xBF\xBE", "\\ufffe"},
                                 {"\xEF\xBF\xBF", "\\uffff"}}) {
    ReplaceAll(shown, from, to);
  }
  return shown;
}

}  // namespace

XmlWriter::XmlWriter(std::string_view doctype, std::ostream& out) : out_(out) {
  out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE " << doctype << ">\n";
}

void XmlWriter::Begin(std::string_view element, Attributes attributes) {
  out_ << std::string(open_.size(), ' ') << '<' << element;
  for (const auto& [name, value] : attributes) {
    out_ << ' ' << name << "=\"" << XmlText(value) << '"';
  }
}

void XmlWriter::Open(std::string_view element, Attributes attributes) {
  Begin(element, attributes);
  out_ << ">\n";
  open_.emplace_back(element);
}

void XmlWriter::Close() {
  const std::string element = std::move(open_.back());
  open_.pop_back();
  out_ << std::string(open_.size(), ' ') << "</" << element << ">\n";
}

void XmlWriter::Empty(std::string_view element, Attributes attributes) {
  Begin(element, attributes);
  out_ << "/>\n";
}

void XmlWriter::Text(std::string_view element, std::string_view text) {
  Begin(element, {});
  out_ << '>' << XmlText(text) << "</" << element << ">\n";
}

}  // namespace jtrace::postproc
