#!/usr/bin/env bash
# Installs missing Debian packages; prints nothing if all are installed.
# Usage: scripts/setup.sh [build|demo|test|dev|jvms|maven|programs|release|aarch64]    default: test
#   build   the packages that compile the agent, jtrace-post and jtrace
#   demo    and the program that the demo records
#   test    and those for tests, benchmarks and the jars
#   dev     and clang's tools, for scripts/format.sh, scripts/lint.sh and the preset fuzz
#   jvms    test and the tool that gets runtimes of other releases (scripts/jdks.sh)
#   maven   test, Gradle, and Maven with the plugins that a build with tests needs
#   programs   maven, and the programs of java-tests/programs with the load generator for Tomcat
#   release   build and what scripts/release.sh needs
#   aarch64   build and what the preset aarch64 needs: a cross compiler, qemu, debootstrap
# Each of the first four includes the ones before it.
set -euo pipefail

level=${1:-test}
packages=(
  g++ cmake ninja-build python3 ccache pkg-config
  openjdk-17-jdk-headless
  libabsl-dev libprotobuf-dev protobuf-compiler libzstd-dev zlib1g-dev nlohmann-json3-dev
  libzydis-dev libboost-dev
)
case $level in
  build | demo | test | dev | jvms | maven | programs | release | aarch64) ;;
  *)
    echo "setup: unknown level '$level'; levels: build, demo, test, dev, jvms, maven, programs, release," \
      "aarch64" >&2
    exit 2
    ;;
esac
[[ $level == build || $level == release || $level == aarch64 ]] || packages+=(libh2-java)
if [[ $level == test || $level == dev || $level == jvms || $level == maven || $level == programs ]]; then
  packages+=(
    git ca-certificates
    libgtest-dev libgmock-dev libbenchmark-dev libunwind-dev
    graphviz valgrind gdb
    junit5 libasm-java libjacoco-java clojure jython ecj
    chromium
    zsh fish groff-base
    lcov libxml2-utils
  )
  # For the HTML page's tests; node from another source has its own npm.
  command -v node >/dev/null || packages+=(nodejs)
  command -v npm >/dev/null || packages+=(npm)
fi
[[ $level != jvms ]] || packages+=(python3-pip)
if [[ $level == dev ]]; then
  packages+=(clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev)
  # A compiler whose code comes from several files.
  packages+=(kotlin)
fi

# Debian's Maven works without network, from the artifacts of these packages.
[[ $level != maven && $level != programs ]] || packages+=(maven libsurefire-java libmaven-compiler-plugin-java
  libmaven-jar-plugin-java libmaven-resources-plugin-java)
[[ $level != maven ]] || packages+=(gradle junit4)
# Real programs whose culprits are known; their tests say which of them are not there.
[[ $level != programs ]] || packages+=(libtomcat10-java libtomcat10-embed-java apache2-utils fop plantuml groovy
  libspring-context-java)
[[ $level != release ]] || packages+=(debootstrap dpkg-dev file git ca-certificates junit5 libmaven3-core-java)
[[ $level != aarch64 ]] || packages+=(g++-aarch64-linux-gnu qemu-user-static debootstrap
  lcov libxml2-utils libjacoco-java)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ "$status" == installed ]] || missing+=("$package")
done
((${#missing[@]} == 0)) && exit 0

sudo=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || {
    echo "setup: run as root, or install: ${missing[*]}" >&2
    exit 1
  }
  sudo=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${sudo[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends \
  "${missing[@]}" >/dev/null
