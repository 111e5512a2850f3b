"""Whether the process lives (/healthz) and whether it can serve (/readyz). Without a token, and without secrets."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from service.api.dependencies import Parts, parts_of

router = APIRouter()


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(request: Request) -> JSONResponse:
    """200 when the database answers and is migrated, else 503 with the cure."""
    cure = await _cure(parts_of(request))
    return JSONResponse({"status": cure or "ok"}, 503 if cure else 200)


async def _cure(parts: Parts) -> str:
    try:
        async with parts.sessions() as session:
            found = await session.scalar(text("select to_regclass('alembic_version')::text"))
            revision = await session.scalar(text("select version_num from alembic_version")) if found else None
    except (SQLAlchemyError, OSError):
        return "the database does not answer: check DATABASE_URL and that PostgreSQL runs"
    if revision != parts.newest_revision:
        return f"the database is at {revision}, not {parts.newest_revision}: run `dailygrad migrate`"
    return ""
