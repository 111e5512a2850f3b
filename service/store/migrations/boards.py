"""Creates the tables of boards, and the functions and triggers that keep them equal to the ledger.

Every change goes through `change_boards`, under a lock on the workspace's boards that is held until the transaction
ends. It is the last lock that a transaction takes: nothing waits for another lock while it holds this one, except for
the locks on boards of further workspaces, in the order of their ids.

The functions read boards by index only: a new board's statistics say that it is empty, and a plan made with them scans
and sorts it for each member. Where a join could still scan a whole table for each row, the look-up is a subquery of its
own (`lateral` with a limit), which PostgreSQL executes once for each row.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from service.store.migrations.board_pages import READING
from service.store.migrations.columns import INSTANT, id_column, refer

BLOCK_SIZE = """
create function block_size() returns int language sql immutable as $$
    -- Members in a new block. A block is split when it has more than twice as many.
    select 1024
$$
"""

IS_LARGE_PART = """
create function is_large_part(changes bigint, ranked numeric) returns boolean language sql immutable as $$
    -- Whether so many changes to a board of so many ranked members make it cheaper to make its blocks anew than to
    -- count them up, entry by entry.
    select changes > block_size() and 4 * changes > ranked
$$
"""

LOCK_BOARDS = """
create function lock_boards(workspaces bigint[]) returns void language plpgsql as $$
declare
    key int;
begin
    for key in select distinct (id % 2147483647)::int from unnest(workspaces) id order by 1 loop
        perform pg_advisory_xact_lock(893207, key);
    end loop;
end $$
"""

CHANGE_BOARDS = """
create function change_boards(
    boards bigint[], people bigint[], points_by bigint[], credit_by bigint[], answered_by bigint[],
    entries_by bigint[], ms_by bigint[]
) returns void language plpgsql set plan_cache_mode = force_custom_plan set enable_seqscan = off
set work_mem = '64MB' set jit = off as $$
declare
    touched bigint[];
    remade bigint[];
begin
    select array_agg(c.id), coalesce(array_agg(c.id) filter (where is_large_part(c.changes, (
        select sum(k.members) from board_block k where k.board_id = c.id and k.contest = 'points'
    ))), '{}') into touched, remade
    from (select id, count(*) as changes from unnest(boards) id group by id) c;
    -- Adds to the members' sums, and finds out who is ranked, a rookie or improved. Adding zero only does the latter.
    with change as materialized (
        select * from unnest(boards, people, points_by, credit_by, answered_by, entries_by, ms_by)
            as t (board_id, member_id, points, credit, answered, entries, ms)
    ), person as materialized (
        select m.id, not m.hidden and m.merged_into is null as shown,
            (select min(l.at) from ledger l where l.member_id = m.id and l.round_id is not null) as first_at
        from member m where m.id in (select member_id from change)
    ), summed as (
        select c.board_id, c.member_id, coalesce(r.points, 0) + c.points as points,
            coalesce(r.credit, 0) + c.credit as credit, coalesce(r.answered, 0) + c.answered as answered,
            coalesce(r.entries, 0) + c.entries as entries, coalesce(r.ms, 0) + c.ms as ms,
            p.shown and (b.channel_id is null or coalesce(r.entries, 0) + c.entries > 0) as visible,
            coalesce(p.first_at >= b.since, false) as new, b.previous_id, r.board_id is not null as known,
            r.ranked as was_ranked, r.rookie as was_rookie, r.gain as old_gain, r.ms as old_ms,
            -(r.points * 1073741824 + r.accuracy) as old_deficit
        from change c
        join board b on b.id = c.board_id
        join person p on p.id = c.member_id
        left join lateral (
            select * from board_member k where k.board_id = c.board_id and k.member_id = c.member_id limit 1
        ) r on true
    ), measured as (
        -- Rounded, in whole numbers: half a unit is added before the division.
        select *, case when answered > 0 then
            least(1000000000, greatest(0, (credit + answered * 500) / (answered * 1000))) else 0 end as accuracy
        from summed
    ), after as materialized (
        select s.board_id, s.member_id, s.points, s.credit, s.answered, s.entries, s.ms, s.accuracy,
            s.visible and s.points > 0 as ranked, s.visible and s.points > 0 and s.new as rookie,
            case when s.visible and s.answered >= 3 and s.accuracy > e.accuracy then s.accuracy - e.accuracy
            end as gain,
            s.known, s.was_ranked, s.was_rookie, s.old_gain, s.old_ms, s.old_deficit,
            -(s.points * 1073741824 + s.accuracy) as deficit,
            (s.old_deficit, s.old_ms) is not distinct from (-(s.points * 1073741824 + s.accuracy), s.ms) as same
        from measured s
        left join lateral (
            select k.accuracy from board_member k
            where k.board_id = s.previous_id and k.member_id = s.member_id and k.answered >= 3 and s.answered >= 3
            limit 1
        ) e on true
    ), lost as materialized (
        select board_id, 'points' as contest, old_deficit as deficit, old_ms as ms, member_id
        from after where was_ranked and not (ranked and same)
        union all
        select board_id, 'rookies', old_deficit, old_ms, member_id from after where was_rookie and not (rookie and same)
        union all
        select board_id, 'improved', -old_gain, 0, member_id from after
        where old_gain is not null and gain is distinct from old_gain
    ), won as materialized (
        select board_id, 'points' as contest, deficit, ms, member_id
        from after where ranked and not (same and was_ranked)
        union all
        select board_id, 'rookies', deficit, ms, member_id from after where rookie and not (same and was_rookie)
        union all
        select board_id, 'improved', -gain, 0, member_id from after
        where gain is not null and gain is distinct from old_gain
    ), begun as (
        insert into board_member
            (board_id, member_id, points, credit, answered, entries, ms, accuracy, ranked, rookie, gain)
        select board_id, member_id, points, credit, answered, entries, ms, accuracy, ranked, rookie, gain
        from after where not known
    ), went_on as (
        insert into board_member
            (board_id, member_id, points, credit, answered, entries, ms, accuracy, ranked, rookie, gain)
        select board_id, member_id, points, credit, answered, entries, ms, accuracy, ranked, rookie, gain
        from after where known
        on conflict (board_id, member_id) do update set
            points = excluded.points, credit = excluded.credit, answered = excluded.answered,
            entries = excluded.entries, ms = excluded.ms, accuracy = excluded.accuracy, ranked = excluded.ranked,
            rookie = excluded.rookie, gain = excluded.gain
    ), removed as (
        delete from board_entry
        where ctid = any (array(
            select e.ctid from lost l cross join lateral (
                select o.ctid from board_entry o
                where o.board_id = l.board_id and o.contest = l.contest and o.deficit = l.deficit and o.ms = l.ms
                    and o.member_id = l.member_id
                limit 1
            ) e
        ))
    ), added as (
        insert into board_entry (board_id, contest, deficit, ms, member_id) select * from won
    ), moved as (
        select s.board_id, s.contest, s.deficit, s.ms, s.member_id, sum(e.by) as by
        from (select *, 1 as by from won union all select *, -1 from lost) e
        cross join lateral (
            select * from board_block k
            where k.board_id = e.board_id and k.contest = e.contest
                and (k.deficit, k.ms, k.member_id) <= (e.deficit, e.ms, e.member_id)
            order by k.deficit desc, k.ms desc, k.member_id desc limit 1
        ) s
        where e.board_id <> all (remade)
        group by 1, 2, 3, 4, 5
    )
    update board_block k set members = k.members + moved.by
    from moved
    where k.board_id = moved.board_id and k.contest = moved.contest and k.deficit = moved.deficit
        and k.ms = moved.ms and k.member_id = moved.member_id and moved.by <> 0;

    perform remake_blocks(id) from unnest(remade) id;
    delete from board_block
    where board_id = any (touched) and members = 0 and deficit > -9223372036854775808;
    perform split_block(k.board_id, k.contest, k.deficit, k.ms, k.member_id)
    from board_block k where k.board_id = any (touched) and k.members > 2 * block_size();
end $$
"""

SPLIT_BLOCK = """
create function split_block(
    of_board bigint, of_contest text, from_deficit bigint, from_ms bigint, from_member bigint
) returns void language plpgsql set enable_seqscan = off as $$
declare
    following board_block;
begin
    select * into following from board_block k
    where k.board_id = of_board and k.contest = of_contest
        and (k.deficit, k.ms, k.member_id) > (from_deficit, from_ms, from_member)
    order by k.deficit, k.ms, k.member_id limit 1;
    with inside as materialized (
        select e.deficit, e.ms, e.member_id,
            row_number() over (order by e.deficit, e.ms, e.member_id) - 1 as place, count(*) over () as members
        from board_entry e
        where e.board_id = of_board and e.contest = of_contest
            and (e.deficit, e.ms, e.member_id) >= (from_deficit, from_ms, from_member)
            and (following.board_id is null
                or (e.deficit, e.ms, e.member_id) < (following.deficit, following.ms, following.member_id))
    ), kept as (
        update board_block k set members = block_size()
        where k.board_id = of_board and k.contest = of_contest and k.deficit = from_deficit
            and k.ms = from_ms and k.member_id = from_member
    )
    insert into board_block (board_id, contest, deficit, ms, member_id, members)
    select of_board, of_contest, deficit, ms, member_id, least(block_size(), members - place)
    from inside where place > 0 and place % block_size() = 0;
end $$
"""

REMAKE_BLOCKS = """
create function remake_blocks(of_board bigint) returns void language plpgsql set enable_seqscan = off
set enable_bitmapscan = off set enable_sort = off as $$
begin
    delete from board_block where board_id = of_board;
    with counted as (
        select e.contest, count(*) as members from board_entry e where e.board_id = of_board group by e.contest
    ), placed as (
        select e.contest, e.deficit, e.ms, e.member_id,
            row_number() over (partition by e.contest order by e.deficit, e.ms, e.member_id) - 1 as place
        from board_entry e where e.board_id = of_board
    )
    insert into board_block (board_id, contest, deficit, ms, member_id, members)
    -- The first block of a contest begins before its first entry, and is there when no member is ranked.
    select of_board, c.contest, -9223372036854775808, 0, 0, least(block_size(), coalesce(n.members, 0))
    from unnest(array['points', 'rookies', 'improved']) as c (contest) left join counted n using (contest)
    union all
    select of_board, p.contest, p.deficit, p.ms, p.member_id, least(block_size(), n.members - p.place)
    from placed p join counted n using (contest) where p.place > 0 and p.place % block_size() = 0;
end $$
"""

OPEN_BOARD = """
create function open_board(
    of_workspace bigint, of_channel bigint, of_topic text, of_period text, from_at timestamptz, until_at timestamptz,
    before_id bigint
) returns bigint language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
    made bigint;
begin
    -- Returns the board's id. A board that is not kept yet is summed from the ledger once, and kept from now on.
    perform lock_boards(array[of_workspace]);
    select b.id into made from board b
    where b.workspace_id = of_workspace and b.channel_id is not distinct from of_channel and b.topic = of_topic
        and b.period = of_period and b.since is not distinct from from_at;
    if made is not null then
        return made;
    end if;
    insert into board (workspace_id, channel_id, topic, period, since, until, previous_id)
    values (of_workspace, of_channel, of_topic, of_period, from_at, until_at, before_id) returning id into made;
    perform remake_blocks(made);
    perform change_boards(
        array_agg(made), array_agg(t.member_id), array_agg(t.points), array_agg(t.credit), array_agg(t.answered),
        array_agg(t.entries), array_agg(t.ms))
    from (
        with asked as materialized (
            select r.id
            from schedule s join round r on r.schedule_id = s.id
            left join question_version v on v.id = r.version_id
            where s.workspace_id = of_workspace and (of_topic = '' or is_below(v.topic, of_topic))
                and (of_channel is null or posts_to(s.id, of_channel))
        )
        select l.member_id, sum(l.points)::bigint as points,
            coalesce(sum(round(l.credit * 1e12)::bigint), 0)::bigint as credit,
            count(distinct l.round_id) filter (where l.credit is not null) as answered,
            count(l.round_id) as entries, coalesce(sum(round(l.seconds * 1e3)::bigint), 0)::bigint as ms
        from ledger l
        where l.workspace_id = of_workspace and (from_at is null or l.at >= from_at)
            and (until_at is null or l.at < until_at)
            and (case when l.round_id is null then of_topic = '' else l.round_id in (select id from asked) end)
        group by l.member_id
    ) t having count(*) > 0;
    return made;
end $$
"""

BELONGS = """
create function is_below(topic text, above text) returns boolean language sql immutable as $$
    select lower(topic) = above or starts_with(lower(topic), above || '/')
$$;
create function posts_to(schedule bigint, channel bigint) returns boolean language sql stable as $$
    select exists (select from schedule s where s.id = schedule and s.channel_id = channel)
        or exists (select from schedule_channel c where c.schedule_id = schedule and c.channel_id = channel)
$$
"""

KEEP_BOARDS = """
create function keep_boards() returns trigger language plpgsql set enable_seqscan = off set work_mem = '64MB' as $$
begin
    perform lock_boards(array(select distinct workspace_id from booked));
    perform change_boards(
        array_agg(t.board_id), array_agg(t.member_id), array_agg(t.points), array_agg(t.credit),
        array_agg(t.answered), array_agg(t.entries), array_agg(t.ms))
    from (
        with entry as materialized (
            -- A round counts as answered with its first credit. A correction adds to a round that is counted already.
            select n.workspace_id, coalesce(n.round_id, 0) as round_id, n.at, n.member_id, sum(n.points) as points,
                coalesce(sum(round(n.credit * 1e12)::bigint), 0) as credit, count(n.round_id) as entries,
                coalesce(sum(round(n.seconds * 1e3)::bigint), 0) as ms,
                (n.round_id is not null and count(n.credit) > 0 and count(n.credit) = (
                    select count(*) from ledger l
                    where l.round_id = n.round_id and l.member_id = n.member_id and l.credit is not null
                ))::int as answered
            from booked n group by n.workspace_id, n.round_id, n.at, n.member_id
        ), moment as materialized (
            select m.workspace_id, m.round_id, m.at, r.schedule_id, v.topic
            from (select distinct workspace_id, round_id, at from entry) m
            left join round r on r.id = m.round_id left join question_version v on v.id = r.version_id
        ), matched as materialized (
            select m.workspace_id, m.round_id, m.at, b.id as board_id
            from moment m join board b on b.workspace_id = m.workspace_id
                and (b.since is null or m.at >= b.since) and (b.until is null or m.at < b.until)
                and (b.topic = '' or is_below(m.topic, b.topic))
                and (b.channel_id is null or m.round_id = 0 or posts_to(m.schedule_id, b.channel_id))
        )
        select b.board_id, e.member_id, sum(e.points)::bigint as points, sum(e.credit)::bigint as credit,
            sum(e.answered)::bigint as answered, sum(e.entries)::bigint as entries, sum(e.ms)::bigint as ms
        from matched b
        join entry e on e.workspace_id = b.workspace_id and e.round_id = b.round_id and e.at = b.at
        group by 1, 2
    ) t having count(*) > 0;
    -- Rows that depend on others: gains over a period that was corrected, and rookies with an older round.
    perform refresh_boards(array_agg(t.board_id), array_agg(t.member_id))
    from (
        with moment as materialized (
            select distinct workspace_id, at from booked
        ), dependent as materialized (
            select m.at, b.id, false as rookies
            from moment m join board p on p.workspace_id = m.workspace_id and m.at >= p.since and m.at < p.until
            join board b on b.previous_id = p.id
            union all
            select m.at, b.id, true from moment m join board b on b.workspace_id = m.workspace_id and b.since > m.at
        ), asked as materialized (
            select distinct d.id as board_id, n.member_id, d.rookies from dependent d join booked n on n.at = d.at
        )
        select distinct a.board_id, a.member_id
        from asked a cross join lateral (
            select k.rookie from board_member k where k.board_id = a.board_id and k.member_id = a.member_id limit 1
        ) r
        where r.rookie or not a.rookies
    ) t having count(*) > 0;
    return null;
end $$;
create function refresh_boards(boards bigint[], people bigint[]) returns void language sql as $$
    select change_boards(boards, people, zero, zero, zero, zero, zero)
    from (select array_fill(0::bigint, array[cardinality(boards)]) as zero) filled
$$
"""

KEEP_SHOWN = """
create function keep_shown() returns trigger language plpgsql as $$
begin
    perform lock_boards(array[new.workspace_id]);
    perform refresh_boards(array_agg(r.board_id), array_agg(r.member_id))
    from board b join board_member r on r.board_id = b.id and r.member_id = new.id
    where b.workspace_id = new.workspace_id having count(*) > 0;
    return null;
end $$
"""

DROP_BOARDS = """
create function drop_boards(gone bigint[]) returns void language sql as $$
    delete from board_entry where board_id = any (gone);
    delete from board_block where board_id = any (gone);
    delete from board_member where board_id = any (gone);
    delete from board where id = any (gone);
$$;
create function drop_channel_boards() returns trigger language plpgsql as $$
declare
    changed schedule_channel := case when tg_op = 'DELETE' then old else new end;
begin
    -- The channel's history changes with its schedules, so its boards are summed again when they are needed.
    perform lock_boards(array[changed.workspace_id]);
    perform drop_boards(array(select id from board where channel_id = changed.channel_id));
    return null;
end $$;
create function drop_moved_boards() returns trigger language plpgsql as $$
begin
    perform lock_boards(array[new.workspace_id]);
    perform drop_boards(array(select id from board where channel_id in (old.channel_id, new.channel_id)));
    return null;
end $$
"""

FUNCTIONS = (
    LOCK_BOARDS,
    BLOCK_SIZE,
    IS_LARGE_PART,
    BELONGS,
    SPLIT_BLOCK,
    REMAKE_BLOCKS,
    CHANGE_BOARDS,
    OPEN_BOARD,
    KEEP_BOARDS,
    KEEP_SHOWN,
    DROP_BOARDS,
    *READING,
)
TRIGGERS = (
    "create trigger keep_boards after insert on ledger referencing new table as booked "
    "for each statement execute function keep_boards()",
    "create trigger keep_shown after update on member for each row "
    "when ((old.hidden, old.merged_into) is distinct from (new.hidden, new.merged_into)) "
    "execute function keep_shown()",
    "create trigger drop_boards after insert or delete on schedule_channel for each row "
    "execute function drop_channel_boards()",
    "create trigger drop_boards after update on schedule for each row "
    "when (old.channel_id is distinct from new.channel_id) execute function drop_moved_boards()",
)


def create_boards() -> None:
    """Creates the tables, functions and triggers. The tables they refer to exist."""
    _create_tables()
    # Past SQLAlchemy: the scripts hold several statements, and percent signs that are not parameters.
    connection = op.get_bind().connection.driver_connection
    assert connection is not None, "alembic runs on a live connection"
    for script in (*FUNCTIONS, *TRIGGERS):
        connection.execute(script)


def _create_tables() -> None:
    op.create_table(
        "winner_role",
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("holders", JSONB(), server_default=sa.text("'[]'"), nullable=False),
        sa.CheckConstraint("event in ('season', 'sprint', 'tournament')", name="event"),
        refer("winner_role", "chat_id", "chat"),
        refer("winner_role", "channel_id", "channel"),
        sa.PrimaryKeyConstraint("chat_id", "event", name="pk_winner_role"),
    )
    op.create_index("ix_winner_role_channel_id", "winner_role", ["channel_id"])
    op.create_table(
        "board",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("period", sa.String(), nullable=False),
        sa.Column("since", INSTANT, nullable=True),
        sa.Column("until", INSTANT, nullable=True),
        sa.Column("previous_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("period in ('day', 'week', 'month', 'season', 'all')", name="period"),
        sa.ForeignKeyConstraint(["channel_id"], ["channel.id"], name="fk_board_channel_id_channel"),
        sa.ForeignKeyConstraint(["previous_id"], ["board.id"], name="fk_board_previous_id_board", ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_board_workspace_id_workspace"),
        sa.UniqueConstraint(
            "workspace_id",
            "channel_id",
            "topic",
            "period",
            "since",
            name="uq_board_workspace_id_channel_id_topic_period_since",
            postgresql_nulls_not_distinct=True,
        ),
    )
    op.create_index("ix_board_channel_id", "board", ["channel_id"])
    op.create_index("ix_board_previous_id", "board", ["previous_id"])
    sums = ("points", "credit", "answered", "entries", "ms", "accuracy")
    op.create_table(
        "board_member",
        sa.Column("board_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        *[sa.Column(name, sa.BigInteger(), nullable=False) for name in sums],
        sa.Column("ranked", sa.Boolean(), nullable=False),
        sa.Column("rookie", sa.Boolean(), nullable=False),
        sa.Column("gain", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("board_id", "member_id", name="pk_board_member"),
    )
    for table, counted in (("board_entry", ()), ("board_block", ("members",))):
        op.create_table(
            table,
            sa.Column("board_id", sa.BigInteger(), nullable=False),
            sa.Column("contest", sa.String(), nullable=False),
            sa.Column("deficit", sa.BigInteger(), nullable=False),
            sa.Column("ms", sa.BigInteger(), nullable=False),
            sa.Column("member_id", sa.BigInteger(), nullable=False),
            *[sa.Column(name, sa.BigInteger(), nullable=False) for name in counted],
            sa.PrimaryKeyConstraint("board_id", "contest", "deficit", "ms", "member_id", name=f"pk_{table}"),
        )
