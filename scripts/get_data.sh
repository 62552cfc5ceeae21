#!/usr/bin/env bash
# get_data.sh cifar10|cats-vs-dogs [FOLDER] - downloads an official archive into FOLDER (default: $GRADUS_DATA, else
# ./datasets), goes on where an earlier try stopped, and checks it; gradus reads it as it is. Does nothing when it is
# there.
set -euo pipefail

usage() {
    echo "usage: scripts/get_data.sh cifar10|cats-vs-dogs [FOLDER]" >&2
    exit 2
}
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    usage
fi
folder=${2:-${GRADUS_DATA:-./datasets}}

# The archive's bytes, with resume. Exit 5 where the network fails.
download() { # URL FILE BYTES
    if [ -f "$2" ] && [ "$(stat -c %s "$2")" -eq "$3" ]; then
        return
    fi
    if ! curl --silent --fail --location --head --max-time 10 --output /dev/null "$1"; then
        echo "get_data: no network here, or $(cut -d/ -f3 <<<"$1") does not answer:" \
            "put the archive at $2 by other means" >&2
        exit 5
    fi
    mkdir -p "$folder"
    echo "get_data: $1 ($3 bytes) -> $2" >&2
    if ! curl --fail --location --connect-timeout 20 --retry 3 --continue-at - --output "$2" "$1"; then
        echo "get_data: the download failed; run the same command again to go on where it stopped" >&2
        echo "get_data: or fetch it by other means and put it at $2" >&2
        exit 5
    fi
    if [ "$(stat -c %s "$2")" -ne "$3" ]; then
        echo "get_data: $2 has $(stat -c %s "$2") bytes, expected are $3; delete it and run this again" >&2
        exit 3
    fi
}

case $1 in
    cifar10) # Krizhevsky, "Learning multiple layers of features from tiny images", 2009
        file=$folder/cifar-10-binary.tar.gz
        unpacked=$folder/cifar-10-batches-bin
        [ -f "$unpacked/test_batch.bin" ] && { echo "get_data: $unpacked is there"; exit 0; }
        download https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz "$file" 170052171
        if ! echo "c32a1d4ab5d03f1284b67883e8d87530  $file" | md5sum --check --quiet; then
            echo "get_data: $file is damaged (md5); delete it and run this again" >&2
            exit 3
        fi
        echo "get_data: $file is complete; gradus reads it as it is" ;;
    cats-vs-dogs) # Microsoft's PetImages, the archive "kagglecatsanddogs_5340"
        file=$folder/kagglecatsanddogs_5340.zip
        [ -d "$folder/PetImages/Dog" ] && { echo "get_data: $folder/PetImages is there"; exit 0; }
        site=https://download.microsoft.com/download/3/E/1/3E1C3F21-ECDB-4869-8368-6DEBA77B919F
        download $site/kagglecatsanddogs_5340.zip "$file" 824887076
        echo "get_data: $file is complete; gradus reads it as it is" ;;
    *) usage ;;
esac
