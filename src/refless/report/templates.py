"""Templates of reports and of pages: jinja2, which escapes whatever it is given."""

import re
from functools import cache
from typing import Any

# Characters that could turn the text around them or end it. Marks of direction that writing from
# right to left needs (U+200E, U+200F) stay, and so do line ends and tabs.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def rendered(package: str, template: str, **values: object) -> str:
    """A template of the package's folder `templates`, filled in."""
    return str(environment(package).get_template(template).render(**values))


@cache
def environment(package: str) -> Any:  # noqa: ANN401 - jinja2 is imported lazily
    """The templates of a package; a name that a template lacks is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=readable,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    templates.filters["prose"] = prose
    templates.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    return templates


def readable(value: object) -> object:
    """A text with a replacement character for each that could do harm; all else as it is."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return _HARMFUL.sub("\ufffd", value)


def prose(text: str) -> str:
    """Words of our own, in which a number and its percent sign stay on one line."""
    return text.replace(" %", "\xa0%")


def escaped(text: str) -> str:
    """Any text as the content of an element or attribute."""
    from markupsafe import escape

    return escape(readable(text))
