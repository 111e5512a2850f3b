"""Recognizes labels such as `**Q:**`, `Answer:` and `【答案】`, from one table of words in thirty-two languages.

English, Spanish, Portuguese, French, German, Italian, Dutch, Polish, Russian, Ukrainian, Turkish, Indonesian,
Vietnamese, Chinese, Japanese and Korean. For questions, answers and keys only: Swedish, Norwegian, Danish, Finnish,
Czech, Slovak, Romanian, Hungarian, Greek, Bulgarian, Croatian, Arabic, Persian, Hebrew, Thai and Hindi. To add a
language, add its words to the table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from questions.blocks import content_column, dedent, plain
from questions.source import WIDE, trim

if TYPE_CHECKING:
    from questions.blocks import Block
    from questions.source import Source

Role = Literal["question", "answer", "explanation"]

END_OF_QUESTION = "<!-- end of question -->"
"""A line behind which the text does not belong to the labeled question above."""
# Each entry is a part of a regular expression; spaces are written `[ ]`.
QUESTION_WORDS = (
    r"q(?:ues(?:tion|\.)?)?|pregunta|pergunta|quest[ãa]o|domanda|frage|vraag|pytanie|вопрос|запитання|питання|soru"
    r"|pertanyaan|soal|fråga|spørsmål|spørgsmål|kysymys|otázka|întrebare|kérdés|ερώτηση|въпрос|pitanje|(?:ال)?سؤال|سوال"
    r"|שאלה|คำถาม|प्रश्न"
    r"|câu(?:[ ]hỏi)?|問題文?|面试题|面試題|问题|题目|題目|问|問|質問|設問|質疑|질문|문제|문항"
)
"""Words before a question."""
TASK_WORDS = (
    r"problem|exercise|task|aufgabe|übung|ejercicio|exerc[ií]cio|exercice|esercizio|zadanie|задача|задание|bài"
    r"|练习|習題|习题"
)
"""Words that come before a question only with a number."""
_KEY_WORDS = (
    r"(?:the[ ])?(?:correct|right)[ ](?:answer|option|choice)(?:s|\(s\))?(?:[ ](?:is|are))?|answer[ ]key|key"
    r"|(?:respuestas?[ ])?correctas?|opci[oó]n(?:es)?[ ]correctas?|(?:respostas?[ ])?corretas?"
    r"|alternativas?[ ]corretas?"
    r"|gabarito"
    r"|(?:bonnes?[ ]réponses?|réponses?[ ](?:correctes?|exactes?))(?:[ ](?:est|sont))?|richtige[ ]antwort(?:en)?"
    r"|korrekte[ ]antwort(?:en)?|rispost[ae][ ](?:corrett[ae]|esatt[ae])|juiste[ ]antwoord(?:en)?"
    r"|(?:poprawn|prawidłow)(?:a[ ]odpowiedź|e[ ]odpowiedzi|[ae])"
    r"|правильны[йе][ ]ответы?|верны[йе][ ]ответы?|правильна[ ]відповідь"
    r"|doğru[ ](?:cevap|yan[ıi]t|seçenek)(?:lar)?|jawaban[ ](?:yang[ ])?benar|kunci[ ]jawaban|đáp[ ]án(?:[ ]đúng)?"
    r"|(?:rätt|riktigt?|rigtigt?)[ ]svar|oikea[ ]vastaus|správná[ ]odpověď|správna[ ]odpoveď|r[ăa]spuns(?:ul)?[ ]corect"
    r"|helyes[ ]válasz|σωστή[ ]απάντηση|(?:верен|правилен)[ ]отговор|(?:točan|tačan)[ ]odgovor|الإجابة[ ]الصحيحة"
    r"|(?:ה)?תשובה[ ](?:ה)?נכונה|सही[ ]उत्तर"
    r"|正确(?:答案|选项)|正確(?:答案|選項)|参考答案|參考答案|标准答案|正解|정답"
)
_WHOLE_WORDS = (
    rf"ans|answers?|{_KEY_WORDS}"
    r"|respuestas?|respostas?|rispost[ae]|r[ée]ponses?|antwort(?:en)?|antwoord(?:en)?|odpowied(?:ź|zi)|ответы?"
    r"|відповід[ьі]"
    r"|svar|vastaus|odpověď|odpoveď|r[ăa]spuns|válasz|απάντηση|отговор|odgovor|(?:ال)?إجابة|(?:ال)?جواب|پاسخ|(?:ה)?תשובה"
    r"|คำตอบ|เฉลย|उत्तर"
    r"|cevap(?:lar)?|yan[ıi]t(?:lar)?|jawaban|trả[ ]lời|答案|回答|解答|答え?|답변|답|해답"
)
_SHORT = rf"a|{_WHOLE_WORDS}"
"""Words before an answer, recognized without emphasis."""
_MARKED_ANSWER = (
    rf"{_SHORT}|(?:(?:sample|model|short|expected|suggested|example|good|ideal|detailed)[ ]+)answer"
    r"|(?:sample|expected)[ ]answers|answer[ ](?:guide|outline|sketch)"
    r"|(?:réponses?|respuestas?|respostas?|rispost[ae])[ ](?:attendues?|esperadas?|attes[ae]|types?|modelos?|modello)"
    r"|(?:erwartete|mögliche)[ ]antwort(?:en)?|oczekiwana[ ]odpowiedź|ожидаемый[ ]ответ|beklenen[ ]cevap"
    r"|discussion|solution|response|soluci[oó]n|solução|solutions?|lösung(?:en)?|soluzion[ei]|oplossing"
    r"|rozwiązanie|решение"
    r"|рішення|çözüm|pembahasan|lời[ ]giải"
)
"""Words before an answer that are ordinary prose without emphasis."""
ANSWER_WORDS = (
    rf"{_WHOLE_WORDS}|(?:correct|right|sample)[ ](?:answer|option|choice)|solution|solución|solução|lösung|soluzione"
    r"|oplossing|løsning|rozwiązanie|решение|řešení|riešenie|megoldás|çözüm"
)
"""Words before the letter of an option and nothing else."""
_EXPLANATION = (
    r"explanation|rationale|reason(?:ing)?|justification|explicaci[oó]n|justificaci[oó]n|explicaç[ãa]o"
    r"|justificativa|explication"
    r"|erklärung|erläuterung|begründung|spiegazione|uitleg|toelichting|wyjaśnienie|uzasadnienie|объяснение"
    r"|пояснение|пояснення"
    r"|aç[ıi]klama|penjelasan|giải[ ]thích|解析|解释|解釋|解説|説明|해설|설명"
)
_NUMBER = r"(?:[ ]?#?(?P<number>\d{1,4}))?"
_MARKED = rf"(?P<open>\*{{1,3}}|_{{1,3}})[ ]?(?P<word>%s){_NUMBER}[ ]?(?:[:：.)][ ]?(?P=open)|(?P=open)[ ]?[:：])[ ]*"
_AROUND = rf"(?P<open>\*{{1,3}}|_{{1,3}})(?P<word>%s){_NUMBER}[ ]?[:：][ ]*(?=[^\n]{{1,400}}(?P=open)[ ]*$)"
_BARE = rf"(?P<word>%s){_NUMBER}[ ]?(?::(?:[ \t]+|$)|：[ \t]*)"
_BRACKETS = rf"[\[【](?P<word>%s){_NUMBER}[\]】][ ]?[:：]?[ ]*"
_COUNTED = rf"(?P<word>{QUESTION_WORDS})(?:[ ]?#?(?P<number>\d{{1,4}})[ ]?[.)]|[.)])[ ]+(?=\S)"
_CLIPPED = r"(?P<word>ans)(?:[ ]?#?(?P<number>\d{1,4}))?(?:[.][ ]*:?|[ ]?[-–—])[ ]+(?=\S)"
_TIGHT = rf"(?P<word>{_WHOLE_WORDS}){_NUMBER}:(?=[(\[]?[A-J](?:[)\].]|[ ]*$))"
"""A word with nothing between its colon and the letter of an option: `Ans:b) a view`."""
_ALONE = r"(?P<open>\*{1,3}|_{1,3})(?P<word>%s)(?P=open)[ ]*$"
_OPEN = rf"(?P<open>\*{{2,3}})[ ]?(?P<word>%s){_NUMBER}[ ]?[:：][ ]*(?![^\n]*\*\*)(?=\S)"
"""Emphasis that begins before the word and never ends in its line."""
_LETTERS_ALONE = r"[(\[]?(?:(?-i:[A-J]{2,6})|[A-J](?:[ ]?[,&/+][ ]?[A-J])*)[)\].]?[ ]*$"
_TO_LETTERS = rf"(?:[ \t]{{0,3}}=[ \t]{{0,3}}|[ \t]{{1,3}}|(?<=[{WIDE}]))"
_BEFORE_LETTERS = rf"(?P<word>{_WHOLE_WORDS}){_TO_LETTERS}(?={_LETTERS_ALONE})"
"""A word before nothing but the letters of options: `Ans d`, `answer = d`, `答案B`."""
_CORRECT = rf"(?P<open>\*{{2,3}})?(?P<word>(?-i:C(?:orrect|ORRECT)))[ ]?[:：](?(open)(?P=open))[ ]*(?={_LETTERS_ALONE})"
"""A word before nothing but the letters of options; in small letters, it is the name of a field."""
_GOOD = (
    r"(?:the[ ])?(?:good|best|proper|valid)[ ](?:answer|option|choice)|buena[ ]respuesta|boa[ ]resposta|gute[ ]antwort"
    r"|buona[ ]risposta|goede[ ]antwoord|dobra[ ]odpowiedź|najlepsza[ ]odpowiedź|хороший[ ]ответ"
)
_CHOSEN = rf"(?P<open>\*{{2,3}})?(?P<word>{_GOOD})[ ]?[:：](?(open)(?P=open))[ ]*(?={_LETTERS_ALONE})"
"""Words that are prose before a text, before nothing but the letters of options."""
KEY_AND_REASON = re.compile(
    r"(?P<lead>(?:[ \t]|>[ ]?|[-*+][ ]+|[^\w\s!-/:-@\[-`{-~【】]{1,4}[ ]){0,6})(?P<open>\*{1,3}|_{1,3})"
    rf"(?P<label>(?:{_MARKED_ANSWER}|{_GOOD}){_NUMBER}[ ]?[:：])[ ]*"
    r"(?P<key>[(\[]?[A-J](?:[ ]?[,&/+][ ]?[A-J])*(?:[)\].:][ ][^*_\n]{1,300}|[)\].]?)|true|false)(?P=open)"
    r"(?P<rest>[^\w*_].*)",
    re.IGNORECASE,
)
"""A line with a key and its label in the same emphasis, and a reason behind it: `**Answer: C** — it copies`."""
_SHAPES: tuple[tuple[Role, str], ...] = (
    ("question", _MARKED % QUESTION_WORDS),
    ("question", _AROUND % QUESTION_WORDS),
    ("question", _BARE % QUESTION_WORDS),
    ("question", _BRACKETS % QUESTION_WORDS),
    ("question", _COUNTED),
    ("answer", _MARKED % _MARKED_ANSWER),
    ("answer", _AROUND % _MARKED_ANSWER),
    # Without emphasis, `Solution: …` and similar are ordinary prose inside an answer.
    ("answer", _BARE % _SHORT),
    ("answer", _BRACKETS % _MARKED_ANSWER),
    ("answer", _TIGHT),
    ("answer", _CLIPPED),
    ("answer", _BEFORE_LETTERS),
    ("answer", _CORRECT),
    ("answer", _CHOSEN),
    ("answer", _OPEN % _MARKED_ANSWER),
    ("answer", _ALONE % _MARKED_ANSWER),
    ("explanation", _MARKED % _EXPLANATION),
    ("explanation", _AROUND % _EXPLANATION),
    ("explanation", _BRACKETS % _EXPLANATION),
    ("explanation", _ALONE % _EXPLANATION),
)
_ENCLOSING = tuple(_AROUND % words for words in (QUESTION_WORDS, _MARKED_ANSWER, _EXPLANATION))
_LABELS = tuple((role, re.compile(shape, re.IGNORECASE)) for role, shape in _SHAPES)
_MAYBE = re.compile(
    rf"(?:\*{{1,3}}|_{{1,3}}|[\[【])?[ ]?(?:{QUESTION_WORDS}|{_MARKED_ANSWER}|{_EXPLANATION}|correct|{_GOOD})"
    rf"(?:[ ]?[\d#:：.)*_\]】–—-]|{_TO_LETTERS}[(\[]?(?:[A-J]|(?-i:[A-J]{{2,6}}))(?!\w))",
    re.IGNORECASE,
)
_TAGS = re.compile(r"(?:<(?:span|p|div|font|em|b|strong|small)\b[^<>]{0,200}>[ ]*){1,3}(?!<)", re.IGNORECASE)
"""Tags before a label."""
_END_TAGS = re.compile(r"(?:</(?:span|p|div|font|em|b|strong|small)>){1,3}$", re.IGNORECASE)
_LAST_TAGS = re.compile(r"(?:[ ]?</?(?:span|p|div|font|em|b|strong|small)>){1,4}$", re.IGNORECASE)
"""Tags at the end of a line that is only a label."""
_SYMBOL = re.compile(r"[^\w\s!-/:-@\[-`{-~【】]{1,4}[ ]{1,2}")
"""A symbol before a label, such as a pointing hand."""
_SYMBOL_INSIDE = re.compile(r"(?P<open>\*{1,3}|_{1,3})[^\w\s!-/:-@\[-`{-~【】]{1,4}[ ]{1,2}")
"""A symbol between the emphasis and the label."""
SIGN = "❓"
"""The word of a label that is a picture of a question mark."""
_SIGN = re.compile(
    r"(?P<open>\*{1,3}|_{1,3})?[❓❔]\ufe0f?[ ]?(?P<number>\d{1,4})[ ]?[.):](?P<close>(?P=open))?[ ]{1,2}(?=\S)"
)
"""A picture of a question mark before a number."""
_ANSWER_HEADING = re.compile(
    rf"(?:(?:the[ ])?(?:{_MARKED_ANSWER}|{_EXPLANATION})[ ]?(?:#?\d{{1,4}})?[ ]?[:：]?"
    rf"|(?:answers?|solution\w{{0,2}})[ ](?:to|for)[ ](?:the[ ])?(?:{QUESTION_WORDS}|{TASK_WORDS})"
    r"[ ]?#?(?:\d{1,4})?[ ]?[:：]?"
    rf"|(?:{_SHORT})[ ]?(?:[:–—-][ ]+|：[ ]*)(?P<rest>\S.*)|(?:{_SHORT})[ ]+(?P<letter>[A-J](?:[ ]?[,&/][ ]?[A-J])*))",
    re.IGNORECASE,
)
_MAY_ANSWER = re.compile(rf"(?:[^\w]|_){{0,20}}(?:the[ ])?(?:{_MARKED_ANSWER}|{_EXPLANATION})(?![a-z])", re.IGNORECASE)
_SUMMARY_LABEL = re.compile(
    rf"(?:[\w'’]+[ ]){{0,4}}?(?:\w{{0,6}}?(?:{_MARKED_ANSWER})|answers?|solutions?|{_EXPLANATION})"
    r"(?:[ ]?(?:here|below|&[ ]\w+|and[ ]\w+|\d{1,4}|보기|확인))?",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"(?:(?:click|tap|press)(?:[ ]\w+){0,5}|(?:show|reveal|expand|spoiler|details|unfold)(?:[ ]\w+){0,2}"
    r"|(?:ver|mostrar|voir|afficher|показать|раскрыть|göster|펼치기|点击展开|点击查看|展开)(?:[ ]\w+){0,2})",
    re.IGNORECASE,
)
_EDGES = re.compile(r"^[^\w]+|[^\w]+$")
_KEY_LIST = re.compile(
    r"(?:[\w'’]+[ ]){0,2}?(?:answer[ ](?:key|sheet)s?|answers|solutions|key$|clave(?:[ ]de[ ]respuestas)?"
    r"|respuestas|respostas|solucionario|soluciones|soluç[õo]es|solutionnaire"
    r"|gabarito|réponses|corrig[ée]s?|lösungen|antworten|soluzioni|risposte|antwoorden|odpowiedzi|ответы"
    r"|відповіді|ключ"
    r"|cevap(?:lar|[ ]anahtarı)|kunci[ ]jawaban|đáp[ ]án|参考答案|參考答案|答案|正解|解答|정답"
    r"|해답)(?:[ ](?:[&+/][ ])?[\w'’]+){0,3}(?:[ ][-–—][ ].{1,40})?",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\W{0,9}(?:(?:your |the |an? )?(?:answer|response|solution|explanation)s?(?: (?:goes )?here"
    r"| to (?:be (?:filled|added)|follow|come))?"
    r"|(?:write|type|enter|add|put|insert) (?:your |the |an? )?(?:answer|response|solution)(?: here| below)?"
    r"|to be (?:filled|added|answered|written|done|completed|determined)(?: in| later)?|to ?do|tbd|tba|wip"
    r"|(?:your |the )?(?:answer|response|solution|text|code|explanation)s?(?:/\w{4,8})? (?:goes )?here"
    r"|coming soon|n/a|(?-i:NA|na)|xxx+|pendente|da fare|da completare"
    r"|fill (?:me |this )?in|not answered(?: yet)?|no answer(?: yet)?|pending|pendiente|por (?:hacer|completar)"
    r"|a completar"
    r"|à (?:compléter|venir|faire)|folgt|in arbeit|в разработке|скоро|待补充|待完善|待续|未完待续|略|준비 ?중"
    r"|작성 ?예정|未記入|準備中)?\W{0,200}",
    re.IGNORECASE,
)
_OPTION_B = re.compile(r"\s*(?:[-*+•●◦▪‣][ \t]+)?[*_(\[]{0,3}b[)\]]?[*_]{0,3}[:.)][ *_]", re.IGNORECASE)

_LETTER_AFTER = re.compile(r"(?P<letter>[A-Ja-j])(?:[.)][ ]|[ ]*$)")

_OPTION_LINES = 40
"""Lines after the first option within which the second begins."""


@dataclass(frozen=True, slots=True)
class Label:
    """A label that starts a question, an answer or an explanation."""

    role: Role
    line: int
    start: int
    """Column where the label starts, from 0."""
    end: int
    """Column where the text after the label starts."""
    word: str = ""
    """The label's word, in lower case."""
    number: str = ""
    closing: str = ""
    """Marks at the end of the line that close marks opened before the label."""


def label_of(line: str, number: int = 0) -> Label | None:
    """Returns the label at the start of a line, after list markers and indentation."""
    start = content_column(line)
    if line.startswith("<", start) and (tags := _TAGS.match(line, start)):
        # `<span class="spoiler">Answer: …</span>` is read as `Answer: …`.
        rest = line[tags.end() :]
        alone = f"**{_LAST_TAGS.sub('', rest.rstrip())}**"
        if alone.endswith((":**", "：**")) and (inside := label_of(alone, number)) and inside.end == len(alone):
            # `<p><b>Answer:<b><p>`, also with end tags that begin something.
            return Label(inside.role, number, start, len(line), inside.word, inside.number)
        inside = label_of(rest, number)
        if inside is None or inside.closing:
            return None
        ended = _END_TAGS.search(line.rstrip()[-40:])
        closing = ended[0] if ended else ""
        return Label(inside.role, number, start, inside.end + tags.end(), inside.word, inside.number, closing)
    if not line.isascii() and (sign := _SIGN.match(line, start)):
        # `**❓3. Why?**` is read as `**Question 3: Why?**`.
        closing = sign["open"] if sign["open"] and not sign["close"] and line.rstrip().endswith(sign["open"]) else ""
        return Label("question", number, start, sign.end(), SIGN, sign["number"], closing)
    if symbol := _SYMBOL.match(line, start):
        start = symbol.end()
    elif not line.isascii() and (symbol := _SYMBOL_INSIDE.match(line, start)):
        # `**✅ Answer:** …` is read as `**Answer:** …`.
        inside = label_of(symbol["open"] + line[symbol.end() :], number)
        shift = symbol.end() - len(symbol["open"])
        return inside and Label(
            inside.role, number, start, inside.end + shift, inside.word, inside.number, inside.closing
        )
    if not _MAYBE.match(line, start):
        return None
    for role, pattern in _LABELS:
        if found := pattern.match(line, start):
            named = found.groupdict()
            closing = named["open"] if pattern.pattern in _ENCLOSING else ""
            return Label(role, number, start, found.end(), found["word"].lower(), named.get("number") or "", closing)
    return None


def labels_in(block: Block, source: Source) -> list[Label]:
    """Returns the labels in a paragraph or in HTML; other blocks have none."""
    if block.kind not in ("paragraph", "html"):
        return []
    lines = range(block.first, block.last + 1)
    found = (label_of(source.line(number), number) or _before_number(source, number) for number in lines)
    return [label for label in found if label and not _is_option(source, label) and not _is_prose(source, label, block)]


_ITS_NUMBER = re.compile(
    rf"[ \t]*[*_]{{0,2}}(?P<word>{_WHOLE_WORDS})[*_]{{0,2}}[ \t]{{1,3}}(?=[(]?[1-9][).]?[ \t]*$)", re.IGNORECASE
)
_NUMBERED_OPTION = re.compile(r"[ \t]*\(?[2-9][.)][ \t]*\S")


def _before_number(source: Source, number: int) -> Label | None:
    """Returns the label before the number of an option, as in `Ans 2`, right below the last of several options."""
    line = source.line(number)
    # Few lines end in a digit, perhaps with a mark behind it.
    found = _ITS_NUMBER.match(line) if line.rstrip(" \t.)")[-1:].isdigit() else None
    above = next((n for n in (number - 1, number - 2) if source.line(n).strip()), 0) if found else 0
    if found is None or not _NUMBERED_OPTION.match(source.line(above)):
        return None
    return Label("answer", number, content_column(line), found.end(), found["word"].lower())


_WRAPPED = 60
"""Length from which a line was wrapped where the line was full, characters."""
_GOES_ON = re.compile(r"[\w,`\"'”’)-]$")


def _is_prose(source: Source, label: Label, block: Block) -> bool:
    """Returns whether a word in small letters begins a line only because the sentence above was wrapped there: `… the
    pattern of a question and of an` above `answer:`."""
    if label.line == block.first or not source.line(label.line)[label.start : label.end][:1].islower():
        return False
    above = source.line(label.line - 1).rstrip()
    return len(above) >= _WRAPPED and _GOES_ON.search(above) is not None


def _is_option(source: Source, label: Label) -> bool:
    """Returns whether an `A:` is the first of several options: the next line with text begins with `B:`."""
    if label.word != "a" or label.number:
        return _repeats_with_letters(source, label)
    if _unmarked(source.line(label.line)).strip() in ("A", "a") and _is_key(source, label.line):
        return True
    following = source.next_filled(label.line + 1)
    if _OPTION_B.match(source.line(following)) is not None:
        return True
    # `*A:*` above a program, and `*B:*` in a line of its own further down.
    line = source.line(label.line)
    twin = line[: label.start] + line[label.start :].replace("A", "B", 1).replace("a", "b", 1 if "A" not in line else 0)
    ahead = range(label.line + 1, min(label.line + _OPTION_LINES, len(source.lines)) + 1)
    # Where the right option alone is bold, the others have the letter without the marks.
    bare = _unmarked(twin)
    return not _unmarked(line[label.end :]).strip() and any(_unmarked(source.line(one)) == bare for one in ahead)


_LATER_OPTION = re.compile(r"\W{0,6}[C-Jc-j](?:[).:、．）]|[ ])")


def _is_key(source: Source, line: int) -> bool:
    """Returns whether the nearest line with text above is an option, so that a letter alone is the key."""
    above = next((source.line(n) for n in range(line - 1, max(line - 5, 0), -1) if source.line(n).strip(" `~")), "")
    return _LATER_OPTION.match(above) is not None


def _unmarked(line: str) -> str:
    return line.replace("*", "").replace("_", "").rstrip()


def _repeats_with_letters(source: Source, label: Label) -> bool:
    """Returns whether the lines around a label have the same one, and letters that continue: `Answer: A. one` above
    `Answer: B. two`."""
    letter = _LETTER_AFTER.match(source.line(label.line), label.end)
    if letter is None:
        return False
    for number, step in ((label.line - 1, -1), (label.line + 1, 1)):
        line = source.line(number)
        near = (
            _LETTER_AFTER.match(line, label.end) if line[: label.end] == source.line(label.line)[: label.end] else None
        )
        if near and ord(near["letter"]) == ord(letter["letter"]) + step:
            return True
    return False


def text_after(source: Source, label: Label, last: int) -> str:
    """Returns the Markdown from a label to line `last`, dedented by the label's indentation."""
    rest = source.line(label.line)[label.end :]
    if label.closing:
        rest = rest.rstrip().removesuffix(label.closing)
    below = [dedent(source.line(number), label.start) for number in range(label.line + 1, last + 1)]
    return trim("\n".join((rest, *below)))


def is_answer_heading(block: Block) -> bool:
    """Returns whether a heading only announces the answer or contains it: `Answer`, `Answer: D`."""
    return block.kind == "heading" and answer_in_heading(block.text) is not None


_EXPLANATION_HEADING = re.compile(rf"\W*(?:{_EXPLANATION})\W*", re.IGNORECASE)


def is_explanation_heading(block: Block) -> bool:
    """Returns whether a heading only announces an explanation: `Explanation`, `Erläuterung:`."""
    return block.kind == "heading" and _EXPLANATION_HEADING.fullmatch(plain(block.text)) is not None


def answer_in_heading(heading: str) -> str | None:
    """Returns the text after the label in an answer heading; empty if there is none, None for other headings."""
    if len(heading) > _LONGEST_HEADING or not _MAY_ANSWER.match(heading):
        return None
    if (found := _ANSWER_HEADING.fullmatch(_EDGES.sub("", plain(heading)))) is None:
        return None
    rest = found["rest"] or found["letter"] or ""
    return "" if is_placeholder(rest) else rest


_LONGEST_HEADING = 4000
"""Length of a heading with an answer in it, characters: some write the whole answer as a heading."""
_QUESTION_HEADING = re.compile(
    rf"\W*(?:{QUESTION_WORDS}|prompt|statement)(?:[ ](?:text|statement)|描述|内容)?\W*", re.IGNORECASE
)


def is_question_heading(block: Block) -> bool:
    """Returns whether a heading only announces the question below it: `Question`, `题目`."""
    return block.kind == "heading" and _QUESTION_HEADING.fullmatch(plain(block.text)) is not None


_QUESTIONS_HEADING = re.compile(
    r"\W*(?:\d{1,3}[.)]?[ ])?(?:(?:review|practice|exam|interview|sample|study|discussion)[ ])?"
    r"(?:questions|exercises|tasks|problems"
    r"|preguntas|ejercicios|perguntas|questões|exercícios|fragen|aufgaben|übungen|questions|exercices|domande|esercizi"
    r"|vragen|pytania|zadania|вопросы|задания|задачи|питання|завдання|sorular|pertanyaan|soal|câu hỏi|bài tập"
    r"|ot[aá]zky|úlohy|kérdések|întrebări|frågor|spørgsmål|spørsmål|kysymykset|pitanja|въпроси|ερωτήσεις"
    r"|问题|題目|题目|练习题?|思考题|面试题|問題|질문|문제)\W*",
    re.IGNORECASE,
)


def announces_only_questions(block: Block) -> bool:
    """Returns whether a heading is only a word for questions, in the plural: `Questions`, `Aufgaben`, `练习`."""
    return block.kind == "heading" and names_only_questions(plain(block.text))


def names_only_questions(text: str) -> bool:
    """Returns whether a text is only a word for questions, in the plural."""
    return _QUESTIONS_HEADING.fullmatch(text) is not None


_EXERCISES = re.compile(
    r"\b(?:exercises?|homework|assignments?|worksheet|übung(?:en|sblatt)?|hausaufgaben?|aufgabenblatt|ejercicios|tareas?"
    r"|deberes|exercices|devoirs?|esercizi|compiti|exercícios|oefeningen|huiswerk|zadania|ćwiczenia|упражнения|домашн\w+"
    r"|exerciții|exercitii|teme|вправи|alıştırmalar?|ödev|latihan|tugas)\b|bài tập|练习|作业|習題|宿題|演習|과제|연습",
    re.IGNORECASE,
)


def names_exercises(title: str) -> bool:
    """Returns whether a title announces work to do: `Exercises`, `Homework 3`, `Übungsblatt`."""
    return _EXERCISES.search(title) is not None


_ALONE_IN_LINE = r"\W*(?=\w)(?:%s)(?<=\w)\W*"
# Matched in small letters, which takes half the time.
_ONLY_ASKS = re.compile(_ALONE_IN_LINE % rf"{QUESTION_WORDS}|{TASK_WORDS}|prompt|statement")
_QUESTION_WORD = re.compile(_ALONE_IN_LINE % QUESTION_WORDS)
_ONLY_ANSWERS = re.compile(
    _ALONE_IN_LINE
    % rf"(?:{_MARKED_ANSWER}|{_EXPLANATION})(?:[ ]?#?\d{{1,4}})?|(?:answer[ ])?(?:options|choices)|opciones|opções"
    r"|alternativas|optionen|antwortmöglichkeiten|opzioni|możliwości|варианты(?:[ ]ответов?)?|ş[ıi]klar|seçenekler"
    r"|pilihan|选项|選項|選択肢|보기"
)
_LONGEST_LABEL = 80
"""Length of a line that is only a label, with its marks, characters."""

_EXPLAINS = re.compile(
    rf"(?:[-*+][ ]+)?(?P<mark>[*_]{{1,3}})?(?:{_EXPLANATION}|why)(?:[ ]?/[ ]?references?)?"
    r"(?(mark)(?:(?P=mark)[ ]?[:：]|[ ]?[:：](?P=mark))|[ ]?[:：])\s{0,9}"
    rf"|[\[【](?:{_EXPLANATION})[\]】][ ]?[:：]?\s{{0,9}}",
    re.IGNORECASE,
)


def without_explanation_label(text: str) -> str:
    """Returns an explanation without a label before it: `**Explanation:** …`, `Explanation/Reference: …`."""
    return _EXPLAINS.sub("", text, count=1) if _EXPLAINS.match(text) else text


def only_announces_question(text: str) -> bool:
    """Returns whether a text is only a word for a question or a task, so that what asks is below: `**Problem**`."""
    return len(text) <= _LONGEST_LABEL and _ONLY_ASKS.fullmatch(plain(text).lower()) is not None


def is_question_word(text: str) -> bool:
    """Returns whether a text is only a word for a question, and not one for a task."""
    return len(text) <= _LONGEST_LABEL and _QUESTION_WORD.fullmatch(plain(text).lower()) is not None


def only_announces_answer(text: str) -> bool:
    """Returns whether a text is only a word for options, an answer or an explanation: `**Answer**`, `Options`."""
    return len(text) <= _LONGEST_LABEL and _ONLY_ANSWERS.fullmatch(plain(text).lower()) is not None


def is_answer_summary(summary: str) -> bool:
    """Returns whether the summary of a fold announces the answer: `Show answer`, `Click me`."""
    if len(summary) > 200 or "?" in summary:
        return False
    words = _EDGES.sub("", plain(summary))
    named, colon, rest = words.partition(":")
    if colon and is_placeholder(rest):
        # `Answer: TODO` above an answer that is not complete.
        words = named.strip()
    return _SUMMARY_LABEL.fullmatch(words) is not None or _OPENS.fullmatch(words) is not None


@lru_cache(maxsize=4096)
def announces_keys(title: str) -> bool:
    """Returns whether a title announces the answers of several questions: `Answer Key`, `Gabarito`, `参考答案`."""
    return len(title) <= 100 and _KEY_LIST.fullmatch(_EDGES.sub("", plain(title))) is not None


def is_placeholder(answer: str) -> bool:
    """Returns whether an answer is only a place for one: `TODO`, `[To be filled]`, `_____`."""
    if len(answer) <= 300 and answer.startswith("<") and "`" not in answer and _LIST_ITEM.search(answer):
        answer = _LIST_TAGS.sub("", answer)
    return len(answer) <= 300 and _PLACEHOLDER.fullmatch(answer) is not None


_MARKS_AROUND = re.compile(r"^[\s*_(\[<]+|[\s*_)\]>!]+$")
_NOTHING = re.compile(
    r"n[/.]a\.?|-{2,4}|[–—]{1,3}|\.{2,5}|…|\?{2,5}|to ?do|tb[da]|xxx+|coming soon"
    r"|(?:your |the )?question (?:goes )?here|to be (?:filled|added|written|done|completed|determined)(?: in| later)?",
    re.IGNORECASE,
)
_NO_TEXT = re.compile(r"_{2,}|none|\(none\)|\[none\]")
"""In small letters only: `None` is a value."""


def stands_for_nothing(text: str) -> bool:
    """Returns whether a cell or field only shows that there is no text: `N/A`, `ToDo`, `--`. Takes fewer words than
    `is_placeholder`: `pending` may be what a card asks about, and `-` and `?` are operators."""
    if len(text) > _LONGEST_LABEL:
        return False
    shown = text.strip()
    return _NO_TEXT.fullmatch(shown) is not None or _NOTHING.fullmatch(_MARKS_AROUND.sub("", shown)) is not None


def stands_for_no_answer(text: str) -> bool:
    """Returns whether a cell or field only shows that there is no answer, in the words of `is_placeholder` as well. A
    single word such as `pending`, and marks such as `[]`, may be one."""
    shown = text.strip()
    if stands_for_nothing(shown):
        return True
    is_word = shown.isalpha() and shown.isascii()
    return not is_word and any(map(str.isalpha, shown)) and is_placeholder(shown)


_IN_BRACKETS = re.compile(r"[*_]{0,3}[(\[<][^()\[\]<>\n]{1,60}[)\]>][*_]{0,3}")


def begins_with_placeholder(answer: str) -> bool:
    """Returns whether the paragraph behind a label is only a place for an answer, in brackets: what follows continues
    with something else."""
    first = answer.partition("\n\n")[0].strip()
    return _IN_BRACKETS.fullmatch(first) is not None and is_placeholder(first)


_LIST_ITEM = re.compile(r"<(?:li|p|div)\b", re.IGNORECASE)
_LIST_TAGS = re.compile(r"</?(?:ul|ol|li|p|div|span|br)\b[^<>]{0,200}>", re.IGNORECASE)
