#!/usr/bin/env bash
# Checks the page of jtrace-post --report=html: types, that the committed template equals the one
# built from its sources, the model's code under node, and the page itself in Chromium.
# Usage: run_tests.sh BUILD_FOLDER [TEST_FILE…]
# Exit code 77: there is no node, npm or Chromium here (scripts/setup.sh installs them), or no
# access to npm's packages.
set -euo pipefail
tests=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$tests/../.." && pwd)
build=$(cd "$1" && pwd)
shift

missing=()
for tool in node npm chromium; do
  command -v "$tool" >/dev/null || missing+=("$tool")
done
if ((${#missing[@]} > 0)); then
  echo "web tests skipped: no ${missing[*]}; scripts/setup.sh installs them"
  # If everything must be installed, a skipped test is a failure.
  [[ -n "${CI:-}" ]] && exit 1
  exit 77
fi

# Everything runs in a copy, so that the sources stay unchanged.
work=$build/web
mkdir -p "$work"
rm -rf "$work/src" "$work/tests"
cp -r "$source"/postproc/web/{src,build.mjs,NOTICE,package.json,package-lock.json,tsconfig.json} "$work/"
cp -r "$tests" "$work/tests"
cd "$work"
if ! cmp -s package-lock.json node_modules/.installed; then
  if ! npm ci --no-audit --no-fund --loglevel=error; then
    echo "web tests skipped: npm cannot fetch what package-lock.json names"
    exit 77
  fi
  cp package-lock.json node_modules/.installed
fi

npx --no-install tsc --noEmit
node build.mjs rebuilt.html
if ! cmp rebuilt.html "$source/postproc/web/dist/page.html"; then
  echo "postproc/web/dist/page.html is not what postproc/web/src makes: run node build.mjs there" >&2
  exit 1
fi

export JTRACE_POST=$build/bin/jtrace-post JTRACE_SOURCE=$source JTRACE_BUILD=$build
if (($# > 0)); then
  exec node --test "${@/#/tests/}"
fi
exec node --test tests/*.test.mjs
