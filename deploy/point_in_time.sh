#!/bin/sh
# Point-in-time recovery of PostgreSQL with its own tools; runs as the server's user, on the server's machine.
#   wal PATH NAME     keeps a WAL segment: whole or not at all, and never in place of another one (archive_command)
#   fetch NAME PATH   brings a segment back (restore_command)
#   base [KEEP]       takes a base backup, and keeps the newest KEEP (2) and the WAL that they need
#   restore INSTANT   fills the data folder from the newest base backup before then; the server replays WAL up to it
# ARCHIVE is the archive's folder, PGDATA the server's. Needs gzip and GNU's tar, date and cmp.
set -eu
umask 077
archive=${ARCHIVE:-/archive}
self=$(readlink -f "$0")

fail() {
    echo "$1" >&2
    exit 1
}

keep_wal() {
    to=$archive/wal/$2.gz
    if [ -e "$to" ]; then
        gunzip -c "$to" | cmp -s - "$1" || fail "$to holds another segment: two servers use one archive"
        return
    fi
    gzip -c "$1" >"$to.part"
    sync "$to.part"
    mv "$to.part" "$to"
    sync "$archive/wal"
}

fetch_wal() {
    [ -e "$archive/wal/$1.gz" ] && gunzip -c "$archive/wal/$1.gz" >"$2"
}

take_base() {
    making=$archive/base/making
    rm -rf "$making"
    pg_basebackup --pgdata="$making" --format=tar --gzip --wal-method=fetch --checkpoint=fast --no-password
    # Named by its end: from then on it can be brought to any instant.
    made=$archive/base/$(date -u +%Y%m%dT%H%M%SZ)
    mv "$making" "$made"
    find "$archive/base" -mindepth 1 -maxdepth 1 -name '2*Z' | sort | head -n "-$1" | while read -r old; do
        rm -rf "$old"
    done
    oldest=$(find "$archive/base" -mindepth 1 -maxdepth 1 -name '2*Z' | sort | head -n 1)
    needed=$(tar -xzOf "$oldest/base.tar.gz" backup_label | sed -n 's/^START WAL LOCATION: .*file \([0-9A-F]*\).*/\1/p')
    pg_archivecleanup -x .gz "$archive/wal" "$needed"
    echo "$made"
}

restore_base() {
    instant=$(date -u -d "$1" '+%Y-%m-%d %H:%M:%S.%6N+00')
    second=$(date -u -d "$1" +%Y%m%dT%H%M%SZ)
    base=
    for one in "$archive"/base/2*Z; do
        if [ -e "$one" ] && [ "$(printf '%s\n%s\n' "${one##*/}" "$second" | sort | head -n 1)" != "$second" ]; then
            base=$one
        fi
    done
    [ -n "$base" ] || fail "there is no base backup from before $instant in $archive/base"
    [ ! -e "$PGDATA/postmaster.pid" ] ||
        fail "stop PostgreSQL first; if none runs, it was killed: then delete $PGDATA/postmaster.pid"
    if [ -n "$(ls -A "$PGDATA")" ]; then
        aside=$archive/replaced/$(date -u +%Y%m%dT%H%M%SZ)
        mkdir -p "$aside"
        cp -a "$PGDATA/." "$aside/"
        find "$PGDATA" -mindepth 1 -delete
        echo "what was there is in $aside: delete it when nobody needs it"
    fi
    tar -xzf "$base/base.tar.gz" -C "$PGDATA"
    chmod 700 "$PGDATA"
    sed -i '/^\(restore_command\|recovery_target\)/d' "$PGDATA/postgresql.auto.conf"
    cat >>"$PGDATA/postgresql.auto.conf" <<END
restore_command = 'ARCHIVE="$archive" sh "$self" fetch %f "%p"'
recovery_target_time = '$instant'
recovery_target_action = 'promote'
END
    touch "$PGDATA/recovery.signal"
    echo "start PostgreSQL: from ${base##*/} it replays WAL up to $instant, and then takes writes"
}

case "${1:-}" in
wal) keep_wal "$2" "$3" ;;
fetch) fetch_wal "$2" "$3" ;;
base) take_base "${2:-2}" ;;
restore) restore_base "$2" ;;
*) fail "usage: $0 wal PATH NAME | fetch NAME PATH | base [KEEP] | restore INSTANT" ;;
esac
