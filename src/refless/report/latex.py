"""The tables of a document for LaTeX, with booktabs."""

from refless.report.document import Document, Table, plain

_ESCAPED = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # which a row could take for the argument of the one before
        "]": "{]}",
        "\n": " ",
        "\r": " ",
        "±": r"$\pm$",
        "…": r"\dots{}",
        "\N{MINUS SIGN}": "$-$",
    }
)


def as_latex(document: Document) -> str:
    """One `tabular` a table, for booktabs, after a comment that says what it is of."""
    parts, title = [], document.title
    for section in plain(document):
        title = section.title or title
        if section.table is not None:
            parts.append(f"% {_line(title)}\n{_tabular(section.table)}")
    signed = [f"% signature: {_line(one)}\n" for one in document.signatures]
    return "\n".join([*parts, "".join(signed)])


def escaped(text: str) -> str:
    """The text as LaTeX sets it."""
    return "".join(one if one.isprintable() else " " for one in text).translate(_ESCAPED)


def _line(text: str) -> str:
    """A comment on one line."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


def _tabular(table: Table) -> str:
    columns = "".join("r" if numeric else "l" for numeric in table.flush_right)
    body = "".join(_row(row) for row in table.rows)
    return (
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{_row(table.header)}\\midrule\n{body}"
        "\\bottomrule\n\\end{tabular}\n"
    )


def _row(cells: tuple[str, ...]) -> str:
    return " & ".join(map(escaped, cells)) + " \\\\\n"
