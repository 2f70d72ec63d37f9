# Toolchain of the preset "portable": this system's compiler, Debian 11's C library.
# CMake passes it to its own checks too, without the other variables of the build.
get_filename_component(JTRACE_SOURCE ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(CMAKE_SYSROOT ${JTRACE_SOURCE}/build/roots/bullseye)
# Programs that run during the build are this system's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Otherwise the linker finds this system's C library first, beside the compiler's own files.
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-B${CMAKE_SYSROOT}/usr/lib/x86_64-linux-gnu")
endforeach()
