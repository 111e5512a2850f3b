"""What people do in their Slack, and what they see. Every act returns the delivery it caused, with its outcome."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
from yarl import URL

from tests.doubles.slack import payloads
from tests.doubles.slack.api_chat import posted
from tests.doubles.slack.api_views import STACK, change_view, checked_view, new_view
from tests.doubles.slack.delivery import Delivery, Kind, Post
from tests.doubles.slack.payloads import Value
from tests.doubles.slack.server import Server, reply
from tests.doubles.slack.shown import Body, Ephemeral, Message, Shown, View
from tests.doubles.slack.world import ApiError, Channel, ReplyUrl, Team, User, World


@dataclass
class People:
    """Everybody's hands and eyes."""

    world: World
    post: Post
    server: Server

    async def slash(self, user: User, channel: Channel, command: str, text: str = "") -> Delivery:
        """Type a command."""
        assert command in self.world.app.commands, f"{command} is not a valid command: {self.world.app.commands}"
        url, leave = payloads.reply_url(self.world, self.server.base, user, channel, None)
        sent = await self._act("slash_commands", payloads.slash(self.world, user, channel, command, text, url), user)
        self._said_at_once(sent, leave)
        return sent

    async def click(
        self, user: User, shown: Shown, wanted: str, chosen: Value = None, values: Mapping[str, Value] | None = None
    ) -> Delivery:
        """Press the button, or choose from the menu, of that action id or label; `values` fill the view around it."""
        control = shown.control(wanted)
        if isinstance(shown, View):
            state = payloads.state_of(shown, dict(values or {}), whole=False)
            body = payloads.pressed_in_view(self.world, user, shown, control, chosen, state)
            return await self._act("interactive", body, user)
        assert isinstance(shown, Message | Ephemeral)
        assert not shown.deleted, "what was deleted cannot be pressed"
        channel = self.world.teams[user.team].channels[shown.channel]
        url, leave = payloads.reply_url(self.world, self.server.base, user, channel, shown)
        body = payloads.pressed(self.world, user, shown, control, url, chosen)
        sent = await self._act("interactive", body, user)
        self._said_at_once(sent, leave)
        return sent

    async def submit_view(self, user: User, values: Mapping[str, Value] | None = None) -> Delivery:
        """Submit the modal on top with what is filled in, by block id."""
        view = self.modal(user)
        assert "submit" in view.body, f"{view.title!r} has no button to submit"
        state = payloads.state_of(view, dict(values or {}))
        sent = await self._act("interactive", payloads.submitted(self.world, user, view, state), user)
        if sent.acked:
            self._answered(user, view, sent)
        return sent

    async def close_view(self, user: User, all_: bool = False) -> Delivery | None:
        """Close the modal on top, or all of them; the app hears of it only where it asked to."""
        views = self.world.stack(user)[::-1] if all_ else [self.modal(user)]
        told = None
        for view in views:
            view.open = False
            if view.body.get("notify_on_close"):
                told = await self._act("interactive", payloads.closed(self.world, user, view, all_), user)
        return told

    async def _act(self, kind: Kind, payload: Body, user: User) -> Delivery:
        return await self.post.deliver(Delivery(secrets.token_hex(6), kind, payload, user.id))

    def _said_at_once(self, sent: Delivery, leave: ReplyUrl) -> None:
        """An acknowledgement may bear a message."""
        if sent.reply.get("text") or sent.reply.get("blocks"):
            reply(self.world, leave, sent.reply)

    def _answered(self, user: User, view: View, sent: Delivery) -> None:
        """What the acknowledgement of a submission does to the stack."""
        asked = sent.reply.get("response_action")
        if asked is None:
            view.open = False
        elif asked == "clear":
            for one in self.world.stack(user):
                one.open = False
        elif asked == "errors":
            unknown = set(sent.reply.get("errors", {})) - set(view.fields)
            if unknown or not sent.reply.get("errors"):
                self._wrong(f"errors for {sorted(unknown)}, fields {sorted(view.fields)}")
        else:
            self._shown_next(user, view, asked, sent.reply)

    def _shown_next(self, user: User, view: View, asked: str, said: Body) -> None:
        try:
            body = checked_view(self.world, "response_action", said.get("view"))
        except ApiError:
            return
        if asked == "update":
            change_view(self.world, view, body)
        elif asked == "push" and len(self.world.stack(user)) < STACK:
            new_view(self.world, user, body, view)
        else:
            self._wrong(f"response_action {asked!r} on a stack of {len(self.world.stack(user))}")

    def _wrong(self, reason: str) -> None:
        self.world.log.add("violation", what="response_action", error="invalid", reasons=[reason])

    # Events

    def event(self, team: str, inner: Body, user: str = "") -> str:
        """Send any event the app listens to; returns its id, or nothing where it does not listen."""
        name = inner["type"] if inner["type"] != "message" else f"message.{_suffix(inner['channel_type'])}"
        if not self.world.hears(team, name, private=inner.get("channel_type") == "G"):
            return ""
        id_ = f"Ev{secrets.token_hex(6).upper()}"
        self.post.event(id_, payloads.event(self.world, team, id_, inner), user)
        return id_

    def write(
        self, user: User, channel: Channel, text: str, thread: str = "", files: Mapping[str, bytes] | None = None
    ) -> Message:
        """Write a message. Whether the app hears of it depends on its events; its id is `.metadata['event_id']`."""
        shared = [self._file(user, name, data) for name, data in (files or {}).items()]
        message = Message(text, [], user.team, channel.id, self.world.new_ts(), user.id, thread_ts=thread, files=shared)
        posted(self.world, channel, message)
        kind = {"im": "im", "groups": "group", "channels": "channel"}[channel.scope]
        inner = message.body() | {"channel": channel.id, "channel_type": kind, "event_ts": message.ts}
        if shared:
            inner["subtype"] = "file_share"
        if thread:
            inner["parent_user_id"] = next(one.user for one in self.world.messages(channel) if one.ts == thread)
        if thread:
            inner["parent_user_id"] = channel.messages[thread].user
        team = self.world.teams[user.team]
        heard = ""
        if team.bot.id in channel.members:
            heard = self.event(user.team, inner, user.id)
        if f"<@{team.bot.id}>" in text and not channel.im:
            inner = {name: value for name, value in inner.items() if name not in ("channel_type", "subtype")}
            heard = self.event(user.team, inner | {"type": "app_mention"}, user.id) or heard
        message.metadata = {"event_id": heard}
        return message

    def _file(self, user: User, name: str, data: bytes) -> Body:
        id_ = self.world.new_id("F")
        url = f"{self.server.base}/files/{id_}"
        urls = {"url_private": url, "url_private_download": url, "mode": "snippet", "filetype": "python"}
        file = {"id": id_, "name": name, "title": name, "size": len(data), "mimetype": "text/plain", **urls}
        self.world.files[id_] = file | {"team": user.team, "complete": True}
        self.world.contents[id_] = data
        return file

    def dm(self, user: User, text: str, files: Mapping[str, bytes] | None = None) -> Message:
        """Write to the app itself."""
        return self.write(user, self.world.im(user), text, files=files)

    def mention(self, user: User, channel: Channel, text: str, thread: str = "") -> Message:
        """Write with the app's name in it."""
        return self.write(user, channel, f"<@{self.world.teams[user.team].bot.id}> {text}", thread)

    def open_home(self, user: User, tab: str = "home") -> str:
        """Open the app's own page."""
        ts = self.world.new_ts()
        channel = self.world.im(user).id
        inner = {"type": "app_home_opened", "user": user.id, "channel": channel, "tab": tab, "event_ts": ts}
        return self.event(user.team, inner, user.id)

    def invite(self, user: User, channel: Channel) -> str:
        """Bring the app into a channel."""
        bot = self.world.teams[user.team].bot.id
        channel.members.add(bot)
        # By the kind of the channel, as Slack grants the scope; a private channel made since 2021 says C as well.
        kind = {"channel": channel.id, "channel_type": "G" if channel.private else "C", "inviter": user.id}
        inner = {"type": "member_joined_channel", "user": bot, "team": user.team, **kind}
        return self.event(user.team, inner | {"event_ts": self.world.new_ts()}, user.id)

    # The app's place in a workspace

    async def install(self, user: User, url: str, **tampered: str) -> tuple[int, str]:
        """Follow the app's link to install it and allow it; `tampered` replaces parts of what is sent back."""
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
            async with browser.get(url, allow_redirects=False) as page:
                assert page.status == 302, f"{url} leads nowhere: {page.status}"
                asked = URL(page.headers["Location"])
                # Browsers hold this machine's own address to be safe enough for a cookie that is `Secure`.
                cookies = {"Cookie": "; ".join(f"{name}={held.value}" for name, held in page.cookies.items())}
            async with browser.get(asked) as page:
                assert page.status == 200, await page.text()
            async with browser.get(asked.update_query({"as": user.id}), allow_redirects=False) as page:
                back = URL(page.headers["Location"]).update_query(tampered)
            async with browser.get(back, headers=cookies) as page:
                return page.status, await page.text()

    def uninstall(self, team: Team) -> list[str]:
        """Remove the app from a workspace; returns the ids of the two events it hears."""
        tokens = self.world.revoke(team)
        team.installed = False
        told = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [team.bot.id] if tokens else []}}
        return [self.event(team.id, told), self.event(team.id, {"type": "app_uninstalled"})]

    # What they see

    def modal(self, user: User) -> View:
        """The modal on top."""
        stack = self.world.stack(user)
        assert stack, f"{user.name} has no modal open: {self.world.log.tail()}"
        return stack[-1]

    def private(self, user: User) -> list[Ephemeral]:
        """The messages only this person sees, oldest first."""
        return [one for one in self.world.ephemerals if one.user == user.id and not one.deleted]

    def seen(self, user: User) -> list[Shown]:
        """All they could see now, the latest last of its kind: channels, private messages, home, modal."""
        channels = [one for one in self.world.teams[user.team].channels.values() if user.id in one.members]
        messages = [message for channel in channels for message in self.world.messages(channel)]
        home = [self.world.homes[user.id]] if user.id in self.world.homes else []
        return [*messages, *self.private(user), *home, *self.world.stack(user)[-1:]]

    async def sees(self, user: User, words: str, timeout: float = 10.0) -> Shown:
        """Wait until they see something with these words; the latest of it."""

        def found() -> Shown | None:
            return next((one for one in reversed(self.seen(user)) if words in one.words), None)

        said = await self.world.log.until(lambda: found(), timeout, f"{user.name} seeing {words!r}")
        assert said is not None
        return said


def _suffix(channel_type: str) -> str:
    return {"im": "im", "group": "groups", "channel": "channels"}[channel_type]
