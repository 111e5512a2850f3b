"""Functions that read boards: ranks, and a page with all that is shown of its members, in one round trip.

They read boards by index only, as `service.store.migrations.boards` says.
"""

from __future__ import annotations

COUNT_BETTER = """
create function count_better(
    of_board bigint, of_contest text, than_deficit bigint, than_ms bigint, than_member bigint
) returns bigint language plpgsql stable set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
    own board_block;
begin
    select * into own from board_block k
    where k.board_id = of_board and k.contest = of_contest
        and (k.deficit, k.ms, k.member_id) <= (than_deficit, than_ms, than_member)
    order by k.deficit desc, k.ms desc, k.member_id desc limit 1;
    return (
        select coalesce(sum(k.members), 0) from board_block k
        where k.board_id = of_board and k.contest = of_contest
            and (k.deficit, k.ms, k.member_id) < (own.deficit, own.ms, own.member_id)
    ) + (
        select count(*) from board_entry e
        where e.board_id = of_board and e.contest = of_contest
            and (e.deficit, e.ms, e.member_id) >= (own.deficit, own.ms, own.member_id)
            and (e.deficit, e.ms, e.member_id) < (than_deficit, than_ms, than_member)
    );
end $$
"""

RANK_MEMBERS = """
create function rank_members(of_board bigint, people bigint[]) returns table (member_id bigint, place bigint)
language plpgsql stable set enable_seqscan = off set enable_nestloop = off as $$
begin
    -- Many members are ranked in one pass over the board, a few by its blocks.
    if cardinality(people) * block_size() / 2 < (
        select sum(k.members) from board_block k where k.board_id = of_board and k.contest = 'points'
    ) then
        return query select r.member_id, 1 + count_better(
            of_board, 'points', -(r.points * 1073741824 + r.accuracy), r.ms, -9223372036854775808)
        from board_member r where r.board_id = of_board and r.member_id = any (people) and r.ranked;
    else
        -- By a join of hashes: `any` and a nested loop compare each row with each of the people.
        return query select e.member_id, e.place from (
            select o.member_id, rank() over (order by o.deficit, o.ms) as place
            from board_entry o where o.board_id = of_board and o.contest = 'points'
        ) e join (select distinct id from unnest(people) as id) p on p.id = e.member_id;
    end if;
end $$
"""

VIEW_BOARD = """
create function view_board(of_board bigint, of_contest text, me bigint, most int, around int)
returns table (
    near boolean, place bigint, member_id bigint, name varchar, points bigint, answered bigint, accuracy bigint,
    gain bigint, total bigint
) language plpgsql stable set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
    members bigint;
    own board_entry;
    first_near board_entry;
    first_position bigint;
    first_place bigint;
begin
    -- Returns the best `most` members, and `me` with `around` members on either side.
    select coalesce(sum(k.members), 0) into members
    from board_block k where k.board_id = of_board and k.contest = of_contest;
    return query
    select false, rank() over (order by e.deficit, e.ms), e.member_id, m.name, r.points, r.answered, r.accuracy,
        r.gain, members
    from (
        select * from board_entry o where o.board_id = of_board and o.contest = of_contest
        order by o.deficit, o.ms, o.member_id limit most
    ) e
    join board_member r on r.board_id = of_board and r.member_id = e.member_id
    join member m on m.id = e.member_id
    order by e.deficit, e.ms, e.member_id;

    select of_board, of_contest,
        case when of_contest = 'improved' then -r.gain else -(r.points * 1073741824 + r.accuracy) end,
        case when of_contest = 'improved' then 0 else r.ms end, me
    into own from board_member r
    where r.board_id = of_board and r.member_id = me
        and case of_contest when 'points' then r.ranked when 'rookies' then r.rookie else r.gain is not null end;
    if own.board_id is null then
        return;
    end if;
    select t.* into first_near from (
        select * from board_entry o where o.board_id = of_board and o.contest = of_contest
            and (o.deficit, o.ms, o.member_id) <= (own.deficit, own.ms, own.member_id)
        order by o.deficit desc, o.ms desc, o.member_id desc limit around + 1
    ) t order by t.deficit, t.ms, t.member_id limit 1;
    first_position := count_better(of_board, of_contest, first_near.deficit, first_near.ms, first_near.member_id);
    first_place := 1 + count_better(of_board, of_contest, first_near.deficit, first_near.ms, -9223372036854775808);
    return query
    select true,
        case when (e.deficit, e.ms) = (first_near.deficit, first_near.ms) then first_place
            else first_position + rank() over (order by e.deficit, e.ms) end,
        e.member_id, m.name, r.points, r.answered, r.accuracy, r.gain, members
    from (
        (select * from board_entry o where o.board_id = of_board and o.contest = of_contest
            and (o.deficit, o.ms, o.member_id) <= (own.deficit, own.ms, own.member_id)
        order by o.deficit desc, o.ms desc, o.member_id desc limit around + 1)
        union all
        (select * from board_entry o where o.board_id = of_board and o.contest = of_contest
            and (o.deficit, o.ms, o.member_id) > (own.deficit, own.ms, own.member_id)
        order by o.deficit, o.ms, o.member_id limit around)
    ) e
    join board_member r on r.board_id = of_board and r.member_id = e.member_id
    join member m on m.id = e.member_id
    order by e.deficit, e.ms, e.member_id;
end $$
"""

LIST_IDS_ON = """
create function list_ids_on(people bigint[], of_platform text) returns table (member_id bigint, external_id varchar)
language sql stable as $$
    -- The oldest id on a platform of each of these members who has one.
    select distinct on (i.member_id) i.member_id, i.external_id
    from identity i join chat c on c.id = i.chat_id
    where i.member_id = any (people) and c.platform = of_platform
    order by i.member_id, i.id
$$
"""

LIST_ATTENDANCE = """
create function list_attendance(schedules bigint[], people bigint[])
returns table (kind text, owner bigint, rounds bigint[], running bigint[]) language sql stable as $$
    -- The rounds of each schedule's slots in order, and those that are open; then the rounds that each member answered
    -- or is excused from, of other schedules too. Years of rounds as rows would take several times as long to read.
    select 'asked', r.schedule_id, array_agg(r.id order by r.day), array_agg(r.id) filter (where r.closed_at is null)
    from round r where r.schedule_id = any (schedules) and r.number = 0 and r.skipped is null group by r.schedule_id
    union all
    select 'answered', s.member_id, array_agg(s.round_id), null
    from standing s where s.member_id = any (people) group by s.member_id
    union all
    select 'excused', g.member_id, array_agg(g.round_id), null
    from streak_grace g where g.member_id = any (people) group by g.member_id
$$
"""

LOOK_AT_BOARD = """
create function look_at_board(
    of_workspace bigint, of_channel bigint, of_topic text, of_period text, at_ timestamptz, of_board bigint,
    of_contest text, me bigint, most int, around int
) returns table (
    board_id bigint, since timestamptz, zone text, season varchar, season_since timestamptz, total bigint,
    lines json, ids json, attendance json
) language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    schedules bigint[];
    zone_ text;
    running season;
    found_ board;
    total_ bigint;
    lines_ json;
    people bigint[];
begin
    -- Returns a page of `of_board`, or if that is null, of the youngest board that is kept of this kind and holds the
    -- instant: the caller compares its beginning with the bounds of the period, which the zone decides. Returns no row
    -- if there is none.
    if of_channel is null then
        select array_agg(s.id), (array_agg(s.spec ->> 'zone' order by s.id))[1] into schedules, zone_
        from schedule s where s.workspace_id = of_workspace and s.removed_at is null;
    else
        select array_agg(s.id), (array_agg(s.spec ->> 'zone' order by s.id))[1] into schedules, zone_
        from schedule s
        where s.workspace_id = of_workspace and s.removed_at is null and s.id in (
            select h.id from schedule h where h.channel_id = of_channel
            union all
            select c.schedule_id from schedule_channel c where c.channel_id = of_channel
        );
    end if;
    if of_period = 'season' then
        select * into running from season s where s.workspace_id = of_workspace and s.ends_at is null;
    end if;
    if of_board is not null then
        select * into found_ from board b where b.id = of_board and b.workspace_id = of_workspace;
    elsif of_channel is null then
        select * into found_ from board b
        where b.workspace_id = of_workspace and b.channel_id is null and b.topic = of_topic and b.period = of_period
            and (b.since is null or b.since <= at_) and (b.until is null or b.until > at_)
        order by b.id desc limit 1;
    else
        select * into found_ from board b
        where b.workspace_id = of_workspace and b.channel_id = of_channel and b.topic = of_topic
            and b.period = of_period and (b.since is null or b.since <= at_) and (b.until is null or b.until > at_)
        order by b.id desc limit 1;
    end if;
    if found_.id is null then
        return;
    end if;
    select array_agg(v.member_id), max(v.total),
        json_agg(json_build_array(v.near, v.place, v.member_id, v.name, v.points, v.answered, v.accuracy, v.gain))
    into people, total_, lines_
    from view_board(found_.id, of_contest, me, most, around) v;
    return query select found_.id, found_.since, zone_, running.name, running.starts_at, coalesce(total_, 0),
        coalesce(lines_, '[]'),
        (select coalesce(json_object_agg(i.member_id, i.external_id), '{}') from list_ids_on(people, 'discord') i),
        (select coalesce(json_agg(json_build_array(a.kind, a.owner, a.rounds, a.running)), '[]')
            from list_attendance(schedules, people) a);
end $$
"""

READING = (COUNT_BETTER, RANK_MEMBERS, VIEW_BOARD, LIST_IDS_ON, LIST_ATTENDANCE, LOOK_AT_BOARD)
"""Scripts that create the functions, in order."""
