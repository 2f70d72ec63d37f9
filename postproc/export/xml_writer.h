// XML 1.0, written as it is made: elements with attributes, and text.
#pragma once

#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jtrace::postproc {

// The caller keeps the grammar: each Open has its Close. Names of elements and attributes are
// plain; values and text may be anything: what XML cannot hold has a visible form
// (common/visible_text.h).
class XmlWriter {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;

  // `doctype`: what follows <!DOCTYPE.
  XmlWriter(std::string_view doctype, std::ostream& out);

  void Open(std::string_view element, Attributes attributes = {});
  void Close();
  // An element without content.
  void Empty(std::string_view element, Attributes attributes);
  // An element of text only.
  void Text(std::string_view element, std::string_view text);

 private:
  void Begin(std::string_view element, Attributes attributes);

  std::ostream& out_;
  std::vector<std::string> open_;
};

}  // namespace jtrace::postproc
