#!/usr/bin/env bash
# make.sh FOLDER: makes `compiled/`, `shop.tar.gz` and `before.savepoint`, with the `streamc` on the PATH.
# FOLDER, which must not exist, is where the pipeline runs; its path is in the state.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir "$1" && cd "$1"
cp "$here/shop.stream" .
streamc compile shop.stream -o build
variables=(--var "input=$1/in" --var "output=$1/out")

arrive() {  # PART
    for source in orders shipments; do
        mkdir -p "in/$source"
        cp "$here/rows/$source/$1.json" "in/$source/$1.json"
    done
}

arrive 1
streamc run build/shop.py --until-caught-up "${variables[@]}"

# The second part comes to a job that runs on, and is stopped when the last row that is due is out.
arrive 2
streamc run build/shop.py "${variables[@]}" &
job=$!
until ls out/visits/*.json >/dev/null 2>&1; do sleep 1; done
streamc stop --state state/shop
wait "$job"
streamc savepoint create --state state/shop --name before
streamc savepoint export before before.savepoint --state state/shop
rm -r state/shop/savepoints state/shop/logs

rm -rf "$here/compiled"
cp -r build "$here/compiled"
cp before.savepoint "$here/before.savepoint"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=2026-01-01 -c state out | gzip -9n >"$here/shop.tar.gz"
