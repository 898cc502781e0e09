"""Problem documents as responses."""

import math

import msgspec
from starlette.responses import Response

from sottovoce.errors import SottovoceError
from sottovoce.web import problems

PROBLEM = "application/problem+json"


def respond(error: SottovoceError, root_path: str) -> Response:
    """Return a problem document of a service that a proxy serves under ``root_path``."""
    problem = problems.problem_of(error)
    headers = {"www-authenticate": "Bearer"} if problem.status == 401 else {}
    retry_after = getattr(error, "retry_after", None) or (
        1.0 if problem.status in (429, 503) else None
    )
    if retry_after:
        headers["retry-after"] = str(math.ceil(retry_after))
    detail = "" if problem.code == "internal" else str(error)
    content = problems.document(problem, detail, root_path) | problems.place(error)
    return Response(
        msgspec.json.encode(content),
        status_code=problem.status,
        media_type=PROBLEM,
        headers=headers,
    )
