#!/bin/sh
# As in the official image: POSTGRES_USER, POSTGRES_DB and POSTGRES_PASSWORD_FILE, and `postgres` with the server's options.
# It runs first as root, and then as postgres.
set -e
if [ "$(id -u)" = 0 ]; then
    mkdir -p "$PGDATA"
    chown -R postgres "$PGDATA" /run/postgresql
    chmod 700 "$PGDATA"
    cp "$POSTGRES_PASSWORD_FILE" /tmp/password
    chown postgres /tmp/password
    exec setpriv --reuid=postgres --regid=postgres --clear-groups sh "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    initdb -U "$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256 --auth-local=trust -E UTF8 >/dev/null
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl -w -o "-c listen_addresses=''" start >/dev/null
    createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
    pg_ctl -w stop >/dev/null
fi
rm -f /tmp/password
[ "${1:-}" != postgres ] || shift
exec postgres -c listen_addresses='*' "$@"
