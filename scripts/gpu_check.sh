#!/usr/bin/env bash
# gpu_check.sh [--deps FOLDER] [--data FOLDER] [--out FILE] - everything that a machine with a GPU should do, from a clean tree,
# without network, in ten minutes: builds, runs the operation table and the sanitizers of CUDA, compares training losses with
# the CPU's, measures kernels. Ends in a short table; everything measured goes to FILE (default: gpu_check.json).
#
#   --deps FOLDER   where headers and libraries lie that this machine lacks: Debian packages unpacked with dpkg -x
#   --data FOLDER   real images; the built-in ones are used without
#
# GRADUS_CHECK_DEVICE=simt tries this script itself on a machine without a GPU.
set -euo pipefail
cd "$(dirname "$0")/.."
deps='' data=() out=gpu_check.json device=${GRADUS_CHECK_DEVICE:-cuda}
while [ $# -gt 0 ]; do
    case $1 in
        --deps) deps=$(realpath "$2") ;;
        --data) data=(--data "$2") ;;
        --out) out=$2 ;;
        *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    shift 2
done
[ ${#data[@]} -gt 0 ] || data=(--procedural)

begin=$SECONDS failed=() work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() {
    echo "== $* ($((SECONDS - begin)) s)" >&2
}
# Runs one part under a time limit; a part that fails does not stop the others.
part() { # NAME SECONDS COMMAND...
    local name=$1 limit=$2
    shift 2
    say "$name"
    if timeout "$limit" "$@"; then
        echo "$name ok" >>"$work/parts"
    else
        failed+=("$name")
        echo "$name failed" >>"$work/parts"
    fi
}

build() {
    local options=(-DGRADUS_TESTS=ON)
    [ "$device" = simt ] || options+=(-DGRADUS_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native)
    if [ -n "$deps" ]; then
        export PKG_CONFIG_SYSROOT_DIR=$deps PKG_CONFIG_PATH=$deps/usr/lib/x86_64-linux-gnu/pkgconfig:$deps/usr/lib/pkgconfig
        export LD_LIBRARY_PATH=$deps/usr/lib/x86_64-linux-gnu:${LD_LIBRARY_PATH:-}
        options+=(-DCMAKE_PREFIX_PATH="$deps/usr" -DCMAKE_LIBRARY_ARCHITECTURE=x86_64-linux-gnu)
    fi
    cmake -S . -B build/gpu -G Ninja -DCMAKE_BUILD_TYPE=Release "${options[@]}" >"$work/cmake.log" || { cat "$work/cmake.log"; return 1; }
    cmake --build build/gpu
}

# Rows small enough for a sanitizer, on each of CUDA's tools.
sanitize() { # TOOL
    compute-sanitizer --tool "$1" --error-exitcode 1 build/gpu/tests/table/test_table --device "$device" --small
}

# The first losses of a recipe on the GPU and on the CPU, relative difference at most 1e-4.
losses() { # RECIPE BATCH UPDATES
    local on
    for on in cpu "$device"; do
        build/gpu/gradus train "$1" "${data[@]}" --batch "$2" --updates "$3" --device "$on" --log-updates "$work/$1.$on" >/dev/null
    done
    python3 - "$work/$1.cpu" "$work/$1.$device" <<'PY'
import json, sys
cpu, gpu = ([json.loads(line)["loss"] for line in open(path)] for path in sys.argv[1:])
worst = max(abs(a - b) / abs(a) for a, b in zip(cpu, gpu))
print(f"{len(cpu)} losses, largest difference {worst:.1e}")
sys.exit(0 if len(cpu) == len(gpu) and worst < 1e-4 else 1)
PY
}

part build 240 build
part "wrappers" 60 build/gpu/tests/wrappers/test_wrappers "$device"
part "operation table" 240 build/gpu/tests/table/test_table --device "$device"
if [ "$device" = cuda ]; then
    for tool in memcheck racecheck initcheck synccheck; do
        part "$tool" 60 sanitize "$tool"
    done
fi
part "losses of cats-vs-dogs" 60 losses cats-vs-dogs 8 5
part "losses of cifar10-cnn" 60 losses cifar10-cnn 16 20
part "kernels" 120 build/gpu/gradus bench --device "$device" --batch 16,128 --json >"$work/kernels.jsonl"

say "done"
build/gpu/gradus doctor --json >"$work/doctor.json" || true
python3 - "$work" "$out" "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)" <<'PY'
import datetime, json, os, sys
work, out, commit = sys.argv[1:]
def rows(name):
    path = os.path.join(work, name)
    return [json.loads(line) for line in open(path)] if os.path.exists(path) else []
parts = dict(line.rstrip("\n").rsplit(" ", 1) for line in open(os.path.join(work, "parts")))
json.dump({"date": datetime.date.today().isoformat(), "commit": commit, "machine": rows("doctor.json"), "parts": parts,
           "kernels": rows("kernels.jsonl")}, open(out, "w"), indent=1)
for name, end in parts.items():
    print(f"  {name:28} {end}")
print(f"written: {out}")
PY
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
