#!/usr/bin/env bash
# The repository has none of the words that CONTRIBUTING.md replaces; planted ones are found, in prose and in names.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/words.py

planted=$(mktemp)
trap 'rm -f "$planted"' EXIT
expect() {
  echo "$2" >"$planted"
  local code=0
  scripts/words.py "$planted" >/dev/null 2>&1 || code=$?
  if ((code != $1)); then
    echo "scripts/words.py ends with $code, not $1, on: $2" >&2
    exit 1
  fi
}
for words in 'it tells them' 'Told apart.' 'void TellAll();' 'kMostTold' 'is_told' 'LEAST_UNTOLD' 'a dear call' \
  'not to be had here' "'x' is no option" 'was given up' 'node.GiveUp()' 'kGivenUp' 'HomelessCounts'; do
  expect 1 "$words"
done
for words in 'intelligent' 'there is no option' 'is no longer' 'untellable' 'the metre' 'had to be' 'gives'; do
  expect 0 "$words"
done
