#!/bin/sh
# Installs gtagsmcp for one user, updates it, or removes it:
#
#   curl -fsSL https://github.com/gtagsmcp/gtagsmcp/releases/latest/download/install.sh | bash
#   curl -fsSL https://github.com/gtagsmcp/gtagsmcp/releases/latest/download/install.sh | bash -s -- --help
#
# It is POSIX shell throughout, so that every bash (macOS has 3.2), dash and
# busybox run it alike. The brace below closes at the end of the file: a shell
# that got only a part of the file runs nothing of it.
{
set -u

# The second line of release.pub. Empty: there is no key to check a signature by.
RELEASE_KEY=''

repository=gtagsmcp/gtagsmcp
marker='# gtagsmcp installer'
name=gtagsmcp

usage() {
  cat <<'EOF'
Install gtagsmcp into ~/.local/bin, or update what is there.

  --version X          this release instead of the newest; also to go back
  --dir DIR            another folder (also: GTAGS_MCP_INSTALL_DIR)
  --no-path            leave the start files of bash, zsh and fish alone
  --no-service         leave a background service alone
  --no-setup           do not install the toolchain yet (gtagsmcp setup)
  --require-signature  stop where nothing here can check the signature
  --dry-run            say what would be done, and do nothing
  --uninstall          remove the program, its service and its PATH lines
  --purge              with --uninstall: ~/.gtags-mcp too, without asking
  --keep-data          with --uninstall: never ~/.gtags-mcp, without asking
  --help               this text

GTAGS_MCP_MIRROR stands for https://github.com/. http_proxy, https_proxy, no_proxy
(or in capitals), SSL_CERT_FILE and SSL_CERT_DIR are obeyed.
Exit codes: 0 done, 1 failed and nothing changed, 2 wrong command line.
EOF
}

say() { printf '%s\n' "$*"; }
warn() { printf 'gtagsmcp installer: %s\n' "$*" >&2; }
die() { warn "$@"; exit 1; }
misuse() { warn "$* (--help lists the options)"; exit 2; }
has() { command -v "$1" >/dev/null 2>&1; }
size() { wc -c <"$1" | tr -d ' '; }

parse() {
  version='' dir=${GTAGS_MCP_INSTALL_DIR:-} data=ask
  path=yes service=yes setup=yes require=no dry=no action=install
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --dir)
        if [ -z "${2:-}" ]; then misuse "$1 takes a value"; fi
        if [ "$1" = --dir ]; then dir=$2; else version=$2; fi
        shift ;;
      --version=?*) version=${1#*=} ;;
      --dir=?*) dir=${1#*=} ;;
      --no-path) path=no ;;
      --no-service) service=no ;;
      --no-setup) setup=no ;;
      --require-signature) require=yes ;;
      --dry-run) dry=yes ;;
      --uninstall) action=uninstall ;;
      --purge) data=purge ;;
      --keep-data) data=keep ;;
      -h | --help) usage; exit 0 ;;
      *) misuse "unknown option $1" ;;
    esac
    shift
  done
  if [ "$action" = install ] && [ "$data" != ask ]; then misuse "--purge and --keep-data go with --uninstall"; fi
  if [ -n "$version" ]; then
    version=v${version#v}
    is_version "$version" || misuse "--version takes a version such as 1.2.3, not ${version#v}"
  fi
}

is_version() {
  case $1 in
    *[!0-9A-Za-z.+-]*) return 1 ;;
    v[0-9]*.[0-9]*.[0-9]*) return 0 ;;
  esac
  return 1
}

# place decides the folder. Nothing is made here.
place() {
  if [ -z "$dir" ]; then
    [ -n "${HOME:-}" ] || die "HOME is not set; name a folder with --dir"
    dir=$HOME/.local/bin
  fi
  case $dir in
    /*) ;;
    *) dir=$(pwd)/$dir ;;
  esac
  while [ "$dir" != "${dir%/}" ] && [ "$dir" != / ]; do dir=${dir%/}; done
  case $dir in
    *"
"*) die "the folder's name has a line end in it; choose another with --dir" ;;
  esac
  target=$dir/$name
}

platform() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) die "$(uname -s) is not supported, only Linux and macOS (on Windows: WSL)" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) die "the processor $(uname -m) is not supported, only amd64 and arm64" ;;
  esac
  # A shell under Rosetta says x86_64 on a machine that is arm64.
  if [ "$os-$arch" = darwin-amd64 ] && [ "$(sysctl -n hw.optional.arm64 2>/dev/null)" = 1 ]; then arch=arm64; fi
  asset=$name-$os-$arch.tar.gz
}

# ---- Downloads ----

# python names a python3 that works, or nothing. macOS has a stand-in that asks
# to install the developer tools.
python() {
  found=$(command -v python3 2>/dev/null) || return 1
  if [ "$found" = /usr/bin/python3 ] && [ "$(uname -s)" = Darwin ]; then xcode-select -p >/dev/null 2>&1 || return 1; fi
  python3 -I -c 'import hashlib; hashlib.blake2b' >/dev/null 2>&1
}

# client chooses the program that downloads, and says in tls whether it makes
# sure of the server: without a signature nothing else would.
choose_client() {
  if has curl; then client=curl
  elif has wget && wget --version 2>/dev/null | grep -q 'GNU Wget'; then client=wget
  elif python; then client=python
  elif has wget; then client=busybox
  else die "curl, wget or python3 is needed to download"
  fi
  base=${GTAGS_MCP_MIRROR:-https://github.com}
  while [ "$base" != "${base%/}" ]; do base=${base%/}; done
  case $base in
    https://?*) tls=yes protocols='=https' ;;
    http://?*) tls=no protocols='=http,https' ;;
    *) die "GTAGS_MCP_MIRROR must be an http or https URL, not $base" ;;
  esac
  base=$base/$repository
  if [ "$client" = busybox ]; then tls=no; fi # it does not look at certificates
  # curl and wget read some of these in small letters only.
  http_proxy=${http_proxy:-${HTTP_PROXY:-}} https_proxy=${https_proxy:-${HTTPS_PROXY:-}} no_proxy=${no_proxy:-${NO_PROXY:-}}
  export http_proxy https_proxy no_proxy
}

run_curl() {
  if [ -n "${SSL_CERT_FILE:-}" ] && [ -z "${CURL_CA_BUNDLE:-}" ]; then set -- --cacert "$SSL_CERT_FILE" "$@"; fi
  curl --silent --show-error --fail --proto "$protocols" --proto-redir "$protocols" \
    --connect-timeout 20 --speed-limit 1024 --speed-time 30 "$@"
}

# run_wget refuses what curl's --proto-redir refuses: a way from https to http.
run_wget() {
  if [ -n "${SSL_CERT_FILE:-}" ]; then set -- --ca-certificate="$SSL_CERT_FILE" "$@"; fi
  if [ -n "${SSL_CERT_DIR:-}" ]; then set -- --ca-directory="$SSL_CERT_DIR" "$@"; fi
  if wget --help | grep -q -e --no-hsts; then set -- --no-hsts "$@"; fi
  answer=$(LC_ALL=C wget --server-response --tries=1 --timeout=30 "$@" 2>&1)
  status=$?
  printf '%s\n' "$answer" >&2
  if [ "$tls" = yes ] && printf '%s\n' "$answer" | grep -qi '^ *Location: *http:'; then
    echo "refusing a redirect from https to http" >&2
    return 1
  fi
  return $status
}

# run_busybox has no time limit of its own.
run_busybox() {
  if has timeout; then timeout 600 wget "$@"; else wget "$@"; fi
}

# run_python URL [FILE]: continues FILE; without one it prints where the URL
# redirects to.
run_python() {
  python3 -I - "$tls" "$@" <<'EOF'
import os, sys, urllib.error, urllib.request
tls, url = sys.argv[1:3]
class Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, request, fp, code, msg, headers, to):
        if len(sys.argv) == 3:
            print(to)
            sys.exit(0)
        if tls == "yes" and not to.startswith("https:"):
            sys.exit("refusing a redirect from https to http")
        new = super().redirect_request(request, fp, code, msg, headers, to)
        return new
try:
    opener = urllib.request.build_opener(Redirects)
    if len(sys.argv) == 3:
        opener.open(url, timeout=30)
        sys.exit(0)
    have = os.path.getsize(sys.argv[3])
    request = urllib.request.Request(url, headers={"Range": "bytes=%d-" % have} if have else {})
    with opener.open(request, timeout=30) as answer, open(sys.argv[3], "ab") as file:
        if answer.status != 206:
            file.truncate(0)
        left = answer.length
        while True:
            piece = answer.read(65536)
            if not piece:
                break
            file.write(piece)
            left = left and left - len(piece)
        if left:
            sys.exit("connection closed with %d bytes missing" % left)
except (OSError, ValueError) as err:
    sys.exit(str(err))
EOF
}

# attempt URL FILE appends to FILE from where it ends. Files are written by
# redirection: a curl from a snap may not write into hidden folders.
attempt() {
  case $client in
    curl)
      have=$(size "$2")
      run_curl --location --continue-at "$have" "$1" >>"$2" ;;
    wget) run_wget --continue --output-document="$2" "$1" ;;
    python) run_python "$1" "$2" ;;
    busybox) run_busybox -c -O "$2" "$1" ;;
  esac
}

# fetch URL FILE BLOCKS downloads at most BLOCKS times 512 bytes (1024 in some
# shells). An attempt that got 16 KiB further than all before is no failure.
fetch() {
  failed=0 furthest=0
  : >"$2" || return 1
  while :; do
    why=$( (
      ulimit -f "$3" 2>/dev/null # a lower limit may be in force
      attempt "$1" "$2"
    ) 2>&1) && return 0
    got=$(size "$2")
    if [ "$got" -ge $((furthest + 16384)) ]; then
      failed=0 furthest=$got
    else
      failed=$((failed + 1))
      : >"$2" # what is there may be why it fails
    fi
    case $why in *'rror: 404'* | *'RROR 404'* | *'Error 404'* | *' 404 Not Found'* | *'to http'*) return 1 ;; esac
    has_room || return 1
    [ $failed -lt 3 ] || return 1
    sleep $failed
  done
}

# download NAME BLOCKS gets one file of the release into $tmp.
download() {
  fetch "$base/releases/download/$tag/$1" "$tmp/$1" "$2" && return 0
  no_room
  explain_tls
  die "cannot download $base/releases/download/$tag/$1: $(last_line "$why")"
}

last_line() { printf '%s\n' "$1" | sed 's/^[[:space:]]*//' | grep . | tail -n 1; }

explain_tls() {
  case $why in
    *ertificate* | *CERTIFICATE*) warn "if a proxy inspects TLS here, set SSL_CERT_FILE to a file with its certificate" ;;
  esac
}

# redirect URL prints where it leads.
redirect() {
  case $client in
    curl) run_curl --output /dev/null --write-out '%{redirect_url}' "$1" ;;
    wget) run_wget --spider --max-redirect=0 "$1" 2>&1 | locations ;;
    python) run_python "$1" ;;
    busybox) run_busybox -S -O /dev/null "$1" 2>&1 | locations ;;
  esac
}

# locations keeps the last line too, which names the trouble where there is some.
locations() {
  tr -d '\r' | sed -n -e 's/^ *[Ll]ocation: *\([^ ]*\).*/\1/p' -e '$s/^/last: /p' | sed '/^http/q'
}

# find_release sets tag: what --version says, or where releases/latest leads.
find_release() {
  tag=$version
  [ -z "$tag" ] || return 0
  url=$base/releases/latest
  for hop in 1 2 3 4 5; do
    why=$(redirect "$url" 2>&1)
    case $why in
      */releases/tag/*)
        tag=${why##*/releases/tag/}
        is_version "$tag" || die "$base/releases/latest leads to '$tag', which is no version"
        return 0 ;;
      http*://*) url=$why ;;
      *) break ;;
    esac
  done
  explain_tls
  die "cannot find the newest release at $base/releases/latest: $(last_line "${why:-it names no release}") (hop $hop)"
}

# ---- Verification ----

sha256() {
  if has sha256sum; then sha256sum <"$1"
  elif has shasum; then shasum -a 256 <"$1"
  elif has openssl; then openssl dgst -sha256 -r <"$1"
  elif python; then python3 -I -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$1"
  fi | sed -n '1s/^\([0-9a-f]\{64\}\).*/\1/p'
}

check_digest() {
  want=$(awk -v a="$asset" '$2 == a || $2 == "*" a { print $1 }' "$tmp/checksums.txt")
  [ -n "$want" ] || die "release $tag has no $asset, says its checksums.txt$(html_hint "$tmp/checksums.txt")"
  got=$(sha256 "$tmp/$asset")
  [ -n "$got" ] || die "nothing here computes SHA-256: sha256sum, shasum, openssl or python3 is needed"
  [ "$got" = "$want" ]
}

html_hint() {
  case $(head -c 64 "$1" | tr -d '\000' | tr '[:upper:]' '[:lower:]') in
    '<!doctype html'* | '<html'*) printf ' (an HTML page: the login page of a proxy?)' ;;
    '') printf ' (it is empty)' ;;
  esac
}

# check_signature ends the run unless checksums.txt is signed for this release,
# or nothing here could tell and the digest comes from a server TLS vouches for.
check_signature() {
  if [ -z "$RELEASE_KEY" ]; then unsigned "this script has no release key in it"; return; fi
  if has minisign; then checker=minisign
  elif has openssl && openssl_can; then checker=openssl
  elif python; then checker=python
  else
    unsigned "neither minisign nor openssl 3 nor python3 is here to check it"
    return
  fi
  signature=$tmp/checksums.txt.minisig
  download checksums.txt.minisig 64
  case $(sed -n 2p "$signature") in
    RU[QRST]*) ;;
    *) die "checksums.txt.minisig is no prehashed minisign signature$(html_hint "$signature"); nothing was installed" ;;
  esac
  verified || die "the signature of checksums.txt is WRONG ($checker); nothing was installed"
  comment=$(sed -n '3s/^trusted comment: //p' "$signature")
  [ "$comment" = "$name $tag" ] || die "checksums.txt is signed for '$comment', not for '$name $tag': one release served as another; nothing was installed"
  say "signature checked ($checker)"
}

unsigned() {
  [ "$require" = no ] || die "--require-signature: $1"
  [ "$tls" = yes ] || die "the signature cannot be checked: $1. Without it, only TLS could vouch for the server, and $client over ${base%%:*} does not. Install minisign, or openssl 3, or python3, and curl"
  warn "the signature was NOT checked: $1. Going on by the digest, which came over TLS"
}

verified() {
  case $checker in
    minisign) verified_by_minisign ;;
    openssl) verified_by_openssl ;;
    python) verified_by_python ;;
  esac
}

verified_by_minisign() {
  minisign -V -q -P "$RELEASE_KEY" -m "$tmp/checksums.txt" -x "$signature" >/dev/null 2>&1
}

# A minisign key is "Ed", a key number of 8 bytes, and the Ed25519 key; line 2 of
# a signature "ED", the number, and the signature of the file's BLAKE2b digest;
# line 4 the signature of that signature and the trusted comment.
verified_by_openssl() {
  k=$tmp/key s=$tmp/signature
  printf %s "$RELEASE_KEY" | openssl base64 -d -A >"$k" &&
    sed -n 2p "$signature" | openssl base64 -d >"$s" &&
    sed -n 4p "$signature" | openssl base64 -d >"$s.all" || return 1
  [ "$(size "$k") $(size "$s") $(size "$s.all")" = '42 74 64' ] || return 1
  [ "$(head -c 10 "$k" | tail -c 8 | od -t x1)" = "$(head -c 10 "$s" | tail -c 8 | od -t x1)" ] || return 1
  { der_prefix; tail -c 32 "$k"; } >"$k.der"
  tail -c 64 "$s" >"$s.file"
  openssl dgst -blake2b512 -binary <"$tmp/checksums.txt" >"$s.digest" || return 1
  { cat "$s.file"; sed -n '3s/^trusted comment: //p' "$signature" | tr -d '\n'; } >"$s.comment"
  ed25519_openssl "$k.der" "$s.digest" "$s.file" && ed25519_openssl "$k.der" "$s.comment" "$s.all"
}

der_prefix() { printf '\060\052\060\005\006\003\053\145\160\003\041\000'; }

ed25519_openssl() { # KEY MESSAGE SIGNATURE
  openssl pkeyutl -verify -pubin -keyform DER -inkey "$1" -rawin -in "$2" -sigfile "$3" >/dev/null 2>&1
}

# openssl_can tries the second example of RFC 8032: versions before 3.0 and
# LibreSSL fail at it, and would otherwise look like a wrong signature.
openssl_can() {
  t=$tmp/try
  { der_prefix; printf PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw= | openssl base64 -d -A; } >"$t.der" 2>/dev/null
  printf kqAJqfDUyrhyDoILX2QlQKKye1QWUD+Ps3YiI+vbadoIWsHkPhWZbkWPNhPQ8R2MOHsurrQwKu6wDSkWErsMAA== | openssl base64 -d -A >"$t.sig" 2>/dev/null
  printf r >"$t"
  [ "$(openssl dgst -blake2b512 -binary <"$t" 2>/dev/null | wc -c | tr -d ' ')" = 64 ] && ed25519_openssl "$t.der" "$t" "$t.sig"
}

# Ed25519 as in RFC 8032, section 5.1.7, on affine coordinates: slow (half a
# second) and short. Everything here is public, so time may tell.
verified_by_python() {
  python3 -I - "$RELEASE_KEY" "$tmp/checksums.txt" "$signature" <<'EOF'
import base64, hashlib, sys
p = 2**255 - 19
order = 2**252 + 27742317777372353535851937790883648493
inverse = lambda n: pow(n, p - 2, p)
d = -121665 * inverse(121666) % p

def number(b):
    return int.from_bytes(b, "little")

def add(a, b):
    k = d * a[0] * b[0] * a[1] * b[1] % p
    return ((a[0] * b[1] + b[0] * a[1]) * inverse(1 + k) % p, (a[1] * b[1] + a[0] * b[0]) * inverse(1 - k) % p)

def times(n, a):
    sum = (0, 1)
    while n:
        if n & 1:
            sum = add(sum, a)
        a, n = add(a, a), n >> 1
    return sum

def point(b):
    y, odd = number(b) & (2**255 - 1), b[31] >> 7
    square = (y * y - 1) * inverse(d * y * y + 1) % p
    x = pow(square, (p + 3) // 8, p)
    if x * x % p != square:
        x = x * pow(2, (p - 1) // 4, p) % p
    if x * x % p != square or y >= p or (x == 0 and odd):
        raise ValueError("no point of the curve")
    return (p - x if x & 1 != odd else x, y)

def good(key, message, signature):
    r, s = signature[:32], number(signature[32:])
    h = number(hashlib.sha512(r + key + message).digest()) % order
    base = point((4 * inverse(5) % p).to_bytes(32, "little"))
    return s < order and times(s, base) == add(point(r), times(h, point(key)))

try:
    key = base64.b64decode(sys.argv[1], validate=True)
    digest = hashlib.blake2b(open(sys.argv[2], "rb").read()).digest()
    lines = open(sys.argv[3], "rb").read().split(b"\n")
    signature, whole = base64.b64decode(lines[1], validate=True), base64.b64decode(lines[3], validate=True)
    comment = lines[2][len(b"trusted comment: "):]
    if (len(key), len(signature), len(whole)) != (42, 74, 64) or key[2:10] != signature[2:10]:
        sys.exit(1)
    sys.exit(not (good(key[10:], digest, signature[10:]) and good(key[10:], signature[10:] + comment, whole)))
except (ValueError, IndexError):
    sys.exit(1)
EOF
}

# ---- The folder ----

# prepare makes the folder and, inside it, a temporary one: what is renamed must
# come from the same file system.
prepare() {
  [ ! -d "$target" ] || die "$target is a folder; remove it or choose another with --dir"
  if [ -L "$target" ]; then
    die "$target is a symbolic link to $(readlink "$target"), so something else looks after it; remove the link or choose another folder with --dir"
  fi
  why=$(mkdir -p "$dir" 2>&1) || unwritable
  tmp=$dir/.$name-install.$(uname -n).$$
  for stale in "$dir/.$name-install.$(uname -n)."*; do # of runs on this host that were killed
    if [ "$stale" = "$tmp" ] || ! kill -0 "${stale##*.}" 2>/dev/null; then rm -rf "$stale"; fi
  done
  why=$( (umask 077 && mkdir "$tmp") 2>&1) || unwritable
  trap 'rm -rf "$tmp"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  no_room
  printf '#!/bin/sh\nexit 0\n' >"$tmp/probe"
  chmod 755 "$tmp/probe"
  "$tmp/probe" 2>/dev/null || die "programs cannot be run from $dir: it is mounted noexec, or a policy forbids it; choose another folder with --dir"
}

unwritable() {
  case $why in
    *[Rr]ead-only*) die "$dir is on a read-only file system; choose another folder with --dir" ;;
    *'o space'* | *uota*) die "disk full: cannot make $dir" ;;
  esac
  die "cannot write to $dir: $(last_line "$why"); choose another folder with --dir"
}

# has_room writes, because a quota does not show in what df says.
has_room() {
  dd if=/dev/zero of="$tmp/room" bs=65536 count=16 >/dev/null 2>&1
  room=$?
  rm -f "$tmp/room"
  return $room
}

no_room() { has_room || die "disk full: no room left in $dir; nothing was installed"; }

unpack() {
  mkdir "$tmp/new" || no_room
  if has tar && has gzip; then
    why=$(tar -xzf "$tmp/$asset" -C "$tmp/new" "$name" 2>&1)
  elif python; then
    why=$(python3 -I -c '
import shutil, sys, tarfile
with tarfile.open(sys.argv[1]) as archive, open(sys.argv[3], "wb") as file:
    shutil.copyfileobj(archive.extractfile(sys.argv[2]), file)
' "$tmp/$asset" "$name" "$tmp/new/$name" 2>&1)
  else
    die "tar and gzip, or python3, are needed to unpack"
  fi || { no_room; die "cannot unpack $asset: $(last_line "$why")"; }
  chmod 755 "$tmp/new/$name"
}

# prove runs the new program before anybody else does.
prove() {
  said=$("$tmp/new/$name" version </dev/null 2>&1) || die "the new program does not run here: $(last_line "$said"); nothing was installed"
  case $said in
    "$name $tag "* | "$name ${tag#v} "*) ;;
    *) die "the new program says it is '$(last_line "$said")', not $tag; nothing was installed" ;;
  esac
}

# present prints the version of the installed program, or nothing.
present() {
  [ -x "$target" ] || return 0
  said=$("$target" version </dev/null 2>/dev/null) || return 0
  said=${said#"$name "}
  printf 'v%s' "$(printf %s "${said%% *}" | sed 's/^v//')"
}

# newer A B: A is the higher of two plain versions.
newer() {
  printf '%s\n%s\n' "${1#v}" "${2#v}" | awk -F '[.+-]' '
    { for (i = 1; i <= 3; i++) n[NR, i] = $i + 0 }
    END { for (i = 1; i <= 3; i++) if (n[1, i] != n[2, i]) exit (n[1, i] < n[2, i]); exit 1 }'
}

# ---- PATH ----

single_quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }
fish_quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/[\\\\']/\\\\&/g")"; }

# shellcheck disable=SC2016 # the start file is to expand it
path_line() { printf 'export PATH=%s:"$PATH"' "$(single_quoted "$dir")"; }

# start_files prints "wanted" or "maybe", and a start file, for each shell: those
# of the login shell are made where missing, the others used where they are.
start_files() {
  bash_file=$HOME/.bashrc
  if [ "$(uname -s)" = Darwin ]; then # its terminals start login shells
    bash_file=$HOME/.bash_profile
    for f in .bash_profile .bash_login .profile; do
      if [ -e "$HOME/$f" ]; then bash_file=$HOME/$f; break; fi
    done
  fi
  for shell in bash zsh; do
    file=$bash_file
    if [ $shell = zsh ]; then file=${ZDOTDIR:-$HOME}/.zshrc; fi
    want=maybe
    if [ "${SHELL##*/}" = $shell ]; then want=wanted; fi
    printf '%s %s\n' $want "$file"
  done
}

fish_folder() { printf %s "${XDG_CONFIG_HOME:-$HOME/.config}/fish"; }

add_path() {
  SHELL=${SHELL:-}
  case $dir in *:*) warn "$dir has a colon in its name and cannot be in PATH"; return 0 ;; esac
  case ":$PATH:" in *":$dir:"*) return 0 ;; esac
  [ -n "${HOME:-}" ] || return 0
  added=''
  while read -r want file; do add_line; done <<EOF
$(start_files)
EOF
  if [ "${SHELL##*/}" = fish ] || [ -d "$(fish_folder)" ]; then add_fish; fi
  if [ -n "$added" ]; then say "PATH is set in$added; in this shell: $(path_line)"
  else say "$dir is not in PATH; add it: $(path_line)"
  fi
}

# add_line appends to $file. The end of the line tells removal how the file was
# before, so that it can become exactly that again.
add_line() {
  [ "$want" = wanted ] || [ -e "$file" ] || return 0
  line="$(path_line) $marker"
  if grep -qF -- "$line" "$file" 2>/dev/null; then added="$added $file"; return 0; fi
  if [ "$dry" = yes ]; then say "would add a PATH line to $file"; return 0; fi
  start=''
  if [ ! -e "$file" ]; then line="$line, new file"
  elif [ -s "$file" ] && [ -n "$(tail -c 1 "$file")" ]; then line="$line, new line" start='
'
  fi
  if { printf '%s%s\n' "$start" "$line" >>"$file"; } 2>/dev/null; then added="$added $file"
  else warn "cannot write to $file"
  fi
}

# shellcheck disable=SC2016
fish_lines() { printf '%s\ncontains -- %s $PATH; or set -gx PATH %s $PATH\n' "$marker" "$1" "$1"; }

add_fish() {
  file=$(fish_folder)/conf.d/$name.fish
  if [ "$dry" = yes ]; then say "would write $file"; return 0; fi
  if { mkdir -p "${file%/*}" && fish_lines "$(fish_quoted "$dir")" >"$file"; } 2>/dev/null; then added="$added $file"
  else warn "cannot write $file"
  fi
}

remove_path() {
  SHELL=${SHELL:-}
  [ -n "${HOME:-}" ] || return 0
  for file in "$HOME/.bashrc" "$HOME/.bash_profile" "$HOME/.bash_login" "$HOME/.profile" "${ZDOTDIR:-$HOME}/.zshrc"; do
    if grep -qF -- "$(path_line) $marker" "$file" 2>/dev/null; then remove_line; fi
  done
  file=$(fish_folder)/conf.d/$name.fish
  if grep -qF -- "$(fish_quoted "$dir")" "$file" 2>/dev/null && grep -qxF -- "$marker" "$file"; then
    if [ "$dry" = yes ]; then say "would remove $file"
    elif rm -f "$file" 2>/dev/null; then say "removed $file"
    else warn "cannot remove $file"
    fi
  fi
}

# remove_line writes the file anew beside itself: a full disk must not cost what
# else is in it. A link stays, what it names is replaced.
remove_line() {
  if [ "$dry" = yes ]; then say "would remove the PATH line from $file"; return 0; fi
  real=$file
  while [ -L "$real" ]; do
    next=$(readlink "$real")
    case $next in /*) real=$next ;; *) real=${real%/*}/$next ;; esac
  done
  if (cp -p "$real" "$real.$name-new" && without_line "$real" >"$real.$name-new") 2>/dev/null; then
    if [ ! -s "$real.$name-new" ] && grep -qF "$marker, new file" "$real"; then
      rm -f "$real" "$real.$name-new"
    else
      mv -f "$real.$name-new" "$real"
    fi
    say "removed the PATH line from $file"
  else
    rm -f "$real.$name-new"
    warn "cannot rewrite $file: remove the line with '$marker' by hand"
  fi
}

without_line() {
  ends=yes
  if [ -n "$(tail -c 1 "$1")" ]; then ends=no; fi
  LINE="$(path_line) $marker" LC_ALL=C awk -v ends=$ends '
    index($0, ENVIRON["LINE"]) == 1 { last = NR; joined = $0 ~ /, new line$/; next }
    { if (shown++) printf "\n"; printf "%s", $0 }
    END { if (shown && ends == "yes" && !(last == NR && joined)) printf "\n" }' "$1"
}

# ---- What is done ----

install() {
  platform
  choose_client
  find_release
  old=$(present)
  if [ -z "$version" ] && [ -n "$old" ] && newer "$old" "$tag"; then
    say "$name $old is installed, which is newer than the newest release, $tag (--version ${tag#v} would go back)"
    return
  fi
  if [ "$dry" = yes ]; then plan; return; fi
  if [ "$old" = "$tag" ]; then
    say "$name $tag is up to date: $target"
  else
    replace
    say "$name ${old:+$old -> }$tag: $target"
    if [ -n "$old" ]; then restart_service; fi
  fi
  if [ "$path" = yes ]; then add_path; fi
  shadowed
  if [ "$setup" = yes ]; then run_setup; fi
  say "next: $name config CLIENT --write, for claude-code, cursor, vscode or another"
}

replace() {
  prepare
  say "downloading $asset of $tag"
  download checksums.txt 2048
  check_signature
  download "$asset" 524288
  if ! check_digest; then
    # Bytes of two files may have been joined. Once more from the start.
    rm -f "$tmp/$asset"
    download "$asset" 524288
    check_digest || die "$asset has the SHA-256 $got, not $want as checksums.txt says$(html_hint "$tmp/$asset"); nothing was installed"
  fi
  unpack
  prove
  if [ -e "$target" ]; then # for upgrade --rollback
    ln -f "$target" "$dir/.$name.previous" 2>/dev/null || cp -p "$target" "$dir/.$name.previous" || no_room
  fi
  why=$(mv -f "$tmp/new/$name" "$target" 2>&1) || unwritable
  rm -rf "$tmp"
}

plan() {
  if [ "$old" = "$tag" ]; then say "$name $tag is up to date: $target"
  else say "would download $base/releases/download/$tag/$asset with $client, check it, and install it as $target${old:+ in place of $old}"
  fi
  if [ "$path" = yes ]; then add_path; fi
  if [ "$setup" = yes ]; then say "would run $target setup"; fi
}

restart_service() {
  if [ "$service" = yes ]; then optional service restart --if-running; fi
}

# optional runs a command of the program that its version may not know.
optional() {
  if [ "$dry" = yes ]; then say "would run $target $*"; return 0; fi
  why=$("$target" "$@" </dev/null 2>&1) && return 0
  case $why in
    *'unknown command'* | *'unknown flag'*) ;;
    *) warn "$target $* failed: $(last_line "$why")" ;;
  esac
}

shadowed() {
  first=$(command -v $name 2>/dev/null) || return 0
  case $first in
    "$target") ;;
    /*) warn "another $name comes first in PATH: $first" ;;
  esac
}

run_setup() {
  "$target" setup </dev/null && return 0
  warn "the toolchain could not be installed now; the server tries again when it is first asked (or: $target setup)"
}

uninstall() {
  home=${GTAGS_MCP_HOME:-${HOME:-}/.gtags-mcp}
  if [ -e "$target" ]; then
    if [ "$service" = yes ]; then optional service uninstall; fi
    if [ "$data" = ask ]; then ask; fi
    if [ "$data" = purge ]; then optional setup --uninstall; fi
    for file in "$target" "$dir/.$name.previous"; do
      [ -e "$file" ] || continue
      if [ "$dry" = yes ]; then say "would remove $file"
      else
        why=$(rm -f "$file" 2>&1) || die "cannot remove $file: $(last_line "$why")"
        say "removed $file"
      fi
    done
  else
    say "there is no $target"
  fi
  if [ "$path" = yes ]; then remove_path; fi
  if [ "$dry" = no ] && [ -d "$home" ]; then say "left: $home"; fi
}

# ask asks at the terminal, since standard input is this script.
ask() {
  data=keep
  if [ "$dry" = no ] && (: </dev/tty) 2>/dev/null; then
    printf 'Remove the toolchain and settings in %s too? [y/N] ' "$home" >/dev/tty
    read -r reply </dev/tty || reply=n
    case $reply in [yY]*) data=purge ;; esac
  fi
}

parse "$@"
place
case $action in
  install) install ;;
  uninstall) uninstall ;;
esac
exit 0
}
