"""Recognizes questions about a program below them, which belongs to the question and is not its answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in
from questions.source import trim
from questions.wording.imperatives import sets_task
from questions.wording.stems import demands

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = (
    # English, German, Dutch
    r"\b(?:this|these|(?:the )?following|the (?:next|given)|below|dies(?:e[rsmn]?)?|folgende[rsmn]?"
    r"|dit|deze|volgende"
    # French, Spanish, Portuguese, Italian
    r"|ce(?:t|tte|s)?|suivante?s?|est[aeo]s?|siguientes?|ess[ae]s?|seguintes?|quest[aeoi]|seguent[ei]"
    # Polish, Russian, Ukrainian, Turkish, Indonesian, Vietnamese
    r"|t(?:en|ego|ej)|poniższ\w{1,3}|następując\w{1,3}|эт(?:от|а|о|и|ого|ой)|следующ\w{2,3}|данн\w{2,3}|приведенн\w{2,3}"
    r"|ц(?:ей|я|е|ього|ієї)|наступн\w{1,3}|bu|aşağıdaki|berikut|ini|này|sau đây|dưới đây)\b"
    r"|以下|下面|下列|这段|这个|上面|次の|以下の|この|다음|아래|이 "
)
"""What points at something that is shown."""
_PROGRAM = (
    r"\b(?:code|programs?|programme|function|method|snippet|script|queries|query|statements?|expressions?|loop|class"
    r"|programm|funktion|methode|skript|abfrage|ausdr[uü]cke?|anweisung\w{0,2}|schleife|functie|fonction|méthode|requête"
    r"|código|programa|función|método|consulta|expresi[oó]n(?:es)?|função|expressão|codice|programma|funzione|metodo"
    r"|kod\w{0,2}|program\w{0,2}|funkcj\w{1,2}|код\w{0,2}|программ\w{1,2}|функци\w{1,2}|програм\w{1,2}|kode|fungsi"
    r"|fonksiyon\w{0,3}|chương trình|đoạn mã|hàm)\b|代码|程序|函数|语句|コード|プログラム|関数|코드|프로그램|함수"
)
_PRINTS = (
    r"\b(?:prints?|outputs?|returns?|print(?:ed)? out|displays?|evaluates?|produces?|gibt|ausgegeben|ausgabe"
    r"|affiche\w{0,3}|retourne|renvoie|imprim\w{1,3}|salida|devuelve|retorna|saída|stampa|restituisce|wypisz\w{1,2}|zwr[óa]c\w{1,2}"
    r"|выв(?:едет|одит|едено)|напечата\w{1,3}|верн[её]т|виведе|поверне|yazdır\w{1,3}|çıktı\w{0,3}|mencetak|hasilnya"
    r"|in ra)\b|输出|打印|返回|結果|出力|출력|결과"
)
_ASKS_ABOUT = tuple(
    re.compile(rf"(?:{one}).{{0,60}}?(?:{two})", re.IGNORECASE | re.DOTALL)
    for one, two in ((_SHOWN, _PROGRAM), (_SHOWN, _PRINTS), (_PRINTS, _SHOWN), (_PROGRAM, _SHOWN))
)
_BELOW = re.compile(
    r"\b(?:following|below|folgende[rsmn]?|nachfolgend\w{0,2}|unten(?:stehend\w{0,2})?|hieronder|onderstaande?|volgende"
    r"|ci-(?:dessous|après)|suivante?s?|siguientes?|a continuación|abajo|seguintes?|a seguir|abaixo|seguent[ei]"
    r"|di seguito|poniż(?:ej|sz\w{1,3})|następując\w{1,3}|следующ\w{2,3}|ниже|наступн\w{1,3}|нижче|aşağıda(?:ki)?"
    r"|berikut(?: ini)?|následujíc\w{1,3}|níže|alábbi|nedan(?:stående)?|följande|sau đây"
    r"|dưới đây)\b[^\n.?!]{0,80}[:：][*_ ]*$",
    re.IGNORECASE,
)
"""The end of a text that points at what is right below it."""
_HOW = re.compile(
    r"(?:how|wie|hoe|comment|c[oó]mo|come|jak|как|як|nasıl|bagaimana|làm (?:thế nào|sao))\b"
    r"|如何|怎么|怎樣|どうやって|어떻게",
    re.IGNORECASE,
)
"""What asks for a way to do something, which a program may show."""
_LONGEST = 400
"""Length of the end of a prompt that may point at a program below, characters."""
_INDENTED = ("    ", "\t")


def asks_about_program(prompt: str) -> bool:
    """Returns whether a prompt asks about a program that is shown below it: `What does this print?`."""
    if "```" in prompt or "~~~" in prompt or any(line.startswith(_INDENTED) for line in prompt.split("\n")[1:]):
        # It shows the program itself.
        return False
    asked = prompt.lstrip("\"'“‘(¿¡*_ ")
    if _BELOW.search(prompt[-_LONGEST:]) and not _HOW.match(asked):
        return True
    if _HOW.match(asked) or (sets_task(asked) and not demands(asked)):
        # The program may be the answer.
        return False
    end = prompt[-_LONGEST:]
    return any(pattern.search(end) for pattern in _ASKS_ABOUT)


_GIVEN = re.compile(
    r"\b(?:given|defined|consider|suppose|assume|gegeben\w{0,2}|definiert|sei|seien|soit|soient|donné\w{0,2}|définie?s?"
    r"|sea|sean|dad[oa]s?|definid[oa]s?|dat[oaie]|definit[oaie]|dan[ye]|дан[аоы]?|задан\w{0,2}|определен\w{0,2}"
    r"|verilen|tanımlan\w{1,6}|diberikan|didefinisikan)\b|定義され|与えられ|次の|给定|已知|定义了|주어진|정의된|다음",
    re.IGNORECASE,
)
"""What says that something is there before the task."""
_MAKES = re.compile(
    r"\b(?:(?:re)?creat\w{1,3}|declar\w{1,3}|assign\w{0,3}|initiali[sz]\w{1,3}|erstelle?n?|crée[rz]?|cre[ae]r?|crie|создайте"
    r"|объявите|oluşturun|buat(?:lah)?)\b|作成|作れ|宣言|创建|声明|만드|선언",
    re.IGNORECASE,
)
"""What asks for the definition itself."""
_ASSIGNS = re.compile(r"[A-Za-z_]\w{0,60}[ \t]*=(?!=)[ \t]*\S.{0,500}")
_COMPUTES = re.compile(r"[A-Za-z_]\w{0,60}\(|\b(?:for|lambda|if)\b")


def gives_data(prompt: str, program: str) -> bool:
    """Returns whether a program is what a task is about: the task says that it is given, and it only names values."""
    lines = [
        line.strip() for line in program.split("\n") if line.strip() and not line.lstrip().startswith(("```", "~~~"))
    ]
    lines = [line for line in lines if not line.startswith("#")]
    if not lines or _HOW.match(prompt) or not _GIVEN.search(prompt[-_LONGEST:]) or _MAKES.search(prompt[-_LONGEST:]):
        return False
    return all(_ASSIGNS.fullmatch(line) and not _COMPUTES.search(line) for line in lines)


_RESULT = re.compile(r"\S.{0,300}(?:={2,3}|≡|=>|->|→)[ \t]*\S")
_FEWEST_EXAMPLES = 3


def show_results(texts: Sequence[str]) -> bool:
    """Returns whether the programs below tasks are examples of what to write: nearly all compare a call with its
    result, `f(2) == 4`, and define nothing."""
    programs = [program for text in texts if (program := without_program(trim(text))[0])]
    shown = sum(_RESULT.search(program) is not None and _DEFINES.search(program) is None for program in programs)
    return shown >= _FEWEST_EXAMPLES and shown * 5 >= len(programs) * 4


_DEFINES = re.compile(
    r"(?m)^[ \t]*(?:(?:export|async|public|private|static|pub)[ ])*(?:def|function|func|fn|fun|class|interface|struct"
    r"|(?:int|void|bool|double|float|long|string|auto)[ ]\w+\()",
    re.IGNORECASE,
)


def without_program(text: str) -> tuple[str, str]:
    """Returns the program at the start of a text, fenced or indented, and the text below it."""
    lines = text.split("\n")
    end, fence = -1, ""
    for at, line in enumerate(lines):
        mark = fence_in(line) if fence or at == 0 else None
        fence = fence_after(fence, mark["mark"]) if mark else fence
        if fence or mark or line.startswith(_INDENTED):
            end = at
        elif line.strip():
            break
        if mark and not fence:
            break
    return "\n".join(lines[: end + 1]), trim("\n".join(lines[end + 1 :]))
