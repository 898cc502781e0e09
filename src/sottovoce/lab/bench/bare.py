"""The least that a collector on this stack must do.

A Starlette route decodes an upload and counts it.

Run as a module it serves on a free port, which it prints.
"""

import socket

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sottovoce.collector import wire
from sottovoce.web import uploads


async def decode(request: Request) -> Response:
    """Decode, and answer with the shape of a real outcome."""
    upload = wire.json_upload.decode(await request.body())
    return Response(
        uploads.as_json(uploads.UploadReceipt(len(upload.reports), 0, [])),
        media_type="application/json",
    )


def main() -> None:
    """Serve until killed."""
    door = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(door.getsockname()[1], flush=True)
    app = Starlette(routes=[Route("/v1/tasks/{name}/reports", decode, methods=["POST"])])
    uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="error")).run(sockets=[door])


if __name__ == "__main__":
    main()
