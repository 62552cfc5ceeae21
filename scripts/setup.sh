#!/usr/bin/env bash
# setup.sh - installs what building, testing and drawing need and this machine lacks. Says what, and does nothing when
# all is there. With apt it works as root or through sudo; elsewhere it says what to install by hand.
set -euo pipefail

# command or file that proves it, Debian package
needs=(
    "command:cc gcc" "command:g++ g++" "command:cmake cmake" "command:ninja ninja-build" "command:pkg-config pkg-config"
    "pkg:jansson libjansson-dev" "pkg:zlib zlib1g-dev" "pkg:cmocka libcmocka-dev"
    "file:/usr/include/stb/stb_image.h libstb-dev" "pkg:libturbojpeg libturbojpeg0-dev"
    "command:python3 python3" "module:matplotlib python3-matplotlib" "command:curl curl"
)

has() { # KIND:NAME
    local name=${1#*:}
    case ${1%%:*} in
        command) command -v "$name" >/dev/null ;;
        pkg) pkg-config --exists "$name" 2>/dev/null ;;
        file) [ -e "$name" ] ;;
        module) /usr/bin/python3 -c "import $name" 2>/dev/null || python3 -c "import $name" 2>/dev/null ;;
    esac
}

missing=()
for need in "${needs[@]}"; do
    has "${need% *}" || missing+=("${need##* }")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "setup: this machine has no apt-get. Install what these Debian packages hold, then run this again:" >&2
    echo "setup:   ${missing[*]}" >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: neither root nor sudo here. Ask an administrator for: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "setup: installing with apt-get: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
