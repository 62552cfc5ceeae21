#!/usr/bin/env bash
# long_check.sh - what takes hours: every mutant of every kernel, ten minutes of each fuzz target, and the published
# experiments at full length. Needs real images under GRADUS_DATA. Results go to tests/long/DATE.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${GRADUS_DATA:?names no data root; the experiments need real images (scripts/get_data.sh)}"
out=tests/long/$(date +%F)
mkdir -p "$out"
scripts/test.sh --full
ctest --preset release --label-regex long
cmake --build --preset asan --target test_ptx test_tensor_cores
ctest --preset asan --tests-regex "cli_(sweep|checkpoint|report|draw|landscape)|table_plain|ptx_planted|tensor_cores"
build/asan/tests/table/test_table --device simt
for device in simt ptx; do # what a machine with a GPU will run
    [ "$device" = simt ] || command -v nvcc >/dev/null || continue
    GRADUS_CHECK_DEVICE=$device scripts/gpu_check.sh --out "$out/gpu_check.$device.json"
done
python3 scripts/mutants.py | tee "$out/mutants.txt" || echo "mutants survived: see $out/mutants.txt" >&2
python3 scripts/mutants.py --cuda | tee "$out/mutants_cuda.txt" ||
    echo "mutants survived: see $out/mutants_cuda.txt" >&2

# Machine code for the other GPUs beside its budget, and their PTX, each in an order of its own, beside what of it was
# run; the full tests have looked at sm_80's.
if command -v nvcc >/dev/null; then
    cmake -S . -B build/code -G Ninja -DCMAKE_BUILD_TYPE=Release -DGRADUS_TESTS=ON -DGRADUS_CUDA=ON \
        "-DCMAKE_CUDA_ARCHITECTURES=75;90a" "-DGRADUS_PTX=75;90a" >/dev/null
    cmake --build build/code --target gradus test_table_ptx
    ctest --test-dir build/code --tests-regex machine_code
    cover=$PWD/build/code/ptx_coverage.jsonl table=build/code/tests/ptx/test_table_ptx
    rm -f "$cover"
    for order in "arch=75 order=reverse copies=early streams=early" "arch=90 order=random copies=late"; do
        "$table" --list | cut -d' ' -f1 | sort -u |
            GRADUS_PTX="$order cover=$cover" xargs -P 2 -I{} "$table" --device cuda --op {}
    done
    python3 -B tests/ptx/coverage.py --reasons tests/ptx/unreached.csv "$cover"
fi

# Ten minutes of each fuzz target, from its corpus; what a target finds stays in $out and ends the run.
if command -v clang >/dev/null; then
    cmake --preset fuzz >/dev/null
    cmake --build --preset fuzz
    for target in build/fuzz/tests/fuzz/fuzz_*; do
        if ! [ -x "$target" ] || ! [ -f "$target" ]; then
            continue
        fi
        name=$(basename "$target")
        found=$(mktemp -d)
        "$target" -max_total_time=600 -max_len=4096 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
            -artifact_prefix="$out/$name-" "$found" "tests/fuzz/corpus/${name#fuzz_}" >"$out/$name.txt" 2>&1 ||
            { tail -30 "$out/$name.txt" >&2; exit 1; }
        rm -r "$found"
        executions=$(awk '/number_of_executed_units/ {print $2}' "$out/$name.txt")
        echo "$name: $executions executions, no crash" | tee -a "$out/fuzz.txt"
    done
else
    echo "long_check: no clang here, the fuzz targets are left out (apt-get install clang)" >&2
fi
gradus=build/release/gradus
"$gradus" sweep cats-vs-dogs --batch 16,32,64,128 --optimizer sgd,adam --seeds 5 --out "$out/cats-vs-dogs"
"$gradus" sweep cifar10-cnn --batch 32 --optimizer adam --seeds 3 --out "$out/cifar10-cnn"
