#!/usr/bin/env bash
# Scan a place, and say in a word what each exit code means: check.sh LOCATION
set -euo pipefail

location="${1:?usage: check.sh LOCATION}"

code=0
ckptctl scan "$location" --fail-on error || code=$?
case "$code" in
  0) echo "clean" ;;
  1) echo "there are findings" ;;
  10) echo "cannot be read" ;;
  *) echo "failed with $code" ;;
esac

if [ "$code" -eq 1 ]; then
  # Nothing is changed: 1 means that reindex would mend something, 0 that a person has to.
  mend=0
  ckptctl reindex "$location" --check --quiet || mend=$?
  if [ "$mend" -eq 1 ]; then
    echo "run: ckptctl reindex $location"
  fi
fi
exit "$code"
