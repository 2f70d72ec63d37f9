# JTRACE_PORTABLE: products that need nothing of the system but its C library, 2.31 or newer. The preset
# "portable" has it; scripts/release.sh makes what it needs: the C library's headers in CMAKE_SYSROOT, and
# the other libraries, static and position independent, in JTRACE_DEPENDENCIES.
option(JTRACE_PORTABLE "link everything but the C library statically" OFF)
if(NOT JTRACE_PORTABLE)
  return()
endif()

set(JTRACE_DEPENDENCIES "" CACHE PATH "the static libraries of a portable build")
add_compile_options(-ffunction-sections -fdata-sections
                    # The products of two builds of a commit are equal, wherever its folder is.
                    -ffile-prefix-map=${CMAKE_BINARY_DIR}=build -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.
                    -ffile-prefix-map=${JTRACE_DEPENDENCIES}=/usr -ffile-prefix-map=${CMAKE_SYSROOT}=)

find_package(absl REQUIRED PATHS ${JTRACE_DEPENDENCIES}/lib/cmake NO_DEFAULT_PATH)

function(jtrace_static_library target file)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION ${JTRACE_DEPENDENCIES}/lib/${file}
    INTERFACE_INCLUDE_DIRECTORIES ${JTRACE_DEPENDENCIES}/include)
  target_compile_definitions(${target} INTERFACE ${ARGN})
endfunction()

jtrace_static_library(protobuf::libprotobuf-lite libprotobuf-lite.a)
jtrace_static_library(PkgConfig::ZSTD libzstd.a)
jtrace_static_library(ZLIB::ZLIB libz.a)
jtrace_static_library(Zydis::Zydis libZydis.a ZYDIS_STATIC_BUILD ZYCORE_STATIC_BUILD)
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)
set_target_properties(nlohmann_json::nlohmann_json PROPERTIES
                      INTERFACE_INCLUDE_DIRECTORIES ${JTRACE_DEPENDENCIES}/include)
add_library(Boost::headers INTERFACE IMPORTED GLOBAL)
set_target_properties(Boost::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${JTRACE_DEPENDENCIES}/include)
find_program(JTRACE_PROTOC protoc REQUIRED)
add_executable(protobuf::protoc IMPORTED GLOBAL)
set_target_properties(protobuf::protoc PROPERTIES IMPORTED_LOCATION ${JTRACE_PROTOC})

function(jtrace_link_portably target)
  target_link_libraries(${target} PRIVATE jtrace_old_glibc_symbols jtrace_old_glibc)
  # -u: a weak reference alone takes nothing from an archive.
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--as-needed
                      -Wl,-u,__cxa_pure_virtual)
endfunction()
