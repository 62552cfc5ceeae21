#!/usr/bin/env bash
# run.sh - from a fresh checkout to a picture: installs what is missing, builds, finds or fetches the photographs of
# cats and dogs, trains the published network for several batch sizes and optimizers, and draws accuracy against batch
# size. The first test accuracy comes after one epoch; the picture is drawn early and again when more runs are done.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
echo "run: building (about a minute on two cores)" >&2
cmake --preset release -DGRADUS_TESTS=OFF >/dev/null
cmake --build --preset release --target gradus_tool
gradus=build/release/gradus

root=${GRADUS_DATA:-datasets}
if [ -d "$root/PetImages" ] || scripts/get_data.sh cats-vs-dogs "$root"; then
    out=results/cats-vs-dogs
    images=(--data "$root")
else
    echo "run: no photographs in $root: using the built-in drawn pictures instead" >&2
    out=results/procedural
    images=(--procedural)
fi

echo "run: one epoch, to see a first test accuracy" >&2
"$gradus" train cats-vs-dogs "${images[@]}" --batch 64 --optimizer adam --epochs 1
# The same folder each time: a sweep runs only what is missing, then draws all there is.
sweep() {
    "$gradus" sweep cats-vs-dogs "${images[@]}" --epochs 5 --optimizer sgd,adam --out "$out" "$@"
    echo "The picture: $out/accuracy.png (and .svg); the numbers: $out/results.csv"
}
sweep --batch 64 --seeds 1
sweep --batch 16,64 --seeds 1
sweep --batch 16,64 --seeds 2
echo "The same as a page, with learning curves, speed and memory: $("$gradus" report "$out")"
echo "run: done. More seeds and batch sizes, into the same picture:" >&2
echo "run:   $gradus sweep cats-vs-dogs ${images[*]} --epochs 5 --optimizer sgd,adam --out $out" \
    "--batch 16,32,64,128 --seeds 5" >&2
