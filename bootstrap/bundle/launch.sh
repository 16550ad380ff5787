#!/bin/sh
# Starts the program of this bundle that fits the machine:
#   /bin/sh launch.sh PROGRAM ARGUMENT...
# PROGRAM is one of the files beside this one, or the beginning of the names of
# one file for each processor.
set -eu
PATH=${PATH:-}:/usr/bin:/bin
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
program=$1
shift

if [ ! -f "$here/$program" ]; then
  machine=$(uname -m)
  case $machine in
    x86_64 | amd64) program=$program-amd64 ;;
    aarch64 | arm64) program=$program-arm64 ;;
    *) echo "gtagsmcp: this bundle has no program for a $machine processor; build it from source instead" >&2; exit 1 ;;
  esac
fi
start=$here/$program

# A host may have dropped the executable bit, and may have unpacked where we
# cannot set it again.
if [ ! -x "$start" ] && ! chmod +x "$start" 2>/dev/null; then
  copies=${GTAGS_MCP_HOME:-$HOME/.gtags-mcp}/bundle
  mkdir -p "$copies"
  if ! cmp -s "$start" "$copies/$program"; then
    cp "$start" "$copies/$program.$$"
    chmod +x "$copies/$program.$$"
    mv -f "$copies/$program.$$" "$copies/$program"
  fi
  start=$copies/$program
fi
exec "$start" "$@"
