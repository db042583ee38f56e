"""``digest mail doctor``: why mail may not arrive."""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentTypeError
from dataclasses import asdict
from ipaddress import ip_address

from rich.console import Console
from rich.table import Table

from digest import mail_wiring, wiring
from digest.audience.links import NOBODY
from digest.cli.arguments import a_port, add_config, add_edition, parser
from digest.fetch.dns import Names
from digest.fetch.web import post_form
from digest.model import Diagnosis
from digest.pipeline.mail_checks import MailFacts, examine
from digest.settings.load import load

_EPILOG = """exit code: 0 when nothing is wrong

examples:
  digest mail doctor
  digest mail doctor --selector s1          the name under which your relay signs
  digest mail doctor --resolver 9.9.9.9     ask this resolver, not the machine's
"""
_MARKS = {"fine": "[green]✓[/green]", "look": "[yellow]?[/yellow]", "wrong": "[red]✗[/red]"}


def main(command: str, arguments: list[str]) -> int:
    """Looks, and says what is missing with the line to add."""
    options = parser(command, "Looks at everything that decides whether mail arrives: SPF, DKIM, DMARC, PTR, relay, one-click address.", _EPILOG)
    options.add_argument("what", choices=["doctor"])
    add_config(options)
    add_edition(options)
    options.add_argument("--selector", default="", help="the DKIM selector of the relay")
    options.add_argument("--resolver", type=a_resolver, default=("", 53), metavar="ADDRESS[:PORT]", help="the DNS resolver to ask")
    options.add_argument("--json", action="store_true", help="for programs")
    chosen = options.parse_args(arguments)
    loaded = load(chosen.config)
    _, edition = wiring.edition(loaded.settings, chosen.edition)
    mail, links = mail_wiring.mail_settings(edition), mail_wiring.links(mail_wiring.mail_settings(edition))
    server, port = chosen.resolver
    facts = MailFacts(
        sender=mail.sender.rpartition("@")[2],
        envelope=(mail.bounces or mail.sender).rpartition("@")[2],
        selector=mail.dkim_selector or chosen.selector,
        public_key=mail_wiring.public_key(mail),
        relay_host=mail.host,
        has_returns=bool(mail.bounces),
        one_click=links.unsubscribe(links.token(NOBODY)),
    )
    agent, proxy = wiring.user_agent(loaded.settings), wiring.proxy(loaded.settings)
    names = Names([server] if server else [], port)
    relay = mail_wiring.relay(loaded, mail, None)
    found = asyncio.run(examine(facts, names, relay, lambda url: post_form(url, [("List-Unsubscribe", "One-Click")], agent, proxy)))
    if chosen.json:
        print(json.dumps([asdict(each) for each in found], ensure_ascii=False, indent=1))
    else:
        show(found)
    return 1 if any(each.state == "wrong" for each in found) else 0


def a_resolver(text: str) -> tuple[str, int]:
    """The address and port of a DNS resolver: 9.9.9.9, 127.0.0.1:5353, 2620:fe::fe, [::1]:5353."""
    host, _, port = text.rpartition("]:") if text.startswith("[") else text.rpartition(":") if text.count(":") == 1 else (text, "", "")
    try:
        return str(ip_address(host.strip("[]"))), a_port(port or "53")
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not the address of a resolver; write it as 9.9.9.9 or [::1]:53") from None


def show(found: list[Diagnosis]) -> None:
    """Prints findings as a table, then the remedies."""
    console, table = Console(soft_wrap=False), Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for each in found:
        table.add_row(_MARKS[each.state], each.subject, each.saw)
    console.print(table, markup=True)
    remedies = [each for each in found if each.remedy]
    if remedies:
        print("\nTo do:")
    for each in remedies:
        print(f"  {each.subject}: {each.remedy}")
