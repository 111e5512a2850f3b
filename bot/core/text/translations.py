"""Descriptions of the members' commands in the languages that Discord shows to those who chose them.

The commands keep their English names, because every card says what to type. Words that are typed stay English too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LOCALES: Final = ("de", "fr", "es-ES", "pt-BR", "ja")
"""Languages of the table, in its order."""
SAME: Final[Mapping[str, str]] = {"es-419": "es-ES"}
"""Languages that share the text of another."""
_DESCRIPTIONS: Final[Mapping[str, tuple[str, str, str, str, str]]] = {
    "The team's daily quiz.": (
        "Das tägliche Quiz des Teams.",
        "Le quiz quotidien de l'équipe.",
        "El cuestionario diario del equipo.",
        "O quiz diário da equipe.",
        "チームの毎日のクイズです。",
    ),
    "Today's question and whether you have answered it.": (
        "Die Frage von heute, und ob du sie beantwortet hast.",
        "La question du jour, et si vous y avez répondu.",
        "La pregunta de hoy, y si ya la has respondido.",
        "A pergunta de hoje, e se você já respondeu.",
        "今日の問題と、回答済みかどうかを表示します。",
    ),
    "Answer today's question, or change your answer.": (
        "Beantworte die Frage von heute, oder ändere deine Antwort.",
        "Répondez à la question du jour, ou modifiez votre réponse.",
        "Responde a la pregunta de hoy o cambia tu respuesta.",
        "Responda à pergunta de hoje ou altere sua resposta.",
        "今日の問題に回答するか、回答を変更します。",
    ),
    "Your answer as a .py file.": (
        "Deine Antwort als .py-Datei.",
        "Votre réponse sous forme de fichier .py.",
        "Tu respuesta como archivo .py.",
        "Sua resposta como arquivo .py.",
        "回答の .py ファイルです。",
    ),
    "Practice: due cards, then weak topics, then new ones.": (
        "Üben: fällige Karten, dann schwache Themen, dann neue Fragen.",
        "S'entraîner : cartes à revoir, puis points faibles, puis nouveautés.",
        "Practicar: tarjetas pendientes, luego temas flojos, luego nuevas.",
        "Praticar: cartões pendentes, depois temas fracos, depois novos.",
        "練習します。復習カード、苦手なトピック、新しい問題の順です。",
    ),
    "Only this topic.": (
        "Nur dieses Thema.",
        "Ce sujet uniquement.",
        "Solo este tema.",
        "Somente este tema.",
        "このトピックだけ。",
    ),
    "Only this level.": (
        "Nur diese Stufe.",
        "Ce niveau uniquement.",
        "Solo este nivel.",
        "Somente este nível.",
        "このレベルだけ。",
    ),
    "Only this kind of question.": (
        "Nur diese Art von Fragen.",
        "Ce type de question uniquement.",
        "Solo este tipo de pregunta.",
        "Somente este tipo de pergunta.",
        "この種類の問題だけ。",
    ),
    "Run a snippet of Python with torch.": (
        "Führe ein Stück Python mit torch aus.",
        "Exécuter un extrait de Python avec torch.",
        "Ejecuta un fragmento de Python con torch.",
        "Execute um trecho de Python com torch.",
        "torch を使う Python のコードを実行します。",
    ),
    "The program.": ("Das Programm.", "Le programme.", "El programa.", "O programa.", "プログラムです。"),
    "The program as a .py file.": (
        "Das Programm als .py-Datei.",
        "Le programme sous forme de fichier .py.",
        "El programa como archivo .py.",
        "O programa como arquivo .py.",
        "プログラムの .py ファイルです。",
    ),
    "Time and memory of the latest code that was measured.": (
        "Zeit und Speicher des zuletzt gemessenen Codes.",
        "Temps et mémoire du dernier code mesuré.",
        "Tiempo y memoria del último código medido.",
        "Tempo e memória do último código medido.",
        "最後に計測したコードの時間とメモリです。",
    ),
    "time or memory (default: time).": (
        "time (Zeit) oder memory (Speicher); sonst time.",
        "time (temps) ou memory (mémoire) ; sinon time.",
        "time (tiempo) o memory (memoria); si no, time.",
        "time (tempo) ou memory (memória); senão, time.",
        "time(時間)または memory(メモリ)。省略時は time。",
    ),
    "Who has the most points.": (
        "Wer die meisten Punkte gesammelt hat.",
        "Qui a obtenu le plus de points.",
        "Quién ha reunido más puntos.",
        "Quem reuniu mais pontos.",
        "得点の多い順に表示します。",
    ),
    "day, week, month, season or ever (default: week).": (
        "day, week, month, season oder ever; sonst week.",
        "day, week, month, season ou ever ; sinon week.",
        "day, week, month, season o ever; si no, week.",
        "day, week, month, season ou ever; senão, week.",
        "day、week、month、season、ever のいずれか。省略すると week。",
    ),
    "rookies, improved (who gets more right than before), ladder (of duels) or tournament.": (
        "rookies, improved (wer mehr richtig hat als zuvor), ladder (der Duelle) oder tournament.",
        "rookies, improved (plus de bonnes réponses qu'avant), ladder (des duels) ou tournament.",
        "rookies, improved (quien acierta más que antes), ladder (de duelos) o tournament.",
        "rookies, improved (quem acerta mais do que antes), ladder (dos duelos) ou tournament.",
        "rookies、improved（以前より正解が増えた人）、ladder（デュエル）、tournament のいずれか。",
    ),
    "The whole workspace, not only this channel.": (
        "Der ganze Server, nicht nur dieser Kanal.",
        "Tout le serveur, pas seulement ce salon.",
        "Todo el servidor, no solo este canal.",
        "O servidor inteiro, não só este canal.",
        "このチャンネルだけでなく、サーバー全体。",
    ),
    "Challenge a member, or see your duels and rating.": (
        "Fordere ein Mitglied heraus, oder sieh deine Duelle und deine Wertung.",
        "Défiez un membre, ou consultez vos duels et votre classement.",
        "Reta a un miembro, o mira tus duelos y tu puntuación.",
        "Desafie um membro, ou veja seus duelos e sua classificação.",
        "メンバーに挑戦するか、自分のデュエルとレーティングを見ます。",
    ),
    "Whom to challenge; without it, your duels.": (
        "Wen du herausforderst; ohne Angabe deine Duelle.",
        "Qui défier ; sinon, vos duels.",
        "A quién retar; si no, tus duelos.",
        "Quem desafiar; senão, seus duelos.",
        "挑戦する相手。省略すると自分のデュエルを表示します。",
    ),
    "The tournament: teams, table, joining and leaving.": (
        "Das Turnier: Teams, Tabelle, Beitreten und Verlassen.",
        "Le tournoi : équipes, classement, inscription et départ.",
        "El torneo: equipos, tabla, inscribirse y salir.",
        "O torneio: equipes, tabela, entrar e sair.",
        "トーナメントのチーム、順位表、参加と退出。",
    ),
    "see, join, leave, or pick for captains (default: see).": (
        "see, join, leave, oder pick für Kapitäne; sonst see.",
        "see, join, leave, ou pick pour les capitaines ; sinon see.",
        "see, join, leave, o pick para capitanes; si no, see.",
        "see, join, leave, ou pick para capitães; senão, see.",
        "see、join、leave、キャプテンは pick も。省略すると see。",
    ),
    "Whom a captain picks.": (
        "Wen ein Kapitän wählt.",
        "Qui un capitaine choisit.",
        "A quién elige un capitán.",
        "Quem um capitão escolhe.",
        "キャプテンが選ぶメンバー。",
    ),
    "Your points, streak, cards and weak topics.": (
        "Deine Punkte, Serie, Karten und schwachen Themen.",
        "Vos points, votre série, vos cartes et vos points faibles.",
        "Tus puntos, racha, tarjetas y temas flojos.",
        "Seus pontos, sequência, cartões e temas fracos.",
        "あなたの得点、連続記録、カード、苦手なトピック。",
    ),
    "The topics, and what you and your team know of each.": (
        "Die Themen, und was du und dein Team davon wissen.",
        "Les sujets, et ce que vous et votre équipe en savez.",
        "Los temas, y tu dominio y el de tu equipo en cada uno.",
        "Os temas, e o que você e sua equipe sabem de cada um.",
        "トピックと、あなたとチームの習熟度。",
    ),
    "The answer to a past question, and why.": (
        "Die Antwort auf eine frühere Frage, und warum.",
        "La réponse à une question passée, et pourquoi.",
        "La respuesta a una pregunta anterior, y por qué.",
        "A resposta a uma pergunta passada, e o porquê.",
        "過去の問題の答えと、その理由。",
    ),
    "Id of the question, as its card shows it.": (
        "Kennung der Frage, wie auf ihrer Karte.",
        "Identifiant de la question, comme sur sa carte.",
        "Identificador de la pregunta, como en su tarjeta.",
        "Identificador da pergunta, como no cartão.",
        "カードに表示されている問題の ID。",
    ),
    "Say that a question is wrong.": (
        "Melde, dass eine Frage falsch ist.",
        "Signaler qu'une question est erronée.",
        "Avisa de que una pregunta está mal.",
        "Avise que uma pergunta está errada.",
        "問題の誤りを報告します。",
    ),
    "Id of the question (default: today's).": (
        "Kennung der Frage; sonst die von heute.",
        "Identifiant de la question ; sinon, celle du jour.",
        "Identificador de la pregunta; si no, la de hoy.",
        "Identificador da pergunta; senão, a de hoje.",
        "問題の ID。省略すると今日の問題。",
    ),
    "What is wrong.": (
        "Was falsch ist.",
        "Ce qui est erroné.",
        "Qué está mal.",
        "O que está errado.",
        "誤りの内容。",
    ),
    "Suggest a question for the bank, or see yours.": (
        "Schlage eine Frage vor, oder sieh deine Vorschläge.",
        "Proposez une question, ou consultez vos propositions.",
        "Propón una pregunta, o mira las tuyas.",
        "Sugira uma pergunta, ou veja as suas.",
        "問題を提案するか、自分の提案を見ます。",
    ),
    "Your suggestions, and what was decided about them.": (
        "Deine Vorschläge, und was über sie entschieden wurde.",
        "Vos propositions, et les décisions prises.",
        "Tus propuestas, y qué se decidió sobre ellas.",
        "Suas sugestões, e o que foi decidido sobre elas.",
        "あなたの提案と、その結果。",
    ),
    "Be one member in two chats.": (
        "Sei ein und dasselbe Mitglied in zwei Chats.",
        "Être un seul et même membre dans deux messageries.",
        "Sé el mismo miembro en dos chats.",
        "Seja o mesmo membro em dois chats.",
        "2 つのチャットのアカウントを 1 人のメンバーにまとめます。",
    ),
    "The code from the other chat; without it you get one.": (
        "Der Code aus dem anderen Chat; ohne Angabe bekommst du einen.",
        "Le code de l'autre messagerie ; sinon, vous en recevez un.",
        "El código del otro chat; si no, recibes uno.",
        "O código do outro chat; sem ele, você recebe um.",
        "もう一方のチャットのコード。省略するとコードを発行します。",
    ),
    "How points and streaks are counted.": (
        "Wie Punkte und Serien gezählt werden.",
        "Comment les points et les séries sont comptés.",
        "Cómo se cuentan los puntos y las rachas.",
        "Como os pontos e as sequências são contados.",
        "得点と連続記録の数え方。",
    ),
    "Private messages: reminders and your results.": (
        "Private Nachrichten: Erinnerungen und deine Ergebnisse.",
        "Messages privés : rappels et vos résultats.",
        "Mensajes privados: recordatorios y tus resultados.",
        "Mensagens privadas: lembretes e seus resultados.",
        "ダイレクトメッセージ（リマインダーと結果）の設定。",
    ),
    "reminders or results; without it, your settings.": (
        "reminders oder results; sonst deine Einstellungen.",
        "reminders ou results ; sinon, vos réglages.",
        "reminders o results; si no, tus ajustes.",
        "reminders ou results; senão, suas configurações.",
        "reminders または results。省略すると現在の設定。",
    ),
    "on or off (default: on).": (
        "An oder aus; sonst an.",
        "Activé ou désactivé ; sinon activé.",
        "Activado o desactivado; si no, activado.",
        "Ligado ou desligado; senão, ligado.",
        "オンまたはオフ。省略するとオン。",
    ),
    "See, export, hide or delete your data.": (
        "Sieh, exportiere, verbirg oder lösche deine Daten.",
        "Consulter, exporter, masquer ou supprimer vos données.",
        "Mira, exporta, oculta o borra tus datos.",
        "Veja, exporte, oculte ou apague seus dados.",
        "自分のデータの表示、書き出し、非表示、削除。",
    ),
    "see, export, csv, hide, show or forget (default: see).": (
        "see, export, csv, hide, show oder forget; sonst see.",
        "see, export, csv, hide, show ou forget ; sinon see.",
        "see, export, csv, hide, show o forget; si no, see.",
        "see, export, csv, hide, show ou forget; senão, see.",
        "see、export、csv、hide、show、forget のいずれか。省略すると see。",
    ),
    "This list, or more on one command.": (
        "Diese Liste, oder mehr über einen Befehl.",
        "Cette liste, ou le détail d'une commande.",
        "Esta lista, o más sobre un comando.",
        "Esta lista, ou mais sobre um comando.",
        "コマンドの一覧、または 1 つのコマンドの説明。",
    ),
    "A command.": ("Ein Befehl.", "Une commande.", "Un comando.", "Um comando.", "コマンド。"),
}


def translations_of(description: str) -> dict[str, str]:
    """Returns the translations of a command's description by language; nothing if it has none."""
    if description not in _DESCRIPTIONS:
        return {}
    found = dict(zip(LOCALES, _DESCRIPTIONS[description], strict=True))
    return found | {other: found[locale] for other, locale in SAME.items()}


def translated() -> frozenset[str]:
    """Returns the descriptions that have translations."""
    return frozenset(_DESCRIPTIONS)
