#!/usr/bin/env bash
# install.sh BUILD_FOLDER SOURCE_FOLDER - installs, then builds and runs a small program by pkg-config, by CMake, as C++
# and with the static library; the library's exported symbols must be exactly the functions of its one header. Then a
# project of its own takes the sources in by add_subdirectory: it is configured, and its flags stay its own.
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >/dev/null

for file in bin/gradus include/gradus.h share/gradus/published.csv share/gradus/plot_sweep.py \
    share/gradus/compare_sweeps.py share/gradus/models/cifar10-cnn.txt share/doc/gradus/examples/cifar10.c \
    share/man/man1/gradus.1 share/man/man1/gradus-data-show.1 \
    share/bash-completion/completions/gradus share/zsh/site-functions/_gradus \
    share/fish/vendor_completions.d/gradus.fish; do
    [ -e "$prefix/$file" ] || { echo "install: $file is missing" >&2; exit 1; }
done
version=$("$prefix/bin/gradus" --version)
version=$(grep -m 1 -oE '[0-9.]+' <<<"$version")
version=${version%%$'\n'*}
soname=libgradus.so.${version%.*}
library=$(find "$prefix" -name "$soname")
[ -n "$library" ] || { echo "install: $soname is missing" >&2; exit 1; }
# What a program prints is kept before it is searched: `grep -q` closes a pipe early, which pipefail takes for an error.
contains() { # TEXT EXTENDED_REGEX
    grep -qE -- "$2" <<<"$1"
}
dynamic=$(readelf -d "$library")
contains "$dynamic" "SONAME.*\[$soname\]" || { echo "install: wrong soname" >&2; exit 1; }
if grep -q '#include "' "$prefix/include/gradus.h"; then
    echo "install: gradus.h includes other files of its own" >&2
    exit 1
fi

# What updates.h declares is exported for `gradus bench` alone, and stands in no public header.
functions() { grep -vE '^ ?\*|^/\*|^   ' "$1" | grep -oE '\bgr_[a-z0-9_]+\(' | tr -d '(' | sort -u; }
functions "$source/kernels/ops/updates.h" >"$work/private"
nm -D --defined-only "$library" | awk '{print $3}' | sort | comm -23 - "$work/private" >"$work/exported"
functions "$prefix/include/gradus.h" >"$work/declared"
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
# As docs/program.md says, without $LD_LIBRARY_PATH; every example that is installed.
# shellcheck disable=SC2046
(unset LD_LIBRARY_PATH
 cc "$work/use.c" $(pkg-config --cflags --libs gradus) -Wl,-rpath,"${library%/*}" -o "$work/by_rpath"
 "$work/by_rpath" >/dev/null)
for example in "$prefix"/share/doc/gradus/examples/*.c; do
    # shellcheck disable=SC2046
    cc "$example" $(pkg-config --cflags --libs gradus) -lm -o "$work/example"
done
cat >"$work/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(use LANGUAGES C)
find_package(Gradus 0.2 REQUIRED COMPONENTS static)
foreach(library gradus gradus_static)
  add_executable(by_${library} use.c)
  target_link_libraries(by_${library} PRIVATE Gradus::${library})
endforeach()
# an example as it is installed
add_executable(cifar10 ${CMAKE_PREFIX_PATH}/share/doc/gradus/examples/cifar10.c)
target_link_libraries(cifar10 PRIVATE Gradus::gradus m)
CMAKE
cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/build" >/dev/null
for program in "$work/by_pkg_config" "$work/by_cpp" "$work/build/by_gradus" "$work/build/by_gradus_static"; do
    [ "$("$program")" = "$version 10" ] || { echo "install: ${program##*/} printed $("$program")" >&2; exit 1; }
done
dynamic=$(readelf -d "$work/build/by_gradus_static")
if contains "$dynamic" libgradus; then
    echo "install: the program with the static library needs the shared one" >&2
    exit 1
fi

# As a part of another project: not built here, which would take as long as a build takes.
mkdir "$work/host"
cp "$work/use.c" "$work/host"
cat >"$work/host/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(host LANGUAGES C CXX)
add_subdirectory($source gradus EXCLUDE_FROM_ALL)
add_executable(use use.c)
target_link_libraries(use PRIVATE Gradus::gradus)
install(TARGETS use)
CMAKE
cmake -S "$work/host" -B "$work/host/build" -G Ninja -DGRADUS_CUDA=OFF -DCMAKE_BUILD_TYPE=Debug >/dev/null
commands=$(ninja -C "$work/host/build" -t commands use.c^ 2>/dev/null ||
    ninja -C "$work/host/build" -t commands CMakeFiles/use.dir/use.c.o)
own=$(grep 'use\.c' <<<"$commands")
if contains "$own" '-Werror|-Wall|_GNU_SOURCE|-O2'; then
    echo "install: add_subdirectory leaks flags: $own" >&2
    exit 1
fi
ninja -C "$work/host/build" CMakeFiles/use.dir/use.c.o >/dev/null # sees gradus.h, which is made before
inputs=$(ninja -C "$work/host/build" -t inputs use)
if ! contains "$inputs" 'libgradus\.so'; then
    echo "install: add_subdirectory does not link" >&2
    exit 1
fi
targets=$(ninja -C "$work/host/build" -t targets all)
if contains "$targets" 'gradus_tool|test_tape'; then
    echo "install: add_subdirectory brings the tool or the tests" >&2
    exit 1
fi
echo "installed library, header and packages work"
