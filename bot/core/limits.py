"""The limits that Discord and Slack document for what a bot sends. Lengths are UTF-16 code units unless they say
otherwise.

Renderers that need room of their own, or that keep a distance from a limit, say so where they do. The doubles in the
tests have tables of their own, and a test compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DiscordLimits:
    """Discord's limits. Documentation: components/reference, resources/message, interactions."""

    message_text: int = 4000
    """All texts of a message together."""
    row_buttons: int = 5
    button_label: int = 80
    button_url: int = 512
    custom_id: int = 100
    alt_text: int = 1024
    nonce: int = 25
    thread_name: int = 100
    modal_title: int = 45
    modal_components: int = 5
    field_label: int = 45
    field_hint: int = 100
    typed_text: int = 4000
    group_options: int = 10
    """Options of a group of radio buttons or check boxes."""
    menu_options: int = 25
    option_label: int = 100
    command_description: int = 100
    suggestions: int = 25
    """Values offered for an option that is autocompleted."""
    suggestion: int = 100


@dataclass(frozen=True, slots=True)
class SlackLimits:
    """Slack's limits. Documentation: reference/block-kit, reference/views. Lengths are characters."""

    message_text: int = 4000
    """Longest text that Slack advises; it cuts at ten times as many."""
    message_blocks: int = 50
    context_text: int = 3000
    header: int = 150
    alt_text: int = 2000
    row_buttons: int = 25
    """Elements of an actions block."""
    button_label: int = 75
    action_id: int = 255
    table_rows: int = 100
    table_columns: int = 20
    message_charts: int = 2
    chart_title: int = 50
    chart_label: int = 20
    """Of a category or a series."""
    chart_series: int = 6
    chart_categories: int = 20
    view_title: int = 24
    view_blocks: int = 100
    typed_text: int = 3000
    group_options: int = 10
    """Options of a group of radio buttons or check boxes."""
    menu_options: int = 100
    option_label: int = 75
    responses: int = 5
    """Replies that a `response_url` takes."""


DISCORD, SLACK = DiscordLimits(), SlackLimits()

BUTTON_LABEL = min(DISCORD.button_label, SLACK.button_label)
"""Longest label of a button that every chat shows whole."""
ACTION_ID = min(DISCORD.custom_id, SLACK.action_id)
"""Longest action id that every chat accepts."""
