"""Numbers with a dash behind their mark, and a letter before the answers below them."""

from __future__ import annotations

from questions import read_bank

ASKED = [
    "¿Qué es una vista?",
    "Comparte la memoria.",
    "¿Qué guarda un gancho?",
    "Guarda los valores.",
    "¿Qué es una hoja?",
]
ASKED += ["Cuenta los elementos."]
SAID = ["Un tensor.", "La vista.", "Nada.", "El tensor.", "Un parámetro.", "Una llamada."]
PAIRS = list(zip(ASKED, SAID, strict=True))


def read(text: str) -> list[tuple[str, str, str | None]]:
    return [(one.number, one.prompt, one.answer) for one in read_bank(text, name="a.md").bank.questions]


def test_a_dash_behind_a_number_is_not_part_of_the_question() -> None:
    asked = [f"¿Qué hace la llamada {n}?" for n in range(1, 5)]
    text = "\n\n".join(f"{n}.- {one}\n\nCopia {n} valores." for n, one in enumerate(asked, 1))
    assert read(text) == [(str(n), one, f"Copia {n} valores.") for n, one in enumerate(asked, 1)]


def test_a_letter_below_nearly_each_number_is_the_label_of_its_answer() -> None:
    for indent in ("", "    "):
        text = "## Vistas\n\n" + "".join(
            f"{indent}{n}.- {asked}\n\n{indent}R: {said}\n\n" for n, (asked, said) in enumerate(PAIRS, 1)
        )
        assert read(text) == [(str(n), asked, said) for n, (asked, said) in enumerate(PAIRS, 1)]


def test_a_letter_elsewhere_is_no_label() -> None:
    text = "\n\n".join(f"{n}. ¿Qué es {n}?\n\nR: es un lenguaje.\n\nR: otra vez." for n in range(1, 7))
    assert all((answer or "").startswith("R: es un") for _, _, answer in read(text))
