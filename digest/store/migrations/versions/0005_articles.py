"""A line for every article, for lists over all issues; when an issue was last changed by its editor."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("issues", sa.Column("languages", sa.JSON()))
    op.add_column("issues", sa.Column("listed", sa.String(65), nullable=False, server_default=""))
    op.add_column("issues", sa.Column("changed_at", sa.DateTime()))
    table = op.create_table(
        "articles",
        sa.Column("edition", sa.String(100), primary_key=True),
        sa.Column("day", sa.Date(), primary_key=True),
        sa.Column("place", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("document", sa.Text(), nullable=False),
    )
    connection = op.get_bind()
    issues = sa.table(
        "issues", sa.column("edition", sa.String()), sa.column("day", sa.Date()), sa.column("document", sa.Text()), sa.column("languages", sa.JSON())
    )
    keys = connection.execute(sa.select(issues.c.edition, issues.c.day)).all()
    for edition, day in keys:
        document = connection.execute(sa.select(issues.c.document).where(issues.c.edition == edition, issues.c.day == day)).scalar_one()
        issue = json.loads(document)
        connection.execute(issues.update().where(issues.c.edition == edition, issues.c.day == day).values(languages=issue["languages"]))
        told = [article for section in issue["sections"] for article in section["articles"]]
        rows = [
            {"edition": edition, "day": day, "place": place, "document": json.dumps(_line(issue, place, article), ensure_ascii=False)}
            for place, article in enumerate(told)
        ]
        if rows:
            connection.execute(table.insert(), rows)


def _line(issue: dict[str, Any], place: int, article: dict[str, Any]) -> dict[str, Any]:
    story, reasons = article["pick"]["story"], article["pick"]["reasons"]
    lead = story["entries"][0]
    names: dict[str, list[str]] = {}
    for mention in article["mentions"]:
        if mention["text"] not in names.setdefault(mention["kind"], []):
            names[mention["kind"]].append(mention["text"])
    return {
        "day": issue["day"],
        "story": story["key"],
        "place": place,
        "heat": round(min(100.0, max(0.0, sum(reason["points"] for reason in reasons)))),
        "featured": article["pick"]["featured"],
        "tags": article.get("tags", []),
        "source_name": lead["entry"]["source_name"],
        "trust": article["source"]["trust"],
        "at": lead["entry"].get("published_at") or lead["entry"]["seen_at"],
        "told_at": issue["until"],
        "url": lead["entry"]["url"],
        "title": lead["entry"]["title"],
        "headlines": {wording["language"]: wording["headline"] for wording in article["wordings"]},
        "summaries": {wording["language"]: wording["summary"] for wording in article["wordings"]},
        "also_in": list(dict.fromkeys(other["entry"]["source_name"] for other in story["entries"][1:])),
        "blurbs": {wording["language"]: wording["blurb"] for wording in article["wordings"]},
        "names": names,
        "claims": article["claims"],
    }
