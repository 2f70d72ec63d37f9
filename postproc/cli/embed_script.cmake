# Makes a header from a script: cmake -DSCRIPT=fleet_spark.py -DOUTPUT=….h -DNAME=kSparkScript -P embed_script.cmake
file(READ ${SCRIPT} text)
file(WRITE ${OUTPUT} "#pragma once

namespace jtrace::control {

inline constexpr char ${NAME}[] = R\"script(${text})script\";

}  // namespace jtrace::control
")
