#!/usr/bin/env bash
# Installs the Debian packages that building and testing jtrace needs; says nothing if all are there.
set -euo pipefail

packages=(
  g++ cmake ninja-build python3 ccache pkg-config git ca-certificates
  openjdk-17-jdk-headless
  libabsl-dev libprotobuf-dev protobuf-compiler libunwind-dev libzstd-dev zlib1g-dev nlohmann-json3-dev
  libzydis-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  graphviz valgrind gdb
  junit5 libasm-java libjacoco-java libh2-java clojure jython ecj
  chromium
)
# The HTML page's tests; node of another origin brings its own npm.
command -v node >/dev/null || packages+=(nodejs)
command -v npm >/dev/null || packages+=(npm)
if [[ "${1:-}" == --dev ]]; then
  packages+=(clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev)
fi

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
