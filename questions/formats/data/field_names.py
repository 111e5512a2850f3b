"""Names that people give the fields of questions in data (JSON, YAML, TOML, XML) and the columns of tables.

Names are compared without case, accents and separators: `Opción 1`, `opcion_1` and `opcion1` are one name.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WORDS: Final[dict[str, str]] = {
    "question": (
        "question|questions|question text|questiontext|prompt|stem|q|front|query|statement|text|title"
        "|titre|título|titolo|titel|nội dung|nội dung câu hỏi"
        "|pregunta|preguntas|enunciado|pergunta|frage|fragestellung|intitulé|énoncé|domanda|vraag|fråga|spørgsmål"
        "|pytanie|treść|otázka|întrebare|kérdés|вопрос|питання|ερώτηση|soru|pertanyaan|soal|câu hỏi"
        "|main question|original question|question content|question body"
        "|soalan|kysymys|spørsmål|pitanje|pitanja|vprašanje|въпрос"
        "|klausimas|jautājums|küsimus|سوال|پرسش|ਸਵਾਲ"
        "|प्रश्न|سؤال|السؤال|שאלה|คำถาม|题目|题干|题目内容|問題內容|題目|題目內容|題幹|题目文本|问题|質問|問題|문제|질문"
    ),
    "options": (
        "options|option|opts|op|choices|choice|answers|alternatives|responses|possible answers|answer options|variants"
        "|reponse|opciones|respuestas|alternativas|opções|réponses|propositions|antworten|antwortmöglichkeiten|optionen"
        "|risposte|opzioni|antwoorden|odpowiedzi|możnosti|варианты|варианты ответа|варианты ответов|варіанти|şıklar"
        "|seçenekler|pilihan|lựa chọn|phương án|phương án trả lời|विकल्प|الخيارات|选项|選択肢|보기|선택지"
        "|vaihtoehdot|svarsalternativ|alternativer|svarmuligheder|odgovori|отговори|گزینه ها|گزینه‌ها|variante"
        "|valaszok|lehetőségek|選項|επιλογές|ตัวเลือก|אפשרויות|תשובות"
        "|opties|antwoordopties|keuzes|warianty|opsi|pilihan jawaban"
    ),
    "wrong": "incorrect answers|incorrect|wrong answers|wrong options|distractors|wrong|false|erradas|errada|falsch",
    "correct": (
        "best answer|correct|correct answer|correct answers|correct option|correct options|correct choice|right answer"
        "|correct alternative"
        "|right|ok|cop"
        "|right option|true answer|true answers|key|answer key|bonne réponse|réponse correcte|richtig|richtige antwort"
        "|respuesta correcta"
        "|correcta|correcto|opción correcta|resposta correta|correta|gabarito|risposta corretta|corretta"
        "|risposta giusta|giusta|opção correta|alternativa correta|resposta certa|option correcte|opzione corretta"
        "|правильный вариант|номер правильного ответа|номер правильного варианта|número de la respuesta correcta"
        "|numero de respuesta correcta|nummer der richtigen antwort|numéro de la bonne réponse|nr poprawnej odpowiedzi"
        "|juiste antwoord|poprawna|poprawna odpowiedź|prawidłowa odpowiedź|správná odpověď|правильный ответ"
        "|правильна відповідь|doğru cevap|jawaban benar|kunci jawaban|đáp án đúng|सही उत्तर|正确答案|正確答案|正解|정답"
        "|juist|esatta|esatto|kunci|betul|oikea|rätt|riktig|rigtigt|dobra|správně|správná|točno|верен|corectă|corect"
        "|helyes|σωστή|doğru|صحيح|الصحيحة|correcte|exacte|bonne|certa|certo|правильный|верный|правильна|вірна"
    ),
    "answer": (
        "answer|ans|solution|back|answer text|response|respuesta|solución|resposta|réponse|antwort|lösung|risposta"
        "|antwoord|svar|odpowiedź|odpověď|ответ|відповідь|cevap|jawaban|đáp án|उत्तर|答案|回答|答え|답|답변"
        "|jawapan|vastaus|odgovor|отговор|raspuns|răspuns|válasz|απάντηση|جواب|پاسخ|الإجابة|الجواب|תשובה|คำตอบ"
        "|original answer"
        "|expected answer|model answer|sample answer|ideal answer|suggested answer|example answer|reference answer"
        "|expected answer points|answer points|model solution|sample solution"
    ),
    "index": (
        "correct index|answer index|correct answer index|correct option index|solution index|right index"
        "|correct answer idx|answer idx|correct idx|correct answer indices"
    ),
    "why": (
        "explanation|detailed explanation|answer explanation|explanation to the answer|explanation of the answer"
        "|sol|rationale|why|reason|feedback|general feedback|explain|comment|extra|back extra|justification"
        "|infos|info|explicación|justificación|explicação|justificativa|explication|erklärung|begründung|spiegazione|uitleg"
        "|wyjaśnienie|объяснение|пояснение|комментарий|пояснення|açıklama|penjelasan|giải thích|解析|解説|해설"
        "|解釋|解說"
    ),
    "context": (
        "context|passage|reading passage|passage text|article|story|stimulus|scenario|contexto|pasaje|passagem|contexte"
        "|passage de texte|kontext|contesto|brano|контекст|отрывок|bağlam|konteks|bacaan|ngữ cảnh|đoạn văn|语境|文章"
        "|阅读材料|本文|지문"
    ),
    "level": (
        "level|difficulty|difficult|nivel|dificultad|nível|dificuldade|niveau|difficulté|schwierigkeit|livello"
        "|poziom|уровень|сложность|рівень|zorluk|难度|難度|難易度|난이도"
    ),
    "topic": (
        "topic|category|subject|deck|thème|categoría|tema|categoria|kategorie|thema|catégorie|kategoria|kategori"
        "|категория|тема|категорія|分类|分類|カテゴリ|카테고리"
        "|section name|section title|chapter name|chapter title|unit name|topic name|category name|subject name"
    ),
    "tags": "tags|tag|keywords|labels|etiquetas|schlagwörter|mots clés|теги",
    "id": "id|identifier|uuid",
}


def spelled(name: object) -> str:
    """Returns a name as words in lower case, without accents: `correctAnswer` as `correct answer`."""
    split = _CAMEL.sub(" ", str(name))
    bare = "".join(one for one in unicodedata.normalize("NFKD", split) if not _is_accent(one))
    return unicodedata.normalize("NFKC", re.sub(r"[\s_-]+", " ", bare)).strip().casefold()


_CAMEL = re.compile(r"(?<=[a-zà-ÿ])(?=[A-Z])")


def _is_accent(character: str) -> bool:
    return "\u0300" <= character <= "\u036f"


def _spellings(word: str) -> Iterator[str]:
    """Yields the ways to spell a word: German umlauts also as `oe`."""
    yield spelled(word)
    written_out = word.translate({0xE4: "ae", 0xF6: "oe", 0xFC: "ue", 0xDF: "ss"})
    yield spelled(written_out)


FIELD_NAMES: Final[dict[str, tuple[str, ...]]] = {
    role: tuple(dict.fromkeys(name for word in words.split("|") for name in _spellings(word)))
    for role, words in _WORDS.items()
}
"""Names of fields by role, spelled as `spelled` does, in the languages that documents come in."""
_RIGHT_WORDS = (
    "correct|right|correcta|correcto|acertada|correta|certa|correcte|bonne|exacte|juste|corretta|esatta|giusta"
    "|richtige|korrekte|juiste|goede|rätt|riktigt|riktig|rigtigt|oikea|poprawna|prawidłowa|dobra|správná|točan"
    "|верен|правильный|верный|правильна|вірна|corect|corectă|helyes|σωστή|doğru|benar|betul|đúng|सही|الصحيحة|صحیح"
)
"""Words that make a name for the right answer of one for an answer or an option."""
_ONE_OF = (
    "answer|choice|option|respuesta|opción|alternativa|resposta|opção|réponse|option|risposta|opzione|antwort|option"
    "|antwoord|optie|svar|alternativ|vastaus|vaihtoehto|odpowiedź|odpověď|odgovor|отговор|ответ|вариант|відповідь"
    "|răspuns|válasz|απάντηση|cevap|yanıt|şık|seçenek|jawaban|jawapan|pilihan|đáp án|उत्तर|विकल्प|الإجابة|پاسخ|گزینه"
)
ROLE_OF = {
    **{
        f"{one} {two}": "correct"
        for right in _RIGHT_WORDS.split("|")
        for noun in _ONE_OF.split("|")
        for one, two in ((spelled(right), spelled(noun)), (spelled(noun), spelled(right)))
    },
    **{word: role for role, words in FIELD_NAMES.items() for word in words},
}
"""The role of a field by its name."""
FLAGS = frozenset(
    (
        "correct",
        "is correct",
        "iscorrect",
        "right",
        "is right",
        "is answer",
        "isanswer",
        "valid",
        "correcta",
        "richtig",
        "true",
        "answer",
        "weight",
        "fraction",
        "points",
        "score",
    )
)
"""Names of fields of an option that say whether it is right."""
TRUE_WORDS = re.compile(
    r"true|yes|y|correct|right|richtig|wahr|korrekt|ja|vrai|juste|correcte|oui|verdadero|correcta"
    r"|correcto|sí|si|verdadeiro|certo|certa|sim|vero|giusto|corretto|giusta|corretta|juist|goed|prawda"
    r"|poprawna|tak|верно|правильно|да|так|вірно|doğru|evet|benar|betul|đúng|正确|对|正しい|정답|✓|✔|✅|x"
)
"""Words beside an option that say that it is right."""
FALSE_WORDS = re.compile(
    r"false|no|n|incorrect|wrong|falsch|faux|incorrecte|non|nein|falso|falsa|incorrecta|incorrecto"
    r"|errado|errada|incorreta|não|sbagliato|sbagliata|onjuist|fout|nee|fałsz|nie|неверно|неправильно"
    r"|нет|ні|невірно|yanlış|hayır|salah|sai|错误|错|間違い|오답|✗|✘|❌"
)
"""Words beside an option that say that it is wrong."""
WRONG_FLAGS = frozenset(("wrong", "incorrect", "false", "distractor"))
"""Names of fields of an option that say that it is wrong."""
OPTION_TEXT = (
    "text",
    "code",
    "answer",
    "option",
    "option text",
    "option value",
    "value",
    "label",
    "content",
    "answer text",
    "title",
    "body",
    "respuesta",
    "name",
    "choice",
    "statement",
    "teks",
    "val",
    "description",
)
"""Names of fields of an option with its text, the likeliest first."""
GENERIC = ("text", "title", "front", "statement", "query", "q", "stem", "prompt")
"""Names of fields that hold a question only where the rest of a record looks like one."""
ASKING = frozenset(FIELD_NAMES["question"]) - frozenset(GENERIC)
"""Names of fields that hold a question in any record."""


# Fields and columns in a row: one for each option

_OPTION = re.compile(
    r"(?P<word>option|choice|answer|reason|feedback|reponse|proposition|opcion|opcao|alternativa|antwort"
    r"|respuesta|resposta|вариант|вариант ответа|ответ|secenek|选项|選項|選択肢|보기)[ ]?(?P<index>[a-z]|\d{1,2})"
)
WRONG_OPTION = re.compile(
    r"(?:incorrect|wrong|false|bad)(?: (?:answer|option|choice))?|distractor"
    r"|(?:(?:opcion|respuesta|alternativa) )?incorrecta"
    r"|(?:(?:opcao|resposta|alternativa) )?(?:errada|incorreta)"
    r"|(?:mauvaise|fausse) reponse|reponse (?:fausse|incorrecte)|falsche antwort|falsch|risposta (?:errata|sbagliata)"
    r"|fout antwoord|bledna odpowiedz|(?:неверныи|неправильныи) ответ|неверныи вариант|yanlis cevap|yanlis"
    r"|jawaban salah|错误答案|错误选项|오답"
)
"""Name, without its number, of a column with a wrong option."""
_INDEXED = re.compile(
    r"(?:(?P<stem>.*\S)[ ])?(?P<letter>[a-z])|(?P<word>.*?)[ ]?(?P<number>\d{1,2})|(?P<whole>[a-z]{2,})(?P<last>[a-h])"
)
_FEWEST_INDEXED = 3
_NO_OPTION = re.compile(
    r"hint|tip|pista|hinweis|image|picture|imagen|bild|link|url|source|quelle|score|points|key ?word|step|part|note"
    r"|test"
)


def option_name(name: str) -> tuple[str, int] | None:
    """Returns `option` or `reason` and the place of the option, for a name such as `option b` or `feedback 2`."""
    found = _OPTION.fullmatch(name)
    if found is None or name in ROLE_OF:
        return None
    index = found["index"]
    place = int(index) - 1 if index.isdecimal() else ord(index) - ord("a")
    return "reason" if found["word"] in ("reason", "feedback") else "option", max(place, 0)


_FLAG = re.compile(
    r"(?:.*\S[ ])?(?P<before>[a-z]|\d{1,2})[ ](?:is[ ])?(?:correct|right|true|richtig|correcta|correta|corretta|juste)"
    r"|(?:is[ ])?(?:correct|right|true|richtig|correcta|correta|corretta|juste)(?:[ ](?:answer|option|choice))?"
    r"[ ]?(?P<behind>[a-z]|\d{1,2})"
)


def flag_place(name: str) -> int | None:
    """Returns the place of the option that a column says something of, whether it is right: `correct 2`, `answer b is
    correct`; None for other names."""
    found = _FLAG.fullmatch(name)
    if found is None:
        return None
    index = found["before"] or found["behind"]
    return int(index) - 1 if index.isdecimal() else ord(index) - ord("a")


def names_wrong(name: str) -> bool:
    """Returns whether a column is named for wrong options, with or without a number."""
    return WRONG_OPTION.fullmatch(name.rstrip(" 0123456789")) is not None


def option_places(names: Sequence[str]) -> dict[int, int]:
    """Returns the places of options by the index of a name, where names in any language differ by a letter or a number
    only: `lua chon a`, `lua chon b`, `lua chon c`, or `opa`, `opb`, `opc`. The longest such row of names counts."""
    rows: dict[str, dict[int, int]] = {}
    for at, name in enumerate(names):
        found = _INDEXED.fullmatch(name)
        if found is None:
            continue
        letter = found["letter"] or found["last"]
        stem = found["stem"] or found["word"] or found["whole"] or ""
        role = ROLE_OF.get(stem, "")
        if _NO_OPTION.search(stem) or role in ("question", "why", "level", "topic", "tags", "id", "index"):
            continue
        place = ord(letter) - ord("a") if letter else int(found["number"])
        rows.setdefault(f"{stem}\n{bool(letter)}", {})[at] = place
    best = max(rows.values(), key=len, default={})
    wrong = {at for at in best if names_wrong(names[at])}
    if best and len(wrong) not in (0, len(best)):
        return {}
    first = min(best.values(), default=0)
    regular = sorted(best.values()) == list(range(first, first + len(best))) and first <= 1
    return {at: place - first for at, place in best.items()} if regular and len(best) >= _FEWEST_INDEXED else {}


_INDEX_WORD = re.compile(r"ind(?:ex|eks|ic|iz)\w{0,4}|idx|inx")


def names_index(name: str) -> bool:
    """Returns whether a name is one for the right answer with a word for an index: `dogru cevap indeksi`."""
    subject, _, last = name.rpartition(" ")
    return ROLE_OF.get(subject) in ("correct", "answer") and _INDEX_WORD.fullmatch(last) is not None


_MOST_NAMES = 3
"""Most words of a name that begins with a word for questions."""
_ABOUT = re.compile(r"id|nr|no|number|num|count|type|kind|level|category|topic|score|points|image|index|code|date")
"""What a name such as `question type` says about a question."""


def names_questions(name: str) -> bool:
    """Returns whether a name begins with a word for questions, and says what they are about: `Domanda specifica`."""
    first, *rest = name.split(" ")
    return first in ASKING and 0 < len(rest) < _MOST_NAMES and not any(map(_ABOUT.fullmatch, rest))
