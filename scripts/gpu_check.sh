#!/usr/bin/env bash
# gpu_check.sh [--deps FOLDER] [--data FOLDER] [--out FILE] [--minutes N] - everything that a machine with a GPU should do, from a
# clean tree, without network, in ten minutes (or N): builds; runs every PTX wrapper beside its emulated twin, the operation table,
# updates with and without graphs, the sanitizers of CUDA; compares training losses with the CPU's; measures ceilings, kernels, the
# ladder and, where PyTorch is installed ($PYTHON, default python3), training steps beside PyTorch's. What no time is left for is
# said so. Ends in a short table; everything goes to FILE (default: gpu_check.json).
#
#   --deps FOLDER   where headers and libraries lie that this machine lacks: Debian packages unpacked with dpkg -x
#   --data FOLDER   real images; the built-in ones are used without
#
# GRADUS_CHECK_DEVICE=simt tries this script itself on a machine without a GPU, with fewer rows and updates.
set -euo pipefail
cd "$(dirname "$0")/.."
deps='' data=(--procedural) out=gpu_check.json minutes=10 device=${GRADUS_CHECK_DEVICE:-cuda} python=${PYTHON:-python3}
while [ $# -gt 0 ]; do
    case $1 in
        --deps) deps=$(realpath "$2") ;;
        --data) data=(--data "$2") ;;
        --out) out=$2 ;;
        --minutes) minutes=$2 ;;
        *) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    shift 2
done

begin=$SECONDS failed=() work=$(mktemp -d) build=build/gpu
trap 'rm -rf "$work"' EXIT

# Runs one part under a time limit; a part that fails does not stop the others.
part() { # NAME SECONDS COMMAND...
    local name=$1 limit=$2 start=$SECONDS end=ok left=$((60 * minutes - (SECONDS - begin)))
    shift 2
    [ "$left" -gt "$limit" ] || limit=$left
    echo "== $name ($((SECONDS - begin)) s)" >&2
    if [ "$limit" -le 0 ]; then
        end=no-time
    elif ! (export -f build sanitize losses into; timeout "$limit" bash -euo pipefail -c '"$@"' part "$@"); then
        end=failed
    fi
    [ "$end" = ok ] || failed+=("$name")
    echo "$name $end $((SECONDS - start))" >>"$work/parts"
}

build() {
    local options=(-DGRADUS_TESTS=ON)
    [ "$device" = simt ] && options+=(-DGRADUS_CUDA=OFF) || options+=(-DGRADUS_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native)
    [ -z "$deps" ] || options+=(-DCMAKE_PREFIX_PATH="$deps/usr" -DCMAKE_LIBRARY_ARCHITECTURE=x86_64-linux-gnu)
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "${options[@]}" >"$work/cmake.log" || { cat "$work/cmake.log"; return 1; }
    cmake --build "$build" --target gradus_tool test_table test_wrappers test_step_graph
}

# Rows small enough for a sanitizer, on each of CUDA's tools.
sanitize() { # TOOL
    compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/table/test_table" --device "$device" --small
}

# The first losses of a recipe on the GPU and on the CPU: the relative difference is at most 1e-4.
losses() { # RECIPE BATCH UPDATES OPTION...
    local on recipe=$1 batch=$2 updates=$3
    shift 3
    for on in cpu "$device"; do
        "$build/gradus" train "$recipe" "$@" --batch "$batch" --updates "$updates" --device "$on" --no-evaluation \
            --log-updates "$work/$recipe.$on" >/dev/null
    done
    python3 - "$work/$recipe.cpu" "$work/$recipe.$device" "$work/losses.$recipe" <<'PY'
import json, sys
cpu, gpu = ([json.loads(line)["loss"] for line in open(path)] for path in sys.argv[1:3])
worst = max(abs(a - b) / abs(a) for a, b in zip(cpu, gpu))
json.dump({"updates": len(cpu), "worst": worst, "cpu": cpu, "gpu": gpu}, open(sys.argv[3], "w"))
sys.exit(0 if len(cpu) == len(gpu) and worst < 1e-4 else f"largest difference {worst:.1e}")
PY
}

into() { # FILE COMMAND...
    local file=$1
    shift
    "$@" >"$file"
}

if [ -n "$deps" ]; then
    export PKG_CONFIG_SYSROOT_DIR=$deps PKG_CONFIG_PATH=$deps/usr/lib/x86_64-linux-gnu/pkgconfig:$deps/usr/lib/pkgconfig
    export LD_LIBRARY_PATH=$deps/usr/lib/x86_64-linux-gnu:${LD_LIBRARY_PATH:-}
fi
export build device work deps

part build 300 build
part wrappers 60 "$build/tests/wrappers/test_wrappers" "$device"
if [ "$device" = cuda ]; then
    table=() updates=20 kernels=(--batch "16,128")
else
    table=(--small) updates=3 kernels=(relu max_pool2d sgd_step --batch 4 --seconds 0.01)
fi
part "operation table" 240 "$build/tests/table/test_table" --device "$device" "${table[@]}"
part "updates as graphs" 60 env "GRADUS_TEST_DEVICE=$device" "$build/tests/test_step_graph"
part "losses of cats-vs-dogs" 60 losses cats-vs-dogs 2 "$((updates / 3))" "${data[@]}"
part "losses of cifar10-cnn" 60 losses cifar10-cnn 4 "$updates" "${data[@]}"
part "losses of resnet18-cifar" 60 losses resnet18-cifar 2 1 "${data[@]}"
if [ "$device" = cuda ]; then
    part ladder 60 into "$work/ladder.jsonl" "$build/gradus" bench gemm --ladder --device cuda --json
    for tool in memcheck racecheck initcheck synccheck; do
        part "$tool" 60 sanitize "$tool"
    done
fi
part kernels 180 into "$work/kernels.jsonl" "$build/gradus" bench --device "$device" --json "${kernels[@]}"
if [ "$device" = cuda ] && "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    part "steps beside PyTorch" 180 env "GRADUS_LIBRARY=$PWD/$build/libgradus.so" "$python" scripts/bench_pytorch.py --device cuda \
        --rounds 2 --seconds 0.3 --out "$work/steps"
fi

echo "== done ($((SECONDS - begin)) s)" >&2
"$build/gradus" doctor --json >"$work/doctor.json" || true
python3 scripts/gpu_report.py "$work" "$out" "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)" "$device"
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
