#!/usr/bin/env bash
# Roots of Debian releases in build/roots, for the portable build and for tests on other systems.
# Usage: scripts/roots.sh make RELEASE [PACKAGE…]      once; later calls only add missing packages
#        scripts/roots.sh run RELEASE COMMAND…         as root of that system, in its /tmp; with /proc and /dev
#        scripts/roots.sh sysroot RELEASE [PACKAGE…]  make, with the C library's development files, for --sysroot;
#                                                     kept outside of the clone by scripts/release/cache.sh
#        scripts/roots.sh aarch64                     build/roots/bookworm-arm64: what the preset aarch64 links, and a
#                                                     JVM; unpacked only, so nothing of it has to run here
# RELEASE: a name of Debian's: bullseye (11), bookworm (12), trixie (13), sid.
# Needs root (or sudo) and debootstrap, which scripts/setup.sh release or aarch64 installs.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' scripts/roots.sh >&2
  exit 2
}

as_root=()
((EUID == 0)) || as_root=(sudo)

# Mounts live in a namespace of the command, so that nothing has to be unmounted.
run() {
  local root=$PWD/build/roots/$1
  shift
  # shellcheck disable=SC2016  # expanded inside
  "${as_root[@]}" unshare --mount bash -c '
    root=$1
    shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --rbind /sys "$root/sys" 2>/dev/null || true
    exec chroot "$root" env -i HOME=/tmp LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      DEBIAN_FRONTEND=noninteractive sh -c "cd /tmp && exec \"\$@\"" sh "$@"' bash "$root" "$@"
}

# Prints those of the packages $2… that are missing in root $1.
missing_in() {
  local package release=$1
  shift
  for package in "$@"; do
    [[ $(dpkg-query --admindir="build/roots/$release/var/lib/dpkg" -W -f '${db:Status-Status}' "$package" \
      2>/dev/null) == installed ]] || echo "$package"
  done
}

make_root() {
  local release=$1 missing
  shift
  local root=build/roots/$release
  if [[ ! -e $root/.complete ]]; then
    echo "== making a root of Debian $release"
    "${as_root[@]}" rm -rf "$root"
    mkdir -p build/roots
    "${as_root[@]}" debootstrap --variant=minbase "$release" "$root" >"$root.log" 2>&1 || {
      tail -n 5 "$root.log" >&2
      echo "roots: debootstrap of $release failed; its log is $root.log" >&2
      exit 1
    }
    "${as_root[@]}" touch "$root/.complete"
  fi
  mapfile -t missing < <(missing_in "$release" "$@")
  ((${#missing[@]} == 0)) && return
  echo "== installing ${missing[*]} in the root of $release"
  # Manual pages do not exist in a minimal system, yet packages of JDKs link to them.
  "${as_root[@]}" mkdir -p "$root/usr/share/man/man1"
  # A mirror may be a snapshot of some day.
  run "$release" apt-get -o Acquire::Check-Valid-Until=false update -qq
  run "$release" dpkg --configure -a >>"$root.log" 2>&1 || true # what an interrupted call left
  run "$release" apt-get install -y -qq --no-install-recommends "${missing[@]}" >>"$root.log" 2>&1 || {
    tail -n 5 "$root.log" >&2
    echo "roots: cannot install ${missing[*]} in $root; the log is $root.log" >&2
    exit 1
  }
}

# Links to absolute paths lead out of the root $1 when a program here follows them. $2…: folders and options of find.
make_links_relative() {
  local link target root=$1
  shift
  while read -r link; do
    target=$(readlink "$link")
    "${as_root[@]}" ln -sfr "$root$target" "$link"
  done < <(find "$@" -type l -lname '/*')
}

make_sysroot() {
  local release=$1 root=$PWD/build/roots/$1 key=
  shift
  if [[ ! -e $root/.complete ]]; then
    key="$* $(cat "$0")"
    mkdir -p build/roots
    scripts/release/cache.sh get "root-$release" "$root" "$key" && return
  fi
  make_root "$release" libc6-dev "$@"
  make_links_relative "$root" "$root/lib64/" "$root/usr/lib/x86_64-linux-gnu/" -maxdepth 1
  [[ -z $key ]] || scripts/release/cache.sh put "root-$release" "$root" "$key"
}

# Without debootstrap's second stage, which would run programs of that processor: no package is configured, and the
# root serves a linker and qemu's user mode only.
make_aarch64() {
  local file packages root=$PWD/build/roots/bookworm-arm64
  packages=libc6,libstdc++6,libabsl-dev,libprotobuf-dev,libzstd-dev,zlib1g-dev,libzydis-dev,libboost-dev,nlohmann-json3-dev
  packages+=,libgtest-dev,libgmock-dev,openjdk-17-jre-headless
  [[ $(cat "$root/.complete" 2>/dev/null) != "$packages" ]] || return 0
  echo "== unpacking packages of Debian bookworm for arm64"
  "${as_root[@]}" rm -rf "$root"
  mkdir -p build/roots
  "${as_root[@]}" debootstrap --arch=arm64 --foreign --variant=minbase --include="$packages" bookworm "$root" \
    >"$root.log" 2>&1 || {
    tail -n 5 "$root.log" >&2
    echo "roots: debootstrap of bookworm for arm64 failed; its log is $root.log" >&2
    exit 1
  }
  # The first stage has unpacked the base system, and has downloaded the rest.
  for file in "$root"/var/cache/apt/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$file" | "${as_root[@]}" tar -x -C "$root" --skip-old-files
  done
  "${as_root[@]}" rm -rf "$root"/var/cache/apt/archives
  make_links_relative "$root" "$root/usr/lib/"
  echo "$packages" | "${as_root[@]}" tee "$root/.complete" >/dev/null
}

(($# >= 2)) || [[ ${1-} == aarch64 ]] || usage
verb=$1
shift
case $verb in
  make) make_root "$@" ;;
  run) run "$@" ;;
  sysroot) make_sysroot "$@" ;;
  aarch64) make_aarch64 ;;
  *) usage ;;
esac
