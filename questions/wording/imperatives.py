"""Words that set a task at the start or the end of a line, in the languages documents come in.

They also begin steps of an answer (`Write the loop, then …`), so they show that a list asks only where nothing else in
it could be meant: in exercise sheets.
"""

from __future__ import annotations

import re

from questions.wording.stems import demands, ends_asking, reads_as_question

_WORDS = (
    # English
    "write|implement|find|determine|solve|draw|sketch|construct|create|build|design|modify|complete|fill in|correct"
    "|translate|convert|simplify|evaluate|verify|plot|program|develop|state|list|name|give|define|compute|calculate"
    "|prove|show|derive|explain|describe|discuss|compare|choose|select|classify|analy[sz]e|consider|suppose|assume"
    "|contrast|highlight|walk me through|tell (?:me|us)"
    # German
    "|schreib(?:e|en)|implementier(?:e|en)|programmier(?:e|en)|bestimme[n]?|berechne[n]?|zeige[n]?|beweise[n]?"
    "|begründe[n]?|skizzier(?:e|en)|zeichne[n]?|gib|geben|löse[n]?|finde[n]?|ergänze[n]?|nenne[n]?|entwickle"
    "|entwerfe[n]?|erkläre[n]?|beschreibe[n]?|vergleiche[n]?"
    # French, Romanian and Russian by the endings of their imperatives, with the verbs that have none
    "|[a-zàâçéèêëîïôûù]{2,20}ez|écris|calcule|montre|donne|trouve|soit|soient|[a-zăâîșțşţ]{2,20}ți|scrie|calculează"
    "|[а-яё]{2,20}(?:[ийь]те|йтесь|итесь)|реши|напиши|найди|докажи|вычисли|пусть"
    # Ukrainian, Bulgarian
    "|[а-яіїєґ']{2,20}(?:іть|йте|іте|ть)|[а-я]{2,20}ете"
    # Polish, Czech, Slovak
    "|napisz|oblicz|znajdź|wykaż|udowodnij|podaj|wyznacz|narysuj|rozwiąż|zaimplementuj|uzupełnij|wymień|określ|sprawdź"
    "|wyjaśnij|opisz|porównaj|zdefiniuj|napište|vypočt[ěi]te|dokažte|určete|najděte|vyřešte|uveďte|popište|nakreslete"
    "|vysvětlete|napíšte|vypočítajte|dokážte|určte|nájdite|vyriešte"
    # Spanish, Portuguese, Italian
    "|escrib[ea]|implement[ae]|demuestr[ae]|hall[ae]|encuentr[ae]|calcul[ae]|dibuj[ae]|resuelv[ea]|determin[ae]"
    "|mencion(?:e|a|ar)|señal(?:e|a|ar)|enumer[ae]|nombr[ae]|aponte|identifi(?:ca|que)"
    "|complet[ae]|cre[ae]|realiz[ae]|construy[ae]|diseñ[ae]|pr[uo]eb[ae]|obt[eé]n(?:ga)?|consider[ae]|indi(?:ca|que|car)"
    "|expli(?:ca|que|car)|describ[ea]|defin[ae]|compar[ae]|justifi(?:ca|que)|mostr[ae]|sea|escreva|escrever|prove|encontre"
    "|aperfeiçoe|modifique|acrescente"
    "|desenh[ae]|resolv[ae]|faça|projete|elabore|cite|descreva|liste|scriv(?:i|ere|ete)|implementa(?:re)?"
    "|dimostr(?:a|are|i|ino)|trova(?:re)?|calcola(?:re)?|determina(?:re)?|disegna(?:re)?|risolv(?:i|ere)"
    "|completa(?:re)?|spiega(?:re)?|descriv(?:i|ere)|elenca(?:re)?|indica(?:re)?|confronta(?:re)?|si [a-z]{3,15}[aio]"
    # Dutch, Swedish, Norwegian, Danish, Finnish, Hungarian
    "|schrijf|bereken|bepaal|toon aan|bewijs|geef|teken|los|implementeer|maak|beschrijf|leg uit|noem|vergelijk|vul"
    "|skriv|beräkna|beregn|bestäm|bestem|visa|vis at|ange|angi|rita|tegn|förklara|forklar|beskriv|lös|løs|bevisa|bevis"
    "|kirjoita|laske|selitä|todista|määritä|piirrä|[ií]rj(?:a|on|d|unk)?|készíts(?:en|d|ünk)?"
    "|sz[aá]m[ií]tsa|bizony[ií]tsa|adja meg|magyar[aá]zza"
    # Indonesian, Malay, Vietnamese
    "|tampilkan|tambahkan|simpan|cetak|ubahlah|tulis(?:kan|lah)?|hitung(?:lah)?|buat(?:lah)?|tentukan|tunjukkan|buktikan|gambar(?:kan|lah)?|cari(?:lah)?"
    "|selesaikan|sebutkan|jelaskan|uraikan|bandingkan|terangkan|hãy|viết|tính|chứng minh|tìm|cho biết|nêu|trình bày"
    "|giải thích|so sánh|vẽ|xác định"
    # Arabic, Hebrew, Greek
    "|اكتب|اشرح|احسب|عرّ?ف|قارن|اذكر|أثبت|أوجد|حدد|ارسم|כתבו?|הסבי?רו?|חשבו?|הוכיחו|מצאו"
    "|γράψτε|υπολογίστε|αποδείξτε|εξηγήστε|βρείτε|περιγράψτε|να [α-ωά-ώ]{3,20}"
)
_STARTS = re.compile(rf"(?:please |por favor,? |bitte |пожалуйста,? |veuillez )?(?:{_WORDS})(?!\w)", re.IGNORECASE)
_ENDS = re.compile(
    r"(?:[a-zçğıöşü]{2,25}[ıiuü]n(?:[ıiuü]z)?|लिखि[एय]े?|समझाइए|बताइए|कीजिए|करें|"
    r"せよ|なさい|ください|求めよ|시오|하라|하세요|세요|줘요?|줄래요?)[.。)]{0,2}$",
    re.IGNORECASE,
)
"""What sets a task at the end of a sentence in Turkish, Hindi, Japanese and Korean."""
_CHINESE = re.compile(
    r"(?:请|試|试|求|证明|計算|计算|写出|编写|编程|实现|画出|说明|推导|设计|解释|比较|给出|完成|利用|使用)"
)
_SHEET = re.compile(
    r"exerci|question|problem|exam|quiz|homework|assignment|worksheet|tasks\b|aufgabe|übung|ejercicio|tarea|deberes|taller"
    r"|pregunta|pergunta|lista de|devoir|\btd\b|\btp\b|esercizi|compiti|domande|zadani|pytani|ćwiczeni|cvičení|úloh"
    r"|задани|задач|упражнени|вопрос|контрольн|домашн|завдан|вправ|питан|oefening|opgave|övning|uppgift|oppgave|tehtäv"
    r"|feladat|probleme|sarcini|alıştırma|ödev|soru|latihan|tugas|soal|bài tập|câu hỏi|تمارين|أسئلة|תרגיל|שאלות|ασκήσ"
    r"|练习|作业|习题|習題|试题|題|問題|宿題|演習|과제|연습|문제",
    re.IGNORECASE,
)
_FEWEST = 3
"""Fewest words of a line that sets a task, in scripts with spaces."""
_FEWEST_SIGNS = 6
"""Fewest characters of one in scripts without."""


def sets_task(text: str) -> bool:
    """Returns whether a line begins or ends as one that sets a task: `Напишите функцию …`, `Hitung nilai …`."""
    line = text.strip().partition("\n")[0].lstrip("\"'“‘«(¿¡*_ ")
    if _CHINESE.match(line) and len(line) >= _FEWEST_SIGNS:
        return True
    if len(line.split()) < _FEWEST:
        return _ENDS.search(line) is not None and not line.isascii() and len(line) >= _FEWEST_SIGNS
    return _STARTS.match(line) is not None or (not line.isascii() and _ENDS.search(line) is not None)


_MORE = re.compile(r"(?:provide|mention|illustrate|elaborate|outline|identify|distinguish)(?!\w)", re.IGNORECASE)
"""Further verbs of a sentence behind a question."""


def demands_more(text: str) -> bool:
    """Returns whether a text behind a question in its line is one sentence that asks for more: `Give examples.`"""
    one = len(_SENTENCE.split(text.strip())) == 1
    return one and (_STARTS.match(text) is not None or _MORE.match(text) is not None or _ENDS.search(text) is not None)


_CLAUSE = re.compile(r"(?:assuming|given|using|based on|if|with|for)\b[^,.\n]{1,80},[ ]+", re.IGNORECASE)
"""What may come before the verb of such a sentence."""


def asks_on(text: str) -> bool:
    """Returns whether a text behind a question keeps asking: it is one question, or one sentence that asks for more,
    maybe behind a clause."""
    if not text or "\n" in text.strip():
        return False
    return ends_asking(text) or demands_more(_CLAUSE.sub("", text, count=1))


_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n")
_NAMES = re.compile(r"(?:list|name|state|plot|program|design|build|show)s?[ ](?:of|for|and)\b", re.IGNORECASE)
"""English nouns that are verbs too: `List of tags`."""
_LONGEST = 2000
"""Length of a text whose sentences are looked at, characters."""


def asks_or_demands(text: str) -> bool:
    """Returns whether a sentence of a text asks or sets a task."""
    sentences = _SENTENCE.split(text[:_LONGEST])
    return any(
        reads_as_question(sentence) or (sets_task(sentence) and not _NAMES.match(sentence)) for sentence in sentences
    )


def may_ask(text: str) -> bool:
    """Returns whether a line asks, demands or sets a task in any way that is known."""
    return ends_asking(text) or reads_as_question(text) or demands(text) or sets_task(text)


def announces_tasks(text: str) -> bool:
    """Returns whether a title, or the text above a list, calls it exercises, questions or an exam."""
    return _SHEET.search(text) is not None
