"""Reads the line that asks: its number, level and sources, and whether it reads as a question, in many languages."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import plain
from questions.source import WIDE
from questions.wording.labels import QUESTION_WORDS, TASK_WORDS
from questions.wording.lost_signs import without_lost_signs
from questions.wording.part_titles import POINTS
from questions.wording.question_marks import ends_in_question_mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.blocks import Block
    from questions.model import Level


_NUMBERED = re.compile(
    rf"(?P<mark>\*{{1,3}}|_{{1,3}})?(?:(?P<word>{QUESTION_WORDS}|{TASK_WORDS}|no\.|nº|№|第|[A-Z](?=\d))[ ]?)?#?"
    r"(?:(?P<nested>\d{1,4}(?:\.\d{1,4})+)[.):：]?[ ]+"
    r"|(?P<number>\d{1,4})(?:\\?[.):：、．）。，](?!\d)[ ]*|[ ]*[题題問问道번][:：.]?[ ]*|[ ]+[-–—][ ]+)"
    r"|(?P<bare>(?<=[Qq])\d{1,3})[ ]+(?=[^\W\d_]))"
    r"(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_SLIPS = r"(?:questions|questoin|quesiton|quesion|questin|qestion|quetion|qustion)(?=[ ]?[#№]?\d{1,4}\W*$)"
"""Slips of `Question` before nothing but a number: `Quesiton 4`, `Questions 4`."""
_ONLY_NUMBER = re.compile(
    rf"\W{{0,9}}(?:(?P<word>{QUESTION_WORDS}|{TASK_WORDS}|{_SLIPS})"
    r"[ ]?(?:[#№]|n[°ºo]\.?[ ]?)?(?P<number>[A-Z]?\d{1,4}(?:\.\d{1,3}(?!\d))*)"
    r"|第[ ]?(?P<cjk>\d{1,4})[ ]?[题題問问道])"
    r"(?:[ ]?(?:[:：.)–—·-]|(?=[(（\[【])|[ ](?=[^\w\s.]))[ ]*(?P<rest>.*)|\W*)",
    re.IGNORECASE,
)
"""A heading that is `Question 5`, with or without text after it."""
_UNNUMBERED = re.compile(
    r"(?:(?:possible|potential|likely|common|typical|sample|example|practice|review|discussion|interview|exam|quiz"
    r"|bonus|main|follow-?up|posible|possível|mögliche|возможный|частый)[ ])?"
    rf"(?:{QUESTION_WORDS})[ ]?(?:[.)）][ ]+|:[ ]+|：[ ]*)(?=\S)",
    re.IGNORECASE,
)
"""A word for a question without a number, and a word that says which kind it is: `Possible question: …`."""
_QUARTILES = re.compile(r"[*_]{0,3}Q[0-4][ ][-–−+][ ](?:Q[0-4](?!\w)|\d{1,3}(?:[.,]\d{1,3})?(?:\(|[ ]?(?:[*×·]|IQR)))")
"""A difference of quartiles, `Q3 - Q1` or `Q1 - 1.5 * IQR`: no question with number 1."""
TRUE_OR_FALSE = (
    r"(?P<yes>true|vrai|verdadero|verdadeiro|vero|wahr|richtig|waar|prawda|верно|правда)"
    r"(?:[ ](?:or|ou|o|oder|of|czy|или)[ ]|[ ]?/[ ]?)(?P<no>false|faux|falso|falsch|onwaar|fałsz|неверно|ложь)"
)
"""What comes before a statement that is true or false."""
_ASKS_FOR_TRUTH = re.compile(rf"[*_]{{0,3}}{TRUE_OR_FALSE}[ ]?[?？][*_]{{0,3}}", re.IGNORECASE)
_ASKING_END = re.compile(
    r"[?？؟](?=[\s\"'”’)\]*_`]|$)|[一-鿿ぁ-ん][?？]|？[(（]|(?:吗|嗎|ですか|ますか)[。.]?$"
    r"|[^\W\d_]{2}\?[(][^()\n]{1,80}[)]$"
)
# Matched in small letters, in a third of the time of a match that ignores case. `I` may be a Turkish `ı`.
_ASKS = re.compile(
    r"(?:what|why|how|when|where|which|who|whose|is|are|was|were|can|could|does|do|did|should|would|will|has|have"
    r"|explain|describe|discuss|compare|contrast|reflect|define|differentiate|distinguish|implement|design|derive"
    r"|prove|show|state|outline|summari[sz]e|name|list|give|write|compute|calculate|predict|tell|identify|mention"
    r"|choose|select|find|provide|sketch|estimate|justify|elaborate|illustrate|true or false|t/f|difference between"
    r"|in|under|if|given|suppose|consider|you"
    r"|vrai ou faux|verdader[oa] o fals[oa]|verdadeiro ou falso|vero o falso|(?:wahr|richtig) oder falsch"
    r"|waar of onwaar|prawda czy fałsz|верно или неверно|правда или ложь"
    r"|qué|quién(?:es)?|cuál(?:es)?|cómo|cuándo|dónde|por qué|cuánt[oa]s?|explica(?:r|me)?|describe|define"
    r"|menciona|compara|enumera|calcula"
    r"|que|qual|quais|como|quando|onde|por que|quem|quant[oa]s|explique|descreva|defina|cite|compare|calcule"
    r"|desenhe|o que"
    r"|quel(?:le)?s?|comment|pourquoi|quand|où|qui|qu'est-ce|est-ce|expliquez|décrivez|définissez|donnez|citez"
    r"|calculez"
    r"|was|wie|warum|wieso|weshalb|wann|wo|wer|wen|wem|welche[rsmn]?|wofür|womit|worin|wozu|ist|sind|kannst"
    r"|können|erkläre?n?|beschreibe?n?"
    r"|nenne?n?|definiere?n?|vergleiche?n?|berechne?n?|erzähle?|erläutere?n?|schreibe?n?|zeige?n?|bestimme?n?"
    r"|[^\W\d_]{2,30}e[rl]?n sie"
    r"|che|cosa|quali|come|perché|dove|chi|quanto|spiega(?:re)?|descrivi|definisci|calcola|elenca"
    r"|quale|(?:a|da|di|in|per|su|con) (?:che|cosa|chi|qual[ei])"
    r"|si (?:descriva|spieghi|illustri|definisca|dimostri|enunci|confronti|calcoli)(?:no)?"
    r"|(?:a|con|de|en|para|por) (?:qué|cuál(?:es)?|quién(?:es)?)|indica|señala|justifica"
    r"|(?:a|com|de|em|para) (?:que|qual|quais|quem)|indique|identifique|justifique|caracterize|comente|apresente"
    r"|(?:à|de|en|par|avec|dans|sur) (?:quoi|quel(?:le)?s?)|indiquez|justifiez|comparez|présentez"
    r"|(?:an|auf|aus|bei|in|mit|unter|von|zu) (?:welche[rmns]?|wem|was)|wodurch|woran|woraus|worauf"
    r"|wat|hoe|waarom|wanneer|waar|wie|welke?|(?:aan|bij|door|met|op|tot|uit|van|voor) welke?|leg|beschrijf|noem|geef"
    r"|bereken|verklaar|bespreek|vergelijk|stel|co|czym|jak|dlaczego|kiedy|gdzie|kto|jaki[ea]?|opisz"
    r"|wyjaśnij|podaj"
    r"|что|как(?:ой|ая|ие|ое|им|ую|их)?|почему|зачем|когда|где|кто|сколько|чем|чего|опишите|объясните|назовите"
    r"|перечислите|расскажи(?:те)?"
    r"|дайте|приведите|сравните|в ч[её]м|для чего|що|як(?:ий|а|і)?|чому|навіщо|поясніть|опишіть"
    r"|nedir|nas[ıi]l|neden|niçin|hangi|kim|aç[ıi]kla(?:y[ıi]n|y[ıi]n[ıi]z)?|tan[ıi]mla(?:y[ıi]n)?|apa|bagaimana|mengapa|kapan"
    r"|jelaskan|sebutkan)(?!\w)"
    r"|(?:什么|什麼|如何|为什么|為什麼|怎么|怎樣|请|請|简述|說明|说明|说说|说(?:一下|出|[A-Za-z])|谈谈|描述|解释|列举|哪些|是否|何"
    r"|讲(?:讲|一|述)|写出|给出|你觉得|你认为|(?:介绍|比较|对比|分析|计算|概述|阐述)(?:一下|下列|以下)"
    r"|(?:推导|证明)(?!过程|方法|[：:和与及])|求(?:出|证|解?下列|解?以下))"
    r"|(?:なぜ|どの|どう|何|次の|以下の)"
)
_ASKS_ENDING = re.compile(
    r"(?:吗|嗎|呢|什么|什麼|区别|區別|哪些|如何|か|ですか|ますか|か。|なさい|してください|せよ|까요?|나요|세요"
    r"|시오|시다|까|는가|인가|하라|(?:보|찾|쓰|놓|알)아라|어라|여라"
    r"|nedir|midir|mıdır|nasıldır|açıklayınız|anlatınız)[.。?？:：]*$",
    re.IGNORECASE,
)
"""Endings that ask in languages which need no question mark."""
_ASKS_WITHIN = re.compile(r"[，,。：]\s*(?:求|试求|试证|证明|计算|写出|说明|推导)")
"""What Chinese asks for after what is given."""
_ASKS_SHORTLY = re.compile(r"\w.*(?:是什么|是什麼|有什么|有哪些|为什么|為什麼)$")
"""A Chinese line that asks, however short."""
_ASKS_INSIDE = re.compile(r"[^，。；,;]{1,30}?(?:哪些|哪种|哪几|哪个|什么|怎么|如何|多少)[^，。；,;]{0,30}")
"""Chinese words that ask in the middle of a short line."""
_CHOOSE = re.compile(
    r"which (?:one )?of (?:the (?:following|\w+ below)|these|those)\b"
    r"|(?:check|select|choose|tick|mark|pick) (?:all|any|one|two|three|the (?:correct|right|best|true|false|wrong))\b"
    r"|cuál(?:es)? de l[ao]s|qu[ae]is? d(?:as|os|estas|estes)|l[ae]quel(?:le)?s? (?:des|de ces)|parmi les"
    r"|welche[rs]? (?:der|dieser)|quale (?:dei|delle|tra)|как(?:ой|ая|ие|ое) из|以下哪|下列|下面哪|次のうち|다음 중"
    r"|(?:elige|elija|seleccion[ae]|escolha|selecione|marque|assinale|choisi(?:s|ssez)|sélectionnez|cochez"
    r"|scegli(?:ete|ere)?|seleziona(?:te|re)?) (?:l[aeo]s?|[ao]s?|el|une?|uma?|una|tou(?:te)?s|tod[ao]s|tutt[ei])\b"
    r"|wählen sie|wähle (?:die|alle|eine)\b|kreuze(?:n sie)?\b|(?:kies|selecteer) (?:het|de|één|alle)\b"
    r"|wybierz|zaznacz|wskaż|выберите|отметьте|виберіть|оберіть|позначте|seçiniz|işaretleyiniz|aşağıdakilerden hangi"
    r"|\bhangi(?:si|leri)(?!\w)"
    r"|pilihlah|manakah di antara|chọn (?:đáp án|câu|một|tất cả|các)|nào (?:sau|dưới) đây"
    r"|选出|選出|选择(?:正确|一个|所有)"
    r"|選択しなさい|選びなさい|選択してください|選んでください|選択せよ|選べ|고르(?:시오|세요|십시오)|선택하(?:시오|세요|십시오)",
    re.IGNORECASE,
)
"""What asks to choose among the items below."""
_WIDE = re.compile(f"[{WIDE}]")
_IMPERATIVE = 4
"""Minimum number of words from which a line with an asking word is a question, not a title."""
_SHORT_LINE = 60
"""Length from which a line has more than a short question, characters."""
_LONGEST_END = 400
"""Length of the end of a line that may ask, characters."""
_ASIDE = re.compile(r"[ ]?[(（][^()（）]{1,60}[)）][.。]?$")
"""A hint in brackets behind a question."""
_LEVELS: dict[str, Level] = {
    **dict.fromkeys(
        (
            *("basic", "easy", "beginner", "junior", "entry", "novice", "jr"),
            *(
                "fácil",
                "básico",
                "principiante",
                "iniciante",
                "facile",
                "débutant",
                "einfach",
                "leicht",
                "anfänger",
                "базовый",
            ),
            *(
                "лёгкий",
                "легкий",
                "начальный",
                "джуниор",
                "kolay",
                "başlangıç",
                "初级",
                "初級",
                "简单",
                "簡單",
                "基础",
                "基礎",
                "초급",
                "쉬움",
                "易",
            ),
            *(
                "normal",
                "moderate",
                "medio",
                "médio",
                "moyen",
                "mittel",
                "средний",
                "мидл",
                "orta",
                "中级",
                "中級",
                "中等",
                "중급",
                "보통",
            ),
        ),
        "mid",
    ),
    **dict.fromkeys(
        (
            *(
                "difficult",
                "complex",
                "sr",
                "difícil",
                "avanzado",
                "avançado",
                "difficile",
                "avancé",
                "schwer",
                "schwierig",
            ),
            *(
                "fortgeschritten",
                "сложный",
                "продвинутый",
                "сеньор",
                "zor",
                "ileri",
                "高级",
                "高級",
                "困难",
                "困難",
                "难",
                "難",
                "고급",
                "어려움",
            ),
        ),
        "senior",
    ),
    "mid": "mid",
    "middle": "mid",
    "medium": "mid",
    "intermediate": "mid",
    "senior": "senior",
    "hard": "senior",
    "advanced": "senior",
    "principal": "principal",
    "staff": "principal",
    "expert": "principal",
    "lead": "principal",
    "architect": "principal",
    "专家": "principal",
    "эксперт": "principal",
}
_LEVEL_SIGNS: dict[str, Level] = {
    **dict.fromkeys(("★", "★☆", "★☆☆", "★★☆", "⭐", "⭐⭐", "🟢", "🟡", "🟠", "👶"), "mid"),
    **dict.fromkeys(("★★", "★★★", "⭐⭐⭐", "🔴"), "senior"),
    "🚀": "principal",
}
"""Signs at the end of a question that stand for its level."""
_LEVEL_SIGN = re.compile(r"[ ]*[(（\[]?(?P<sign>★{1,3}☆{0,2}|⭐{1,3}|[🟢🟡🟠🔴👶🚀])[)）\]]?$")
_LONGEST_SIGN = 10
"""Characters of a sign with brackets and a few spaces. Searching a whole line takes time quadratic in its spaces."""
_LEVEL_WORD = re.compile(r"[ ]+[(（\[](?P<word>[^\W\d_]{2,14})(?:[ -]level)?[)）\]]$")
_LEVEL = re.compile(
    r"(?:level|difficulty|nivel|nível|niveau|уровень|难度|レベル"
    r"|난이도)?[ ]?[:：]?[ ]*(?P<word>[^\W\d_]+)(?:[ -](?:level|tier|engineer|developer"
    r"|role))*(?:[ ](?:interview )?questions)?:?[ ]?(?:[(（]?\d+[ ]?[-–]?[ ]?\d*\+?[ ]?(?:questions|years"
    r"|题)?[)）]?)?",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"[ ]*(?:\[\[[^\[\]]{0,80}\]\((?P<a>[^()\s]{1,500})\)\]|\(\[[^\[\]]{0,80}\]\((?P<b>[^()\s]{1,500})\)\)"
    r"|\[(?:\\\[)?(?:src|source|ref|reference|link|more|answer|solution|top|back to top|[^\w\s\[\]]{1,3})(?:\\\])?\]"
    r"\((?P<c>[^()\s]{1,500})\))[ ]*",
    re.IGNORECASE,
)
_SOURCE_LENGTH = 600
_LEADING_LINK = re.compile(r"(?<!\[)\[+[^\w\[\]]{1,5}\]+\(#[^()\s]{0,100}\)[ ]*")
"""An arrow back to the contents before a heading."""
_IN_WORDS = "[一二三四五六七八九十]{1,3}"
_LABELED = re.compile(
    rf"[*_\W]{{0,6}}(?:(?:{QUESTION_WORDS}|第)[ ]?#?(?:(?:\d{{1,4}}|{_IN_WORDS})[ ]?[题題問问.:：)）](?![集库庫])"
    rf"|{_IN_WORDS}(?!\w))|(?:{QUESTION_WORDS})[ ]?[.:：)）])",
    re.IGNORECASE,
)
"""A word for a question with a number or a sign: `Question:`, `第3题`; `問題描述` describes a problem."""
_WHOLE_LINK = re.compile(r"\[(?P<text>[^\[\]]{1,400})\]\((?P<address>[^()\s]{1,500})\)")
_ANCHOR = re.compile(r"<a\b[^<>]{0,200}>(?:[ ]*</a>)?|</a>", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?P<mark>\*{1,3}|_{1,3})(?P<text>[^*_\s](?:[^*_]{0,400}[^*_\s])?)(?P=mark)[ ]*")
BOLD_LINE = re.compile(
    r"[ ]{0,3}(?P<mark>\*{2,3}|__)(?P<bold>(?:(?!(?P=mark)).){1,600})(?P=mark)(?P<rest>.*)", re.DOTALL
)
"""A paragraph that starts in bold."""
_PROMOTION = re.compile(
    r"\b(?:questions?|quiz(?:zes)?|q\s?&\s?a|q&as?|faqs?|interviews?|exam|exercises?|trivia|flash ?cards?|preguntas"
    r"|perguntas|quest(?:ões|ions)|entrevista|entretien|domande|colloquio|(?:lern|prüfungs|kontroll|test|verständnis|quiz)?fragen"
    r"|fragenkatalog"
    r"|bewerbungsgespräch|prüfung|vragen"
    r"|pytania|pytań|zagadnienia|rozmowa|вопрос(?:ы|ов)|собеседовани[ея]|тест|питання|співбесід[аи]|sorular[ıi]?|mülakat|pertanyaan|soal"
    r"|cuestionario|examen|qcm|exams|klausur|egzamin|esame|tentamen|экзамен\w{0,3}|зач[её]т\w{0,2}|екзамен|ujian|s[ıi]nav[ıi]?"
    r"|prova|simulado|mcqs?|test)\b|câu hỏi|đề thi|面试|面試|考试|考試|시험|試験|試題|试题|习题|题库|題庫|問題|问题|题"
    r"|質問|질문|면접|문제|물음|퀴즈"
)
_OFFER = re.compile(
    r"(?:want|ready|looking|interested|need (?:more|help)|still|did you (?:like|enjoy|find)|do you (?:like|want|need)"
    r"|enjoy(?:ed)?|like (?:this|what|it)|love|liked|found (?:this|a|an)|any (?:questions|feedback|suggest)"
    r"|have (?:any |a |more |you )?(?:questions?|feedback|suggest)|got (?:a|any)|curious|missing (?:a|any|some)"
    r"|who (?:is|are|am) (?:this|we|i)|why (?:this|we|use this)|would you like"
    r"|how (?:to|can i|do i) (?:use this|contribute|help|support)"
    r"|what(?:'s| is) (?:next|inside|in this|this (?:repo|list|doc)))\b",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[[^\[\]]{0,200}\]\([^()\s]{0,500}\)|https?://\S{1,500}")
_FEW = 4
"""Maximum number of words beside links without which they are not an answer."""
_WHOLE_BOLD = re.compile(r"(\*\*|__)(?P<text>(?:(?!\1).)+)\1[ ]*", re.DOTALL)

_EARNED = r"\d{1,3}(?:[.,]\d{1,2})?[ ]?/[ ]?"
_POINTS_AT_END = re.compile(
    rf"[(\[（【](?:{_EARNED})?{POINTS}\.?[)\]）】]$|(?<=[.?!:？。])[ ]+(?:{_EARNED}{POINTS}|[01][ ]?/[ ]?1)$",
    re.IGNORECASE,
)
"""Points in brackets behind a question, or those that somebody got for it: `1/1`, `2 / 3 points`."""
_POINTS_FIRST = re.compile(
    rf"`?[(\[（【](?:{_EARNED})?{POINTS}\.?[)\]）】]`?(?:[ ]*[:：.–—-]+[ ]+|[ ]+)(?=[^\W\d_])", re.IGNORECASE
)
"""Points in brackets between the number of a question and what it asks."""
_LONGEST_POINTS = 40
"""Length of the end of a line in which points are searched, characters."""


def numbered(heading: str) -> tuple[str, str]:
    """Returns the number at the start of a heading, or an empty string, and the rest: `12. What …`, `Q3) …`, `**4.
    …**`."""
    found = _NUMBERED.fullmatch(heading.strip())
    if found is None or _QUARTILES.match(heading.strip()):
        return "", heading.strip()
    rest = found["rest"].strip()
    mark = found["mark"]
    if mark and rest.startswith(mark):
        rest = rest.removeprefix(mark).strip()
    elif mark:
        rest = rest.removesuffix(mark) if rest.endswith(mark) else mark + rest
    return found["nested"] or found["number"] or found["bare"], rest


class QuestionLine(NamedTuple):
    """The question in a heading, line or item, without markup."""

    number: str
    text: str
    links: tuple[str, ...] = ()
    level: Level | None = None
    labeled: bool = False
    """Whether a word such as `Question` comes before it."""


@lru_cache(maxsize=4096)
def question_line(line: str) -> QuestionLine:
    """Returns number, text and sources of a line that may ask: `#### 4) **Why?** [[src](…)]` without markup."""
    text = without_break(_DASH_FIRST.sub("", line.strip(), count=1))
    links: list[str] = []
    while text.endswith((")", "]")) and (found := _source_at_end(text)):
        links.insert(0, found["a"] or found["b"] or found["c"])
        text = text[: found.start()].rstrip()
    if "<" in text:
        text = _ANCHOR.sub("", text).strip()
    text = _LEADING_LINK.sub("", text, count=1)
    if found := _WHOLE_LINK.fullmatch(text):
        text = found["text"]
        links.append(found["address"])
    if found := _POINTS_AT_END.search(text[-_LONGEST_POINTS:]):
        text = text[: len(text) - len(found[0])].rstrip()
    level, text = _level_at_end(text)
    labeled = _LABELED.match(text) is not None
    if _QUARTILES.match(text):
        return QuestionLine("", _bare(text))
    if found := _ONLY_NUMBER.fullmatch(_bare(text)):
        after = _POINTS_FIRST.sub("", found["rest"] or "", count=1)
        rest = _bare(_without_word(_bare(after)))
        return QuestionLine(found["number"] or found["cjk"], rest, tuple(links), level, labeled=True)
    number, text = numbered(text)
    if number and (found := _ONLY_NUMBER.fullmatch(_bare(text))) and not found["rest"]:
        return QuestionLine(number, "", tuple(links), level, labeled=True)
    text = _bare(_without_word(_bare(text)))
    if found := _WHOLE_LINK.fullmatch(text):
        text = found["text"]
        links.append(found["address"])
    if not number:
        number, text = numbered(text)
    if text.startswith(("(", "[", "（", "【", "`")):
        text = _POINTS_FIRST.sub("", text, count=1)
    if level is None:
        level, text = _level_at_start(text)
    return QuestionLine(number, text, tuple(link for link in links if not link.startswith("#")), level, labeled)


def _without_word(text: str) -> str:
    """Returns a question without a word such as `Question:` before it."""
    found = _UNNUMBERED.match(text)
    return text[found.end() :] if found else text


def without_break(text: str) -> str:
    """Returns a line without the `<br>` at its end, which only separates it from the next one."""
    return _BREAK_AT_END.sub("", text) if text.endswith(">") else text


_BREAK_AT_END = re.compile(r"(?:[ ]{0,3}<br[ ]?/?>){1,5}$", re.IGNORECASE)
_DASH_FIRST = re.compile(r"[-–—•][ ]{1,3}(?=\d{1,3}[.)][ ])")
"""A dash before the number of a heading."""


def _level_at_end(text: str) -> tuple[Level | None, str]:
    """Returns the level that a sign or a word in brackets at the end of a line stands for, and the line without it."""
    bare = text.rstrip("\ufe0f ")
    plain_signs = "" if bare.isascii() else bare.replace("\ufe0f", "")
    if found := _LEVEL_SIGN.search(plain_signs, max(len(plain_signs) - _LONGEST_SIGN, 0)):
        level = _LEVEL_SIGNS.get(found["sign"])
        if level:
            return level, plain_signs[: found.start()].rstrip()
    if bare.endswith((")", "）", "]")) and (found := _LEVEL_WORD.search(bare[-_LONGEST_POINTS:])):
        level = _LEVELS.get(found["word"].lower())
        if level:
            return level, bare[: len(bare) - len(found[0])].rstrip()
    return None, text


_LEVEL_FIRST = re.compile(r"(?:\[(?P<letter>[EMH])\]|[(（\[](?P<word>[^\W\d_]{2,14})(?:[ -]level)?[)）\]])[ ]+(?=\S)")
_LEVEL_LETTERS: dict[str, Level] = {"E": "mid", "M": "mid", "H": "senior"}
"""Easy, medium and hard."""


def _level_at_start(text: str) -> tuple[Level | None, str]:
    """Returns the level that a sign, or a word or letter in brackets, before a question stands for, and the question
    without it: `[Easy] What …`, `[M] What …`, `🟢 What …`."""
    if not text.isascii() and (level := _LEVEL_SIGNS.get(text.replace("\ufe0f", "")[:1])):
        return level, text[1:].lstrip("\ufe0f ")
    found = _LEVEL_FIRST.match(text)
    level = (_LEVEL_LETTERS.get(found["letter"] or "") or _LEVELS.get((found["word"] or "").lower())) if found else None
    return (level, text[found.end() :]) if found and level else (None, text)


def _source_at_end(text: str) -> re.Match[str] | None:
    """Returns the link in brackets, or named `source`, at the end of a line."""
    start = max(len(text) - _SOURCE_LENGTH, 1)
    found = _SOURCE.search(text, start)
    while found and found.end() != len(text):
        found = _SOURCE.search(text, found.end())
    return found


def _bare(text: str) -> str:
    """Returns the text without emphasis around all of it, and without its end where it begins before the text."""
    if text.endswith("**") and text.count("**") == 1:
        return text.removesuffix("**").strip()
    found = _EMPHASIS.fullmatch(text)
    return found["text"].strip() if found else unbold(text)


_MASKED = re.compile(r"(?<![^\W_])[^\W\d_]\?{3,}|(?<!\S)\?{3,}(?=[ ,;]*\w)")
"""Question marks instead of the letters of a word, `W?????`, or instead of a word."""


_LEFT_OPEN = re.compile(r"(?:=|\b(?:adalah|is|are|equals|ist|son|es|est|é|jest|это|равн[оа]))[ ]*(?:\.{3,}|…)$")


def reads_as_question(markdown: str) -> bool:
    """Returns whether a line asks: it contains a question mark, begins with an asking word or stops at a gap."""
    text = _MASKED.sub("…", plain(markdown)) if "???" in markdown else plain(markdown)
    text = without_lost_signs(text)
    if ("?" in text or not text.isascii()) and _ASKING_END.search(text):
        return True
    if text.endswith(("...", "…")) and _LEFT_OPEN.search(text[-_LONGEST_END:]):
        return True
    if text.endswith((";", "；")):
        # A part of a sentence, which continues in the next item.
        return False
    words = len(text.split()) if text.isascii() else len(text.split()) + len(_WIDE.findall(text)) // 2
    if words < _IMPERATIVE:
        return len(text) < _SHORT_LINE and _ASKS_SHORTLY.match(text) is not None
    low = text.lower()
    if _DEMANDS.match(low):
        return True
    if _ASKS.match(low.lstrip("\"'“‘(¿¡ ")):
        return _FRAGMENT.match(text) is None
    if text.isascii():
        return False
    text = _ASIDE.sub("", text[-_LONGEST_END:]) if text.endswith((")", "）", ").", ")。", "）。")) else text
    return bool(_ASKS_ENDING.search(text) or _ASKS_WITHIN.search(text) or _ASKS_INSIDE.fullmatch(text))


_FRAGMENT = re.compile(
    r"(?:in|under|you)[ ](?!(?:which|what|whose)\b)"
    r"|(?:can|could|will|would|should)[ ](?:(?:also|often|easily|only|not)[ ])?(?:be|train|use|lead|help|cause|make"
    r"|take|have|handle|result|learn|run|work|reduce|increase|improve|lose|give|get|store|change|grow|fail|miss)\b"
)
"""The beginning of a part of a sentence in small letters, such as an item `can train on more examples`."""
_DEMANDS = re.compile(
    r"(?:please[ ])?(?:explain|describe|discuss|demonstrate|outline|differentiate|distinguish|compare and contrast"
    r"|explica|describe|explique|descreva|expliquez|décrivez|erklär(?:e|en)|beschreib(?:e|en)|erläuter[en]|nenn(?:e|en)"
    r"|spiega|spiegare|descrivi|descrivere|illustra|si (?:descriva|spieghi|illustri)(?:no)?"
    r"|beschrijf|bespreek|wyjaśnij|opisz|omów|wymień|proszę"
    r"|vysvětlete|popište|objasněte|vyjmenujte|объясните|опишите|назовите|перечислите|расскажите|поясните|опишіть"
    r"|jelaskan|sebutkan|uraikan|förklara|beskriv|forklar)(?!\w)"
)
# Words that begin an item of any list, and are a question only among headings that demand an explanation.
_DEMANDS_PROOF = re.compile(r"^provide[ ]|,[ ](?:explain|describe|demonstrate|show|discuss)[ ]", re.IGNORECASE)
_FEWEST_DEMANDED = 3


def asks_for_truth(text: str) -> bool:
    """Returns whether a text is only `True or false?`, so that the statement comes behind it."""
    return _ASKS_FOR_TRUTH.fullmatch(text.strip()) is not None


def asks_to_choose(text: str) -> bool:
    """Returns whether a text asks to choose among what is below it, as `Which of these …` does."""
    return _CHOOSE.search(text) is not None


def demands(text: str, *, fewest: int = _FEWEST_DEMANDED) -> bool:
    """Returns whether a line of a few words asks for an explanation: it begins with a word such as `Explain`."""
    words = plain(text)
    return len(words.split()) >= fewest and bool(_DEMANDS.match(words.lower()) or _DEMANDS_PROOF.search(words))


def heading_asks(headings: tuple[Block, ...]) -> bool:
    """Returns whether the innermost heading asks, so that the text below it is its answer."""
    if not headings:
        return False
    stem = question_line(headings[-1].text)
    return ends_asking(stem.text) or (bool(stem.number) and reads_as_question(stem.text))


def asks_for_questions(titles: tuple[str, ...]) -> bool:
    """Returns whether a title announces questions below it: a program for quizzes has steps and parts below it."""
    return any(map(_announces, titles))


def _announces(title: str) -> bool:
    low = title.lower()
    return _PROMOTION.search(low) is not None and _PROMOTION.search(_PROGRAM_NAME.sub("", low)) is not None


_PROGRAM_NAME = re.compile(
    r"\b(?:quiz(?:zes)?|trivia|flash ?cards?|exams?|mcqs?)[ -]?(?:\w+[ -])?(?:bot|app|apps|application|game|website"
    r"|platform|generator|maker|builder|engine)\b"
)
"""The name of a program that asks questions."""

_TASK = re.compile(rf"[*_\W]{{0,6}}(?:{TASK_WORDS})[ ]?[#№]?[ ]?(?:[A-Z][.-]?)?\d", re.IGNORECASE)


def is_task(line: str) -> bool:
    """Returns whether a line begins with a word for a task and its number: `Exercise 1: Lists`."""
    return _TASK.match(line) is not None


def is_advertisement(heading: Block, body: Sequence[Block]) -> bool:
    """Returns whether a heading that appears to ask only advertises: links below it, or an offer of more."""
    words = plain(heading.text)
    if _OFFER.match(words.lstrip("\"'“‘*#!¡¿ ")):
        return True
    texts = [inner.text for block in body for inner in block.walk() if inner.kind == "paragraph"]
    linked = [text for text in texts if "](" in text or "://" in text]
    beside = [_LINK.sub("", text) for text in texts] if linked else []
    return bool(linked) and all(len(text.split()) + len(_WIDE.findall(text)) // 2 <= _FEW for text in beside)


def is_offer(text: str) -> bool:
    """Returns whether a text only offers more: links, a star, a newsletter."""
    return _OFFER.match(plain(text).lstrip("\"'“‘*#!¡¿ ")) is not None


def is_bold_question(paragraph: str) -> bool:
    """Returns whether a paragraph starts with a bold line that asks or has a number."""
    found = BOLD_LINE.match(paragraph)
    if found is None:
        return False
    stem = question_line(found["bold"])
    rest = found["rest"].partition("\n")[0].strip(" .:")
    return bool(stem.number) or (not rest and reads_as_question(stem.text))


def ends_asking(markdown: str) -> bool:
    """Returns whether a line ends in a question mark, ignoring closing marks."""
    markdown = _MASKED.sub("…", markdown) if "???" in markdown else markdown
    shown = without_lost_signs(markdown).rstrip(" *_\"'”’)]`")
    return ends_in_question_mark(shown)


def unbold(markdown: str) -> str:
    """Returns the text without bold marks around all of it."""
    found = _WHOLE_BOLD.fullmatch(markdown.strip())
    return found["text"].strip() if found else markdown.strip()


def level_of(text: str) -> Level | None:
    """Returns the level in a heading or key, such as `Senior Level`, or None."""
    shown = plain(text).strip(" *:：")
    if (found := _LEVEL.fullmatch(shown)) and (level := _LEVELS.get(found["word"].lower())):
        return level
    return None if shown.isascii() else _LEVEL_SIGNS.get(shown.replace("\ufe0f", "")) or _first_level(shown)


def _first_level(text: str) -> Level | None:
    """Returns the level of a heading such as `🟢 Beginner` or `初级题`."""
    return next((level for word, level in _LEVELS.items() if not word.isascii() and text.startswith(word)), None) or (
        _LEVELS.get(bare.lower()) if (bare := re.sub(r"[^\w ]+", "", text).strip()) else None
    )


def level_under(headings: tuple[str, ...]) -> Level | None:
    """Returns the level in the innermost heading that names one."""
    return next((level for heading in reversed(headings) if (level := level_of(heading))), None)
