"""A form filled in line by line: which field is being asked, and what was typed so far. No reading, no writing."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.core.cards import Form, PickField, TextField
from bot.platforms.console.render import LETTERS, field_text


class NotThat(Exception):
    """The line does not answer the field; the message says what would."""


@dataclass
class Filling:
    """One form on its way. `drafts` are values typed into the same form before."""

    form: Form
    drafts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _lines: list[str] = field(default_factory=list)

    @property
    def current(self) -> TextField | PickField | None:
        """The field that is asked now; None when all are filled."""
        return next((self._drafted(one) for one in self.form.fields if one.name not in self.values), None)

    @property
    def draft(self) -> dict[str, tuple[str, ...]]:
        """All that was typed so far, lines without their dot included, over what was typed before."""
        current = self.current
        begun = {current.name: ("\n".join(self._lines),)} if current and any(map(str.strip, self._lines)) else {}
        return {**self.drafts, **self.values, **begun}

    def question(self, width: int) -> str:
        """What to ask next."""
        current = self.current
        if current is not None:
            return field_text(current, width)
        offers = [f"[1] {self.form.submit}", *(f"[{n}] {b.label}" for n, b in enumerate(self.form.extras, start=2))]
        return "   ".join([*offers, "[0] Cancel"])

    def take(self, line: str) -> str | None:
        """Take a typed line; the action to submit once all is there. Raises NotThat."""
        current = self.current
        if current is None:
            return self._chosen(line.strip())
        match current:
            case PickField():
                self.values[current.name] = _picked(current, line)
            case TextField():
                self._typed(current, line)
        return self.form.action if self.current is None and not self.form.extras else None

    def _typed(self, current: TextField, line: str) -> None:
        if current.lines == 1 and not current.code:
            self._set(current, line.strip() or current.value)
        elif line.strip() == ".":
            self._set(current, "\n".join(self._lines) if any(map(str.strip, self._lines)) else current.value)
            self._lines.clear()
        else:
            self._lines.append(line)

    def _set(self, current: TextField, text: str) -> None:
        if current.required and not text.strip():
            raise NotThat("Something has to be typed here; `/cancel` leaves the form.")
        if len(text) > current.max_length:
            raise NotThat(f"That is {len(text):,} characters; at most {current.max_length:,} fit.")
        self.values[current.name] = (text,)

    def _drafted(self, one: TextField | PickField) -> TextField | PickField:
        draft = self.drafts.get(one.name)
        if draft is None:
            return one
        if isinstance(one, PickField):
            return PickField(one.name, one.label, one.options, draft, one.several)
        return TextField(one.name, one.label, draft[0], one.hint, one.lines, one.code, one.max_length, one.required)

    def _chosen(self, line: str) -> str:
        actions = [self.form.action, *(button.action for button in self.form.extras)]
        if line.isdecimal() and 1 <= int(line) <= len(actions):
            return actions[int(line) - 1]
        raise NotThat(f"Type a number from 1 to {len(actions)}, or 0 to leave the form.")


def _picked(current: PickField, line: str) -> tuple[str, ...]:
    typed = list(line.upper().replace(",", " ").replace(" ", ""))
    offered = dict(zip(LETTERS, (value for value, _ in current.options), strict=False))
    unknown = [letter for letter in typed if letter not in offered]
    if not typed or unknown or (len(typed) > 1 and not current.several):
        most = "letters" if current.several else "one letter"
        raise NotThat(f"Type {most} from A to {LETTERS[len(offered) - 1]}.")
    return tuple(dict.fromkeys(offered[letter] for letter in typed))
