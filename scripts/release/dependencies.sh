#!/usr/bin/env bash
# Builds the libraries that release products contain, static, position independent and for the C library of the
# sysroot, into build/dependencies; once, as scripts/release/cache.sh keeps them. They are the versions of the installed
# development packages, from Debian's source packages: Debian's own archives of Abseil and protobuf reach thread-local
# variables in a way that only programs may, not shared libraries, and its Zydis has no archive.
# Usage: scripts/release/dependencies.sh SYSROOT
set -euo pipefail
sysroot=$1
cd "$(dirname "$0")/../.."
readonly packages=(libabsl-dev libprotobuf-dev libzydis-dev libzycore-dev libzstd-dev zlib1g-dev nlohmann-json3-dev libboost1.74-dev libstdc++-12-dev)
readonly work=$PWD/build/dependencies.work prefix=$PWD/build/dependencies
readonly lib=/usr/lib/x86_64-linux-gnu

versions=$(dpkg-query -W -f '${source:Package}=${source:Version}\n' "${packages[@]}")
stamp=$(
  echo "$versions"
  dpkg-query --admindir="$sysroot/var/lib/dpkg" -W libc6-dev
  cat "$0"
)
[[ "$(cat "$prefix/stamp" 2>/dev/null)" != "$stamp" ]] || exit 0
scripts/release/cache.sh get dependencies "$prefix" "$stamp" && exit
rm -rf "$prefix" "$work"
mkdir -p "$prefix/lib" "$prefix/include" "$prefix/licenses" "$work"

# The source packages of Debian, from where this system gets its packages, into the current folder. Where the mirror lacks
# files of a version, the newest other one of the same upstream version is taken: a line says so, the list of components
# has what was built, and the next release tries again.
get_sources() {
  local options=(-o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=)
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  apt-get indextargets --format 'deb-src $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' \
    'Origin: Debian' | sort -u >"$work/sources.list"
  apt-get "${options[@]}" -qq update
  local source
  for source in "$@"; do
    apt-get "${options[@]}" -qq source "$source" >"$work/sources.log" 2>&1 || get_other_version "$source"
  done
}

# Within get_sources.
get_other_version() {
  local package=${1%%=*} version=${1#*=} other
  for other in $(apt-cache "${options[@]}" showsrc "$package" | sed -n 's/^Version: //p' | sort -rV); do
    [[ ${other%-*} == "${version%-*}" && $other != "$version" ]] || continue
    apt-get "${options[@]}" -qq source "$package=$other" >>"$work/sources.log" 2>&1 || continue
    echo "release: the mirror lacks the sources of $1; $other is built in its place"
    versions=${versions/"$1"/"$package=$other"}
    stamp=
    return
  done
  tail -n 3 "$work/sources.log" >&2
  echo "release: cannot get the sources of $1; after 'apt-get upgrade', the version may be on the mirror" >&2
  exit 1
}

readonly flags="-O2 -g1 -w -DNDEBUG -fvisibility=hidden -ffunction-sections -fdata-sections -ffile-prefix-map=$work=/usr/src -ffile-prefix-map=$sysroot="

# cmake_library SOURCE NAME [OPTION…] [-- TARGET…]: builds NAME; installs it, unless targets are given.
cmake_library() {
  local source=$1 name=$2 options=() launcher=()
  shift 2
  while (($#)) && [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  echo "== building $name for release products"
  cmake -S "$source" -B "$work/$name" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_SYSROOT="$sysroot" -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" \
    -DCMAKE_CXX_STANDARD=20 "${launcher[@]}" "${options[@]}" >"$work/$name.log" 2>&1 || {
    tail -n 20 "$work/$name.log" >&2
    exit 1
  }
  if (($#)); then
    cmake --build "$work/$name" --target "${@:2}" -- --quiet
  else
    cmake --build "$work/$name" --target install -- --quiet >"$work/$name.log"
  fi
}

# Sources of single packages by name: the folder is NAME-VERSION.
folder_of() {
  local found=("$work/$1"-*/)
  echo "${found[0]%/}"
}

cd "$work"
mapfile -t sources < <(grep -Ev '^(zlib|zycore-c|nlohmann-json3|boost1.74|gcc-12)=' <<<"$versions")
echo "== getting the sources of ${sources[*]}"
get_sources "${sources[@]}"

cmake_library "$(folder_of abseil)" abseil -DABSL_ENABLE_INSTALL=ON -DABSL_PROPAGATE_CXX_STD=ON
protobuf=$(folder_of protobuf)
cmake_library "$protobuf/cmake" protobuf -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF \
  -Dprotobuf_WITH_ZLIB=OFF -- libprotobuf-lite
cp "$work/protobuf/libprotobuf-lite.a" "$prefix/lib/"
(cd "$protobuf/src" && find google/protobuf \( -name '*.h' -o -name '*.inc' \) -exec cp --parents {} "$prefix/include" \;)
zstd=$(folder_of libzstd)
cmake_library "$zstd/build/cmake" zstd -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF -DZSTD_LEGACY_SUPPORT=OFF \
  -DCMAKE_C_FLAGS="$flags -DZSTD_TRACE=0"

# Of Zycore, the decoder needs the headers only; those are the installed ones.
zydis=$(folder_of zydis)
cp -r /usr/include/Zycore "$prefix/include/"
cp -r "$zydis/include/Zydis" "$prefix/include/"
cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(zydis C)
file(GLOB sources $zydis/src/*.c)
list(FILTER sources EXCLUDE REGEX "Formatter|Encoder|Zydis\\\\.c|String")
add_library(Zydis STATIC \${sources})
target_compile_definitions(Zydis PUBLIC ZYDIS_STATIC_BUILD ZYCORE_STATIC_BUILD)
target_include_directories(Zydis PRIVATE $zydis/include $zydis/src $prefix/include)
END
cmake_library "$work" zydis -- Zydis
cp "$work/zydis/libZydis.a" "$prefix/lib/"

# zlib has no thread-local variables, nlohmann's JSON and what is used of Boost only headers: Debian's are fine.
cp "$lib/libz.a" "$prefix/lib/"
cp /usr/include/zlib.h /usr/include/zconf.h "$prefix/include/" 2>/dev/null || cp /usr/include/zlib.h "$prefix/include/"
[[ -e $prefix/include/zconf.h ]] || cp /usr/include/x86_64-linux-gnu/zconf.h "$prefix/include/"
cp -r /usr/include/nlohmann "$prefix/include/"
ln -s /usr/include/boost "$prefix/include/boost"

for package in "${packages[@]}"; do
  cp "/usr/share/doc/$package/copyright" "$prefix/licenses/${package%-dev}"
done
echo "$versions" >"$prefix/versions"
cd "$OLDPWD"
if [[ -n $stamp ]]; then
  echo "$stamp" >"$prefix/stamp"
  scripts/release/cache.sh put dependencies "$prefix" "$stamp"
fi
