"""What a sender's domain must say so that mail arrives (SPF RFC 7208, DKIM RFC 6376, DMARC RFC 7489), and the line that is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from digest.model import Diagnosis

_LOOKUPS = re.compile(r"^[+~?-]?(?:include:|a(?:$|[:/])|mx(?:$|[:/])|ptr|exists:)|^redirect=", re.IGNORECASE)
MOST_LOOKUPS = 10


def spf(domain: str, texts: Sequence[str], relay: str) -> Diagnosis:
    """The SPF record of the envelope's domain; ``relay``: the host that sends."""
    found = [text for text in texts if re.match(r"v=spf1(?:\s|$)", text, re.IGNORECASE)]
    line = f'{domain}. TXT "v=spf1 a:{relay} -all"'
    hint = f"add: {line} (or the include: line that your mail provider names)"
    if not found:
        return Diagnosis("SPF", "wrong", f"{domain} has no SPF record", hint)
    if len(found) > 1:
        return Diagnosis("SPF", "wrong", f"{domain} has {len(found)} SPF records; receivers ignore all of them", "join them into one TXT record")
    terms = found[0].split()[1:]
    if any(term.lower() in ("+all", "all", "?all") for term in terms):
        return Diagnosis("SPF", "wrong", f"“{found[0]}” lets anybody send in your name", "end it with -all")
    if sum(bool(_LOOKUPS.match(term)) for term in terms) > MOST_LOOKUPS:
        return Diagnosis("SPF", "wrong", f"“{found[0]}” needs more than {MOST_LOOKUPS} lookups; receivers give up", "leave out what sends no mail")
    if not any(term.lower().endswith("all") or term.lower().startswith("redirect=") for term in terms):
        return Diagnosis("SPF", "look", f"“{found[0]}” says nothing of other senders", "end it with -all")
    return Diagnosis("SPF", "fine", found[0])


def dkim(domain: str, selector: str, texts: Sequence[str], public_key: str = "") -> Diagnosis:
    """The DKIM record of a selector; ``public_key``: what it must hold, where we sign ourselves (base64)."""
    name = f"{selector}._domainkey.{domain}"
    line = f'{name}. TXT "v=DKIM1; k=rsa; p={public_key or "…"}"'
    found = [text for text in texts if re.search(r"(?:^|;)\s*p=", text)]
    if not found:
        return Diagnosis("DKIM", "wrong", f"{name} has no key", f"add: {line}" if public_key else "add the record that your relay names for this selector")
    keys = {re.sub(r"\s", "", match[1]) for text in found if (match := re.search(r"(?:^|;)\s*p=([^;]*)", text))}
    if keys == {""}:
        return Diagnosis("DKIM", "wrong", f"the key at {name} is revoked (p= is empty)", f"replace it: {line}")
    if public_key and public_key not in keys:
        return Diagnosis("DKIM", "wrong", f"the key at {name} is not the one that signs", f"replace it: {line}")
    return Diagnosis("DKIM", "fine", f"{name} has a key")


def dmarc(domain: str, texts: Sequence[str], parent_texts: Sequence[str] = ()) -> Diagnosis:
    """The DMARC record of From's domain, or of the organisation's above it."""
    found = [text for text in texts or parent_texts if text.lower().replace(" ", "").startswith("v=dmarc1")]
    line = f'_dmarc.{domain}. TXT "v=DMARC1; p=none; rua=mailto:dmarc@{domain}"'
    if len(found) > 1:
        return Diagnosis("DMARC", "wrong", f"{domain} has {len(found)} DMARC records; receivers ignore all of them", "keep one")
    if not found:
        return Diagnosis("DMARC", "wrong", f"{domain} has no DMARC record; Gmail, Yahoo and Outlook ask for one", f"add: {line}")
    if not re.search(r";\s*p\s*=\s*(?:none|quarantine|reject)\b", found[0], re.IGNORECASE):
        return Diagnosis("DMARC", "wrong", f"“{found[0]}” has no policy (p=none, quarantine or reject)", f"replace it: {line}")
    return Diagnosis("DMARC", "fine", found[0])


def alignment(sender: str, envelope: str, signs: str) -> Diagnosis:
    """Whether the domain of From is the envelope's or the signature's, or the same organisation's (relaxed alignment)."""
    aligned = [name for name, domain in (("SPF", envelope), ("DKIM", signs)) if domain and _organisation(domain) == _organisation(sender)]
    if not aligned:
        return Diagnosis("alignment", "wrong", f"neither the envelope ({envelope}) nor a signature is of {sender}", f"set mail.bounces to bounces@{sender}")
    return Diagnosis("alignment", "fine", f"From {sender} agrees with {' and '.join(aligned)}")


def parent(domain: str) -> str:
    """The domain above, where its DMARC record may stand; empty for one that has none."""
    return _organisation(domain) if _organisation(domain) != domain else ""


def _organisation(domain: str) -> str:
    """The last two labels, or three below such as com.cn and co.uk: right for nearly all, and only a hint is built on it."""
    labels = domain.casefold().rstrip(".").split(".")
    number = 3 if len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in ("com", "co", "org", "net", "edu", "gov", "ac") else 2
    return ".".join(labels[-number:])
