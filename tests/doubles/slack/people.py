"""Simulates people at their Slack clients: what they do and what they see.

Every action returns the delivery it caused, with its outcome.
"""

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
from tests.doubles.slack.log import PATIENCE_S
from tests.doubles.slack.payloads import Value
from tests.doubles.slack.server import Server, reply
from tests.doubles.slack.surfaces import Body, Ephemeral, Message, Shown, View
from tests.doubles.slack.world import ApiError, Channel, ReplyUrl, Team, User, World


@dataclass
class People:
    """What people do and see."""

    world: World
    post: Post
    server: Server

    async def slash(self, user: User, channel: Channel, command: str, text: str = "") -> Delivery:
        """Types a slash command."""
        assert not user.home, "Slack gives guests no commands of the app"
        assert command in self.world.app.commands, f"{command} is not a valid command: {self.world.app.commands}"
        url, leave = payloads.reply_url(self.world, self.server.base, user, channel, None)
        sent = await self._act("slash_commands", payloads.slash(self.world, user, channel, command, text, url), user)
        self._said_at_once(sent, leave)
        return sent

    async def click(
        self, user: User, shown: Shown, name: str, chosen: Value = None, values: Mapping[str, Value] | None = None
    ) -> Delivery:
        """Clicks the button or menu with that action id or label; `values` fill in the inputs around it."""
        control = shown.control(name)
        if isinstance(shown, View):
            state = payloads.state_of(shown, dict(values or {}), whole=False)
            body = payloads.pressed_in_view(self.world, user, shown, control, chosen, state)
            return await self._act("interactive", body, user)
        assert isinstance(shown, Message | Ephemeral)
        assert not shown.deleted, "what was deleted cannot be pressed"
        channel = self.world.teams[user.team].channels[shown.channel]
        url, leave = payloads.reply_url(self.world, self.server.base, user, channel, shown)
        body = payloads.pressed(self.world, user, shown, control, url, chosen)
        body["state"] = {"values": payloads.state_of(shown, dict(values or {}))}
        sent = await self._act("interactive", body, user)
        self._said_at_once(sent, leave)
        return sent

    async def pick(self, user: User, message: Message, shortcut: str) -> Delivery:
        """Picks a shortcut in a message's menu."""
        callbacks = dict(self.world.app.shortcuts)
        assert shortcut in callbacks, f"{shortcut!r} is not among the shortcuts {sorted(callbacks)}"
        channel = self.world.teams[user.team].channels[message.channel]
        url, leave = payloads.reply_url(self.world, self.server.base, user, channel, None)
        body = payloads.picked_message(self.world, user, message, callbacks[shortcut], url)
        sent = await self._act("interactive", body, user)
        self._said_at_once(sent, leave)
        return sent

    def upload(self, user: User, name: str, data: bytes) -> list[Body]:
        """Uploads a file in a form; returns the value of its input."""
        return [self._file(user, name, data)]

    async def submit_view(self, user: User, values: Mapping[str, Value] | None = None) -> Delivery:
        """Submits the top modal with these values, by block id."""
        view = self.modal(user)
        assert "submit" in view.body, f"{view.title!r} has no button to submit"
        state = payloads.state_of(view, dict(values or {}))
        sent = await self._act("interactive", payloads.submitted(self.world, user, view, state), user)
        if sent.acked:
            self._answered(user, view, sent)
        return sent

    async def close_view(self, user: User, all_: bool = False) -> Delivery | None:
        """Closes the top modal, or all; the app is notified only if it asked for it."""
        views = self.world.stack(user)[::-1] if all_ else [self.modal(user)]
        sent = None
        for view in views:
            view.open = False
            if view.body.get("notify_on_close"):
                sent = await self._act("interactive", payloads.closed(self.world, user, view, all_), user)
        return sent

    async def _act(self, kind: Kind, payload: Body, user: User) -> Delivery:
        return await self.post.deliver(Delivery(secrets.token_hex(6), kind, payload, user.id))

    def _said_at_once(self, sent: Delivery, leave: ReplyUrl) -> None:
        """Shows the message in an acknowledgement."""
        if sent.reply.get("text") or sent.reply.get("blocks"):
            reply(self.world, leave, sent.reply)

    def _answered(self, user: User, view: View, sent: Delivery) -> None:
        """Applies the acknowledgement of a submission to the modals."""
        action = sent.reply.get("response_action")
        if action is None:
            view.open = False
        elif action == "clear":
            for one in self.world.stack(user):
                one.open = False
        elif action == "errors":
            unknown = set(sent.reply.get("errors", {})) - set(view.fields)
            if unknown or not sent.reply.get("errors"):
                self._wrong(f"errors for {sorted(unknown)}, fields {sorted(view.fields)}")
        else:
            self._shown_next(user, view, action, sent.reply)

    def _shown_next(self, user: User, view: View, action: str, ack: Body) -> None:
        try:
            body = checked_view(self.world, "response_action", ack.get("view"))
        except ApiError:
            return
        if action == "update":
            change_view(self.world, view, body)
        elif action == "push" and len(self.world.stack(user)) < STACK:
            new_view(self.world, user, body, view)
        else:
            self._wrong(f"response_action {action!r} on a stack of {len(self.world.stack(user))}")

    def _wrong(self, reason: str) -> None:
        self.world.log.add("violation", what="response_action", error="invalid", reasons=[reason])

    # Events

    def event(self, team: str, inner: Body, user: str = "") -> str:
        """Sends an event to the app; returns its id, or an empty string if the app does not listen to it."""
        name = inner["type"] if inner["type"] != "message" else f"message.{_suffix(inner['channel_type'])}"
        if not self.world.hears(team, name, private=inner.get("channel_type") == "G"):
            return ""
        id_ = f"Ev{secrets.token_hex(6).upper()}"
        self.post.event(id_, payloads.event(self.world, team, id_, inner), user)
        return id_

    def write(
        self, user: User, channel: Channel, text: str, thread: str = "", files: Mapping[str, bytes] | None = None
    ) -> Message:
        """Posts a message. Its event id is `.metadata['event_id']`, if the app listens to it."""
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
        event_id = ""
        if team.bot.id in channel.members:
            event_id = self.event(user.team, inner, user.id)
        if f"<@{team.bot.id}>" in text and not channel.im:
            inner = {name: value for name, value in inner.items() if name not in ("channel_type", "subtype")}
            event_id = self.event(user.team, inner | {"type": "app_mention"}, user.id) or event_id
        message.metadata = {"event_id": event_id}
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
        """Writes a direct message to the app."""
        return self.write(user, self.world.im(user), text, files=files)

    def mention(self, user: User, channel: Channel, text: str, thread: str = "") -> Message:
        """Posts a message that mentions the app."""
        return self.write(user, channel, f"<@{self.world.teams[user.team].bot.id}> {text}", thread)

    def open_home(self, user: User, tab: str = "home") -> str:
        """Opens the app's Home tab."""
        ts = self.world.new_ts()
        channel = self.world.im(user).id
        inner = {"type": "app_home_opened", "user": user.id, "channel": channel, "tab": tab, "event_ts": ts}
        return self.event(user.team, inner, user.id)

    def invite(self, user: User, channel: Channel) -> str:
        """Invites the app to a channel."""
        bot = self.world.teams[user.team].bot.id
        channel.members.add(bot)
        # By type of channel, like Slack's scopes. Ids of private channels start with C too since 2021.
        kind = {"channel": channel.id, "channel_type": "G" if channel.private else "C", "inviter": user.id}
        inner = {"type": "member_joined_channel", "user": bot, "team": user.team, **kind}
        return self.event(user.team, inner | {"event_ts": self.world.new_ts()}, user.id)

    def rename(self, channel: Channel, name: str) -> str:
        """Renames a channel."""
        channel.name = name
        kind = "group_rename" if channel.private else "channel_rename"
        about = {"id": channel.id, "name": name, "created": 1_700_000_000}
        return self.event(channel.team, {"type": kind, "channel": about, "event_ts": self.world.new_ts()})

    def unarchive(self, user: User, channel: Channel) -> str:
        """Unarchives a channel."""
        channel.archived = False
        kind = "group_unarchive" if channel.private else "channel_unarchive"
        inner = {"type": kind, "channel": channel.id, "user": user.id, "event_ts": self.world.new_ts()}
        return self.event(channel.team, inner)

    def change(self, user: User, name: str) -> str:
        """Changes a person's display name."""
        user.name = name
        return self.event(user.team, {"type": "user_change", "user": user.body(), "event_ts": self.world.new_ts()})

    # Installation

    async def install(self, user: User, url: str, **tampered: str) -> tuple[int, str]:
        """Installs the app from its page; `tampered` replaces parameters of the redirect."""
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
            async with browser.get(url, allow_redirects=False) as page:
                assert page.status == 302, f"{url} leads nowhere: {page.status}"
                consent = URL(page.headers["Location"])
                # Browsers accept `Secure` cookies from localhost.
                cookies = {"Cookie": "; ".join(f"{name}={held.value}" for name, held in page.cookies.items())}
            async with browser.get(consent) as page:
                assert page.status == 200, await page.text()
            async with browser.get(consent.update_query({"as": user.id}), allow_redirects=False) as page:
                back = URL(page.headers["Location"]).update_query(tampered)
            async with browser.get(back, headers=cookies) as page:
                return page.status, await page.text()

    def uninstall(self, team: Team) -> list[str]:
        """Uninstalls the app from a workspace; returns the ids of the two resulting events."""
        tokens = self.world.revoke(team)
        team.installed = False
        revoked = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [team.bot.id] if tokens else []}}
        return [self.event(team.id, revoked), self.event(team.id, {"type": "app_uninstalled"})]

    # What they see

    def modal(self, user: User) -> View:
        """Returns the top modal."""
        stack = self.world.stack(user)
        assert stack, f"{user.name} has no modal open: {self.world.log.tail()}"
        return stack[-1]

    def private(self, user: User) -> list[Ephemeral]:
        """Returns the messages visible only to this person, oldest first."""
        return [one for one in self.world.ephemerals if one.user == user.id and not one.deleted]

    def seen(self, user: User) -> list[Shown]:
        """Returns everything a person sees: channels, private messages, Home tab and modal; the latest last."""
        channels = [one for one in self.world.teams[user.team].channels.values() if user.id in one.members]
        messages = [message for channel in channels for message in self.world.messages(channel)]
        home = [self.world.homes[user.id]] if user.id in self.world.homes else []
        return [*messages, *self.private(user), *home, *self.world.stack(user)[-1:]]

    async def sees(self, user: User, words: str, timeout: float = PATIENCE_S) -> Shown:
        """Waits until a person sees something with these words; returns the latest."""

        def found() -> Shown | None:
            return next((one for one in reversed(self.seen(user)) if words in one.words), None)

        surface = await self.world.log.until(lambda: found(), timeout, f"{user.name} seeing {words!r}")
        assert surface is not None
        return surface


def _suffix(channel_type: str) -> str:
    return {"im": "im", "group": "groups", "channel": "channels"}[channel_type]
