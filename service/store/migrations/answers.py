"""Creates the functions that store answers, so that an answer by a button takes one round trip to the database.

They read by index only: a connection keeps their plans, and one that it makes while a table is nearly empty would still
scan it when it has grown.
"""

from __future__ import annotations

from alembic import op

APPEND_ANSWER = """
create function append_answer(
    member_ bigint, round_ bigint, version_ bigint, event_ text, given_ jsonb, name_ text, at_ timestamptz,
    chat_ bigint, current_ boolean
) returns bigint language plpgsql set enable_seqscan = off as $$
declare
    made bigint;
begin
    -- Appends to the log; if `current_`, the answer is the one that counts in its round. The member must be locked.
    insert into answer (member_id, round_id, version_id, number, event_id, given, name, at, chat_id)
    values (
        member_, round_, version_,
        case when round_ is null then 0
            else 1 + (select count(*) from answer a where a.round_id = round_ and a.member_id = member_) end,
        event_, given_, name_, at_, chat_
    )
    returning id into made;
    if current_ then
        insert into standing (round_id, member_id, answer_id) values (round_, member_, made)
        on conflict (round_id, member_id) do update set answer_id = excluded.answer_id;
    end if;
    return made;
end $$
"""

ENQUEUE_UPDATES = """
create function enqueue_updates(round_ bigint, prefix_ text, due_ timestamptz, give_up_ timestamptz)
returns void language plpgsql set enable_seqscan = off as $$
begin
    -- Adds an edit of each message that posts the round's question, unless there is one with this prefix.
    insert into outbox (
        key, kind, body, workspace_id, chat_id, channel_id, round_id, edits_id, due_at, not_before, give_up_at
    )
    select prefix_ || o.id, 'update', '{}', o.workspace_id, o.chat_id, o.channel_id, o.round_id, o.id,
        due_, due_, give_up_
    from outbox o where o.round_id = round_ and o.kind = 'question' and o.state <> 'skipped'
    on conflict do nothing;
end $$
"""

RECORD_ANSWER = """
create function record_answer(
    platform_ text, workspace_ text, member_ text, name_ text, application_ text, channel_ text, channel_name_ text,
    round_ bigint, version_ bigint, spec_ jsonb, opens_ timestamptz, closes_ timestamptz,
    event_ text, at_ timestamptz, now_ timestamptz, given_ jsonb, reply_ jsonb, changed_reply_ jsonb,
    prefix_ text, due_ timestamptz, give_up_ timestamptz
-- `reply` is null if the answer was stored just now.
) returns table (answer_id bigint, member_id bigint, is_change boolean, reply jsonb)
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
    who record;
    done record;
    before record;
    repeats boolean;
    made bigint;
begin
    -- Returns no row, having changed nothing, unless all is as expected. For an event that was processed before, the
    -- reply of then. Locks the member, then the round, in the order of every other answer.
    select c.id as chat, c.workspace_id as workspace, i.id as identity, i.member_id as member into who
    from chat c
    join identity i on i.chat_id = c.id and i.external_id = member_
    left join channel h on h.chat_id = c.id and h.external_id = channel_
    where c.platform = platform_ and c.external_id = workspace_ and i.name = name_
        and application_ in ('', c.application)
        and (channel_ = '' or h.id is not null) and channel_name_ in ('', coalesce(h.name, ''));
    if not found then return; end if;
    perform from member m
    where m.id = who.member and m.merged_into is null and m.forgotten_at is null for no key update;
    if not found then return; end if;
    select b.call, b.reply into done from inbox b where b.chat_id = who.chat and b.event_id = event_;
    if found then
        if done.call = 'answer ' || who.identity then
            return query select null::bigint, who.member, false, done.reply;
        end if;
        return;
    end if;
    perform from round r join schedule s on s.id = r.schedule_id
    where r.id = round_ and s.workspace_id = who.workspace and r.skipped is null and r.closed_at is null
        and r.version_id = version_ and not r.own_variants and r.opens_at = opens_ and r.closes_at = closes_
        and s.spec = spec_
    for share of r;
    if not found then return; end if;
    select a.at, a.given, a.version_id as version, greatest(
        a.at, (select max(o.at) from answer o where o.round_id = round_ and o.member_id = who.member)
    ) as latest into before
    from standing t join answer a on a.id = t.answer_id
    where t.round_id = round_ and t.member_id = who.member;
    if before.latest > at_ then return; end if;
    -- Where the same answer is given again, the earlier one still counts: pressing a button twice makes nobody later.
    repeats := coalesce(before.given = given_ and before.version = version_, false);
    made := append_answer(who.member, round_, version_, event_, given_, name_, at_, who.chat, not repeats);
    if before.at is null then
        perform enqueue_updates(round_, prefix_, due_, give_up_);
    end if;
    insert into inbox (chat_id, event_id, at, call, reply) values (
        who.chat, event_, now_, 'answer ' || who.identity,
        case when before.at is null or repeats then reply_ else changed_reply_ end
    );
    return query select made, who.member, before.at is not null and not repeats, null::jsonb;
end $$
"""


def create_answer_functions() -> None:
    """Creates the functions."""
    for function in (APPEND_ANSWER, ENQUEUE_UPDATES, RECORD_ANSWER):
        op.execute(function)
