#!/usr/bin/env bash
# Rename checkpoints without a terminal, and read from the answer what was done:
# rename.sh LOCATION TEMPLATE
set -euo pipefail

location="${1:?usage: rename.sh LOCATION TEMPLATE}"
template="${2:?usage: rename.sh LOCATION TEMPLATE}"

code=0
answer="$(ckptctl rename "$location" --to "$template" --yes --json)" || code=$?
case "$code" in
  0) ;;
  11) echo "interrupted before: ckptctl resume $location, or ckptctl undo $location" >&2 ;;
  12) echo "changed meanwhile: try again" >&2 ;;
  13) echo "stopped part-way: ckptctl resume $location, or ckptctl undo $location" >&2 ;;
  14) echo "refused: the message above says which template would pass" >&2 ;;
esac
if [ "$code" -ne 0 ]; then
  exit "$code"
fi

# One line for each checkpoint: its old name and its new one.
python3 -c '
import json, sys
for plan in json.load(sys.stdin)["plans"]:
    for rename in plan["renames"]:
        print(rename["from"], rename["to"])
' <<< "$answer"
