#!/usr/bin/env bash
# install.sh BUILD_FOLDER - installs, then builds and runs a small program by pkg-config, by CMake and as C++; the library's
# exported symbols must be exactly the functions of its one header.
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >/dev/null

for file in bin/gradus include/gradus.h share/gradus/published.csv share/gradus/plot_sweep.py share/gradus/compare_sweeps.py; do
    [ -e "$prefix/$file" ] || { echo "install: $file is missing" >&2; exit 1; }
done
library=$(find "$prefix" -name 'libgradus.so.0.2')
[ -n "$library" ] || { echo "install: libgradus.so.0.2 is missing" >&2; exit 1; }
readelf -d "$library" | grep -q 'SONAME.*\[libgradus.so.0.2\].2' || { echo "install: wrong soname" >&2; exit 1; }
if grep -q '#include "' "$prefix/include/gradus.h"; then
    echo "install: gradus.h includes other files of its own" >&2
    exit 1
fi

nm -D --defined-only "$library" | awk '{print $3}' | sort >"$work/exported"
grep -vE '^ ?\*|^/\*|^   ' "$prefix/include/gradus.h" | grep -oE '\bgr_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$work/declared"
if ! diff "$work/exported" "$work/declared"; then
    echo "install: exported (<) and declared in gradus.h (>) are not the same functions" >&2
    exit 1
fi

cat >"$work/use.c" <<'C'
#include <gradus.h>
#include <stdio.h>
int main(void)
{
    gr_options options = {};
    gr_context *ctx = gr_open(&options);
    gr_module *net = gr_cifar10_cnn(ctx);
    int64_t shape[3] = {32, 32, 3};
    gr_module_build(net, 3, shape);
    printf("%s %d\n", gr_version(), gr_parameter_count(net));
    return gr_close(ctx);
}
C
cp "$work/use.c" "$work/use.cpp"
export PKG_CONFIG_PATH=${library%/*}/pkgconfig LD_LIBRARY_PATH=${library%/*}
# pkg-config's words are options, to be split
# shellcheck disable=SC2046
cc "$work/use.c" $(pkg-config --cflags --libs gradus) -o "$work/by_pkg_config"
# shellcheck disable=SC2046
c++ -Wall -Werror "$work/use.cpp" $(pkg-config --cflags --libs gradus) -o "$work/by_cpp"
cat >"$work/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(use LANGUAGES C)
find_package(Gradus 0.2 REQUIRED)
add_executable(by_cmake use.c)
target_link_libraries(by_cmake PRIVATE Gradus::gradus)
CMAKE
cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/build" >/dev/null
for program in "$work/by_pkg_config" "$work/by_cpp" "$work/build/by_cmake"; do
    [ "$("$program")" = "$("$prefix/bin/gradus" --version | grep -oE '[0-9.]+' | head -1) 10" ] ||
        { echo "install: ${program##*/} printed $("$program")" >&2; exit 1; }
done
echo "installed library, header and packages work"
