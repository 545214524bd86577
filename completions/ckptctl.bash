# bash completion for ckptctl; generated, do not edit
_ckptctl() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words=""
    if [[ $COMP_CWORD -eq 1 ]]; then
        words="scan rename reindex migrate apply undo resume history diff latest best policy rules demo --version --help"
    else
        case "$prev" in
            --layout) words="ray-legacy ray-tune-2.7 ray-tune ray-train-v2 plain" ;;
            --select) words="CKP001 CKP002 CKP003 CKP004 CKP005 CKP006 CKP101 CKP102 CKP103 CKP104 CKP105 CKP106 CKP107 CKP108 CKP109 CKP110 CKP111 CKP112 CKP113 CKP114 CKP115 CKP116 CKP117 CKP201 CKP202 CKP203 CKP204 CKP205 CKP206 CKP207 CKP301 CKP302 CKP303 CKP401 CKP402 CKP403 CKP404 CKP901 CKP902" ;;
            --ignore) words="CKP001 CKP002 CKP003 CKP004 CKP005 CKP006 CKP101 CKP102 CKP103 CKP104 CKP105 CKP106 CKP107 CKP108 CKP109 CKP110 CKP111 CKP112 CKP113 CKP114 CKP115 CKP116 CKP117 CKP201 CKP202 CKP203 CKP204 CKP205 CKP206 CKP207 CKP301 CKP302 CKP303 CKP401 CKP402 CKP403 CKP404 CKP901 CKP902" ;;
            --fail-on) words="error warning info never" ;;
            --executor) words="local ray dask" ;;
            --format) words="text json jsonl tsv csv github sarif junit markdown" ;;
            --color) words="auto always never" ;;
            --on-missing) words="error skip" ;;
            --by) words="sequential training_iteration ray-2.6" ;;
            --mode) words="min max" ;;
        esac
        if [[ -z $words && $cur == -* ]]; then
            case "${COMP_WORDS[1]}" in
                scan) words="--layout --trial --select --ignore --fail-on --baseline --write-baseline --for-ray --for-pyarrow --deep --html --executor --format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                rename) words="--to --on-missing --allow-reorder --layout --trial -n --dry-run -y --yes --check --allow-live --quiet-period --no-lock --keep-going --plan-out --executor --format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                reindex) words="--by --relocate --allow-reorder --layout --trial --deep -n --dry-run -y --yes --check --unsafe --quarantine --allow-live --quiet-period --no-lock --keep-going --plan-out --executor --format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                migrate) words="--to-ray --to-pyarrow --to-python --layout -n --dry-run -y --yes --check --unsafe --allow-live --quiet-period --no-lock --keep-going --plan-out --executor --format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                apply) words="-n --dry-run -y --yes --check --allow-live --quiet-period --no-lock --executor --format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                undo) words="-n --dry-run -y --yes --check --allow-live --quiet-period --no-lock --executor --format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                resume) words="-n --dry-run -y --yes --no-lock --executor --format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                history) words="--prune -n --dry-run -y --yes --no-lock --format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                diff) words="--format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                latest) words="--layout --trial --deep --executor --format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                best) words="--metric --mode --layout --trial --deep --executor --format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                policy) words="--layout --trial --fail-on --executor --format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                rules) words="--format --json -o --output -q --quiet -v --verbose --color --config --show-config -h --help" ;;
                demo) words="-h --help" ;;
            esac
        elif [[ -z $words && ${COMP_WORDS[1]} == rules ]]; then
            words="CKP001 CKP002 CKP003 CKP004 CKP005 CKP006 CKP101 CKP102 CKP103 CKP104 CKP105 CKP106 CKP107 CKP108 CKP109 CKP110 CKP111 CKP112 CKP113 CKP114 CKP115 CKP116 CKP117 CKP201 CKP202 CKP203 CKP204 CKP205 CKP206 CKP207 CKP301 CKP302 CKP303 CKP401 CKP402 CKP403 CKP404 CKP901 CKP902"
        fi
    fi
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
# Without a word of its own the shell completes paths.
complete -o bashdefault -o default -F _ckptctl ckptctl
