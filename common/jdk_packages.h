// The JDK's classes by name: by default the agent leaves them out of its scope, and jtrace-post
// leaves them out of the application if a trace names no scope.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace jtrace {

// The packages of the JDK's modules, 17 to 25. Other projects also publish below javax. and
// com.sun., so these are listed one by one.
inline constexpr std::string_view kJdkPackages[] = {
    "java/",
    "jdk/",
    "sun/",
    "javax/accessibility/",
    "javax/annotation/processing/",
    "javax/crypto/",
    "javax/imageio/",
    "javax/lang/model/",
    "javax/management/",
    "javax/naming/",
    "javax/net/",
    "javax/print/",
    "javax/rmi/",
    "javax/script/",
    "javax/security/",
    "javax/smartcardio/",
    "javax/sound/",
    "javax/sql/",
    "javax/swing/",
    "javax/tools/",
    "javax/transaction/xa/",
    "javax/xml/",
    "com/sun/accessibility/",
    "com/sun/beans/",
    "com/sun/crypto/",
    "com/sun/imageio/",
    "com/sun/jarsigner/",
    "com/sun/java/",
    "com/sun/java_cup/",
    "com/sun/jdi/",
    "com/sun/jmx/",
    "com/sun/jndi/",
    "com/sun/management/",
    "com/sun/media/",
    "com/sun/naming/",
    "com/sun/net/",
    "com/sun/nio/",
    "com/sun/org/",
    "com/sun/proxy/",
    "com/sun/rowset/",
    "com/sun/security/",
    "com/sun/source/",
    "com/sun/swing/",
    "com/sun/tools/",
    "com/sun/xml/internal/",
    "netscape/javascript/",
    "org/ietf/jgss/",
    "org/jcp/xml/dsig/internal/",
    "org/w3c/dom/",
    "org/xml/sax/",
};

// `name`: a class, or one of its methods, with slashes or dots between packages.
inline bool IsJdkClass(std::string_view name) {
  const auto is_in = [name](std::string_view package) {
    return name.size() >= package.size() &&
           std::equal(package.begin(), package.end(), name.begin(),
                      [](char a, char b) { return a == b || (a == '/' && b == '.'); });
  };
  return std::any_of(std::begin(kJdkPackages), std::end(kJdkPackages), is_in);
}

}  // namespace jtrace
