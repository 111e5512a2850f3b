"""Question banks: imports, statistics, the archive of closed rounds, and the questions as admins browse them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from questions.model import Device, Kind, Level
from sandbox.causes import Cause, GpuNote
from service.wire.base import Model, Ref, Short, Verdict
from service.wire.questions import AnswerInput, AnswerKey, QuestionView, RoundResult

Generated = Literal["use", "hold", "none"]
"""What happens to choices generated from prose: asked at once, held until approved, or not generated."""


class BankView(Model):
    name: str
    title: str
    questions: int
    unanswered: int
    retired: int
    waiting: int = 0
    """Generated questions that wait for approval."""


PACKED = "data:application/octet-stream;base64,"
"""What the text of a document begins with if it is a file that is not text; base64 of the file follows."""


class ImportChange(Model):
    """What an import does to one question."""

    id: str
    what: Literal["added", "changed", "moved", "retired", "returned"]
    """`moved`: unchanged, but under another heading, in another document, or with another id."""
    prompt: str
    """Start of its prompt, as plain text."""
    line: int = 0
    """Line in the document; 0 if the document no longer has the question."""
    fields: tuple[str, ...] = ()
    """For `changed`: names of the model's fields that changed."""
    made: str = ""
    """Id that the document gives it now, if it keeps another one."""


class ImportedQuestion(Model):
    """A question as the document was read, in short plain texts."""

    line: int
    kind: str
    prompt: str
    key: str = ""
    """The right options, or the answer; empty if the question has none."""
    license: str = ""


class Twin(Model):
    """Two questions that ask the same or nearly the same."""

    id: str
    line: int
    other: str
    bank: str = ""
    """Bank of the other question; empty if it is in the same document."""
    score: float
    """Similarity, 0 to 1; 1 if identical."""


class UnusedPassage(Model):
    """Lines of a document that are in no question."""

    first: int
    last: int
    title: str
    """Its heading or first words, as plain text."""


class ImportView(Model):
    """What an import did, or would do if not `applied`. With an error, nothing is imported."""

    applied: bool
    name: str
    number: int = 0
    """Number of this import within the bank, as its log has it; 0 if nothing was imported."""
    added: int
    changed: int
    unchanged: int
    moved: int = 0
    """Number of the changed and unchanged questions that moved."""
    retired: int = 0
    """Number of questions that the document no longer has."""
    returned: int = 0
    """Number of the changed and unchanged questions that were retired before."""
    unanswered: int
    findings: str
    """What the checks say about the document; empty if nothing."""
    summary: str = ""
    """How many questions the document has, and how it was read, as the command line prints it."""
    errors: int
    changes: tuple[ImportChange, ...] = ()
    """First questions that are not unchanged, in the document's order."""
    exact: int = 0
    near: int = 0
    """Number of pairs of a new or changed question and another with a similarity of at least `near_from`."""
    near_from: float = 0.0
    generated: int = 0
    """Number of choices generated from the document's sentences."""
    waiting: int = 0
    """Number of added questions that are not asked until an admin approves them."""
    for_gpu: int = 0
    """Number of questions that are not asked until a sandbox has a GPU."""
    twins: tuple[Twin, ...] = ()
    """First pairs, most similar first."""
    recipe: str = ""
    """The recipe by which the document was read; empty if it was read by its own pattern."""
    recipe_saved: bool = False
    """Whether that recipe was saved with the bank by an earlier import."""
    explanation: tuple[str, ...] = ()
    """How the document was read, one line for each pattern found in it."""
    unused: tuple[UnusedPassage, ...] = ()
    """The largest passages of the document that are in no question, in line order; no headings of questions, tables of
    contents and the like."""
    more_unused: int = 0
    """Number of the other passages."""
    unused_share: float = 0.0
    """Share of the document's lines in all these passages if it is more than half, otherwise 0."""
    questions: tuple[ImportedQuestion, ...] = ()
    """First questions of the document."""


class ImportEntry(Model):
    """One import into a bank."""

    number: int
    """Number within the bank, from 1."""
    at: datetime
    document: str
    added: int
    changed: int
    unchanged: int
    retired: int
    returned: int
    digest: str
    """First twelve digits of the digest of what it wrote."""
    undoes: int | None = None
    """Number of the import that it undid."""


class BankLog(Model):
    """The newest imports into a bank, newest first."""

    name: str
    shared: bool
    """Whether the operator imported it for all workspaces."""
    imports: tuple[ImportEntry, ...]


class LowView(Model):
    """The number of questions that a schedule has left before it must repeat one."""

    schedule: int
    channel_name: str
    left: int


ItemFinding = Literal["broken", "ambiguous", "disliked", "hard", "easy"]
"""What may be wrong with a question: its key, two options that can both be defended, what members think of it, or how
hard it is."""


class WrongOption(Model):
    """The wrong option that was chosen most often."""

    text: str
    share: float
    """Share of the answers that chose it."""


class ItemStatistics(Model):
    """The figures of one question, over the rounds of the workspace that closed in the last `days`.

    Only rounds with its current version count: a corrected question starts over.
    """

    question: str
    bank: str = ""
    days: int
    retired: bool = False
    rounds: int = 0
    """0 if none closed."""
    answers: int = 0
    judged: int = 0
    """Answers with a credit; those to open questions have none until people give it."""
    right: float | None = None
    """Mean credit of the judged answers."""
    right_low: float = 0.0
    right_high: float = 1.0
    """Ends of the 95% interval of `right`."""
    expected: float | None = None
    """Share right to expect of all members, including those who were absent; None before a calibration."""
    expected_low: float = 0.0
    expected_high: float = 1.0
    """Ends of the 95% interval of `expected`."""
    discrimination: float | None = None
    """Correlation of credit with the member's mean credit on other questions, from -1 to 1; None with too few."""
    compared: int = 0
    """Answers by members with enough other answers to be compared."""
    wrong: WrongOption | None = None
    """None in lists, for other kinds than choices and for families, and if nobody chose one."""
    wrong_beats_right: bool = False
    """Whether a wrong option was chosen more often than any right one."""
    seconds: float | None = None
    """Median of the seconds from the post to the answer; None for open questions."""
    reports: int = 0
    rated: int = 0
    """Members who said whether they found the current version good."""
    liked: int = 0
    """Those of them who did."""
    finding: ItemFinding | None = None


class ItemList(Model):
    """The questions with one finding, most extreme first."""

    finding: ItemFinding
    items: tuple[ItemStatistics, ...] = ()
    more: int = 0
    """How many more there are."""


class BankStatistics(Model):
    """The questions that need work. Each is in the list of its most serious finding."""

    days: int
    asked: int
    """Questions of rounds that closed in the last `days`."""
    answers: int
    lists: tuple[ItemList, ...] = ()
    never_asked: tuple[str, ...] = ()
    more_never_asked: int = 0


OwnResult = Literal["right", "wrong", "missed"]
"""How a member did in a round. `wrong`: not fully right."""


class ArchiveSearch(Model):
    """Which closed rounds are wanted; an empty field means all."""

    text: Short = ""
    """Words that the question, its options, its topic or its id contain."""
    topic: Short = ""
    kind: Kind | None = None
    own: OwnResult | None = None
    page: Annotated[int, Field(ge=1, le=10_000)] = 1


class ArchivedRound(Model):
    """A closed round, and how the member did."""

    ref: Ref
    day: date
    question: QuestionView
    answers: int
    right: int | None = None
    """Members who were fully right; None for an open question."""
    given: AnswerInput | None = None
    """The member's answer that counted, without code; None if they did not answer."""
    verdict: Verdict | None = None
    credit: float | None = None


class Archive(Model):
    """A page of closed rounds, newest first. Leaves out questions that are asked again now."""

    rounds: tuple[ArchivedRound, ...] = ()
    total: int = 0
    page: int = 1
    pages: int = 1
    topics: tuple[str, ...] = ()
    """Topics of all closed rounds."""


class VersionView(Model):
    """A version of a question."""

    version: int
    since: datetime
    asked: bool
    """Whether this round asked it."""


class QuestionPage(Model):
    """A question as a closed round asked it, with what it came to."""

    result: RoundResult
    """The member's own result. The key counts how often each option was chosen."""
    answers: int
    right: int | None = None
    wrong_texts: tuple[tuple[str, int], ...] = ()
    """The most frequent wrong answers to a question without options."""
    statistics: ItemStatistics
    """Over all rounds with the current version. Discrimination, reports and findings are for moderators."""
    versions: tuple[VersionView, ...] = ()
    """Newest first."""
    suggested_by: str = ""
    provable: bool = False
    """Whether there is something to run."""
    device: Device = "cpu"
    """Where answers to a code question are judged."""
    gpu_proof: bool = True
    """Whether a GPU has proved it, if it is for one."""
    zone: str = "UTC"


class ProofFact(Model):
    """What a proof computed about an option or a key point."""

    text: str
    holds: bool | None
    """What it found; None if it says nothing about it."""
    key: bool
    """What the key says."""


class ProofRun(Model):
    """The result of running a question's proof."""

    ran: Literal["proof", "program", "reference"]
    """`program`: the program whose output is asked for; `reference`: the solution of a code question, on its cases."""
    holds: bool
    """Whether what was computed matches the key."""
    computed: str = ""
    """The computed value, or what was printed."""
    facts: tuple[ProofFact, ...] = ()
    passed: int = 0
    cases: int = 0
    """Cases of a code question."""
    failed: bool = False
    """Whether the program ended early, or stated no facts that can be compared with the key."""
    problem: str = ""
    """What a program that failed wrote itself, such as the end of its traceback."""
    cause: Annotated[Cause, Field(discriminator="kind")] | None = None
    """Why it ended early, unless a mistake in it did that."""
    note: GpuNote = ""
    """What the lack of a GPU meant."""
    ours: bool = False
    """Whether the sandbox failed, which says nothing about the key."""
    wall_ms: float = 0.0


QuestionState = Literal["asked", "waiting", "unanswered", "retired", "gone"]
"""`asked`: it can be asked; `waiting`: it was generated and waits for approval; `unanswered`: it has no key, so it is
never asked; `retired`: an admin of the workspace retired it; `gone`: its document no longer has it."""


class QuestionFilter(Model):
    """Which questions to list. What is empty does not matter."""

    text: Short = ""
    """Words in the question or its id."""
    topic: Short = ""
    kind: Kind | None = None
    level: Level | None = None
    state: QuestionState | None = None
    bank: Short = ""
    page: Annotated[int, Field(ge=1, le=10_000)] = 1


class BankQuestion(Model):
    """A question in a list."""

    id: str
    bank: str
    """Name of the bank."""
    own: bool
    kind: Kind
    level: Level | None
    topic: str
    prompt: str
    """Start of its prompt, Markdown."""
    state: QuestionState
    rounds: int = 0
    """Closed rounds of the workspace that asked it."""


class BankPage(Model):
    """One page of the questions that a filter finds, by topic."""

    questions: tuple[BankQuestion, ...]
    total: int
    page: int
    size: int


class BankVersion(Model):
    """A version of a question."""

    number: int
    at: datetime
    rounds: int
    """Rounds of the workspace that asked it."""


class QuestionDetails(Model):
    """All about one question, for admins."""

    listed: BankQuestion
    question: QuestionView
    key: AnswerKey | None
    """None while the workspace is asking it: admins play too."""
    versions: tuple[BankVersion, ...]
    """Newest first."""
    statistics: ItemStatistics | None
    """None while the workspace is asking it."""
    reports: int
    """Reports that wait."""
