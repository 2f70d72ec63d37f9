// Names that are the same in every JVM and version of the JDK: what a JVM numbers itself is left
// out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "postproc/model/trace_model.h"

namespace jtrace::postproc::fleet {

// A class's name with dots. Generated classes of one kind share a name:
//   a.B$$Lambda/0x0000000800c03000, a.B$$Lambda$14/0x…, a.B$$Lambda$14   a.B$$Lambda
//   any hidden class a.B/0x…, a.B+0x…, a.B.0x…                           a.B
//   com.sun.proxy.$Proxy12, jdk.proxy2.$Proxy12                          $Proxy
//   com.acme.$Proxy12                                                    com.acme.$Proxy
//   jdk.internal.reflect.GeneratedMethodAccessor12, sun.reflect.…
//   jdk.internal.reflect.GeneratedMethodAccessor java.lang.invoke.LambdaForm$MH012,
//   LambdaForm$DMH/0x…                java.lang.invoke.LambdaForm$MH, …$DMH
//   a.B$$EnhancerBySpringCGLIB$$1a2b3c, a.B$$SpringCGLIB$$0 a.B$$EnhancerBySpringCGLIB,
//   a.B$$SpringCGLIB; each number of a name with several
std::string StableClassName(std::string_view name);

// A routine as the tables identify it.
struct StableRoutine {
  std::string class_name;  // empty: not a Java method
  std::string name;        // without class and parameters
  std::string descriptor;  // empty: unknown
  // "a.B.run(int)", for people; types of parameters are short.
  std::string shown;
  // "a.B.run(I)V": what the ids are computed from. Without ends of lines.
  std::string identity;
  int64_t id = 0;  // StableId(identity)
};
StableRoutine MakeStable(const TraceModel& model, RoutineId routine);

}  // namespace jtrace::postproc::fleet
