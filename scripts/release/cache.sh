#!/usr/bin/env bash
# Folders that take long to make, kept where a fresh clone finds them: ${XDG_CACHE_HOME:-~/.cache}/jtrace.
# Usage: scripts/release/cache.sh get NAME FOLDER KEY    makes FOLDER of what was kept; fails if there is none
#        scripts/release/cache.sh put NAME FOLDER KEY    keeps FOLDER, and nothing else of that name
#   KEY   a text that determines what is in FOLDER; another KEY is another content
# Each file appears whole or not at all; what cannot be kept is made again the next time.
set -euo pipefail
verb=$1 name=$2 folder=$3 key=$4
readonly cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/jtrace
file=$cache/$name-$(sha256sum <<<"$key" | cut -c 1-20).tar.gz
as_root=()
[[ $name != root-* ]] || ((EUID == 0)) || as_root=(sudo)

get() {
  local new=$folder.new
  [[ -e $file ]] || return 1
  "${as_root[@]}" rm -rf "$new"
  mkdir -p "$new"
  "${as_root[@]}" tar -xzf "$file" -C "$new" --same-owner --numeric-owner || {
    "${as_root[@]}" rm -rf "$new"
    rm -f "$file"
    echo "cache: $file cannot be read; it is made again" >&2
    return 1
  }
  "${as_root[@]}" rm -rf "$folder"
  "${as_root[@]}" mv "$new" "$folder"
}

put() {
  local new
  mkdir -p "$cache" && new=$(mktemp "$cache/$name.XXXXXX") || return 1
  # shellcheck disable=SC2064  # the value of now
  trap "rm -f '$new'" EXIT
  # Lists and archives of packages: apt gets them again.
  "${as_root[@]}" tar -c -C "$folder" --numeric-owner --exclude='./var/lib/apt/lists/*' \
    --exclude='./var/cache/apt/*' . | gzip -1 >"$new" || return 1
  mv "$new" "$file"
  # Other contents, and what a call that was killed left.
  find "$cache" -maxdepth 1 -name "$name-*" ! -path "$file" -delete
  find "$cache" -maxdepth 1 -name "$name.??????" -mmin +600 -delete
}

case $verb in
  get) get ;;
  put) put || echo "cache: cannot keep $file" >&2 ;;
  *) exit 2 ;;
esac
