"""The page for people: hops, states, batches, and the guarantee of each batch."""

from base64 import b64encode
from hashlib import sha256

from jinja2 import Environment, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sottovoce.shuffler.api import HopApi
from sottovoce.shuffler.status import hop_status

_STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
table { border-collapse: collapse } th, td { padding: .25rem .75rem; text-align: left }
td.number { text-align: right } th { border-bottom: 1px solid } code { overflow-wrap: anywhere }
"""
_STYLE_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "content-security-policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
_TEMPLATE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Shuffler · Sottovoce</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{{ style | safe }}</style></head>
<body>
<h1>Shuffler</h1>
<p>This server mixes the messages of other people's devices and hands them on. It cannot read them.
Its key is <code>{{ status.key }}</code>.</p>
{% for task in status.tasks %}
<h2>{{ task.name }}</h2>
<p>Hop {{ task.hop + 1 }} of {{ task.hops | length }}:
{% for url in task.hops %}{{ url }}{{ " → " }}{% endfor %}the collector.
Nothing leaves below {{ "{:,}".format(task.users) }} users; {{ "{:,}".format(task.fakes) }} fakes
are added to every batch. {% if task.finished %}The task has ended.{% endif %}</p>
<table>
<tr><th>round</th><th>state</th><th>messages</th><th>dropped</th><th>batch</th>
<th>against the collector</th><th>against collector and all other users</th>
<th>against everybody</th><th>note</th></tr>
{% for line in task.rounds %}
<tr><td class="number">{{ line.number }}</td><td>{{ line.state }}</td>
<td class="number">{{ "{:,}".format(line.messages) }}</td>
<td class="number">{{ "{:,}".format(line.dropped) }}</td>
<td class="number">{{ "{:,}".format(line.batch) }}</td>
{% if line.privacy %}
<td>epsilon {{ "%.3g" % line.privacy.central }}, delta {{ "%.1g" % line.privacy.delta }}</td>
<td>epsilon {{ "%.3g" % line.privacy.against_users }}, delta
{{ "%.1g" % line.privacy.delta }}</td>
<td>epsilon {{ "%.3g" % line.privacy.local }}</td>
{% else %}<td>not mixed yet</td><td></td><td></td>{% endif %}
<td>{{ line.trouble }}</td></tr>
{% endfor %}
</table>
{% else %}
<p>No task was added yet.</p>
{% endfor %}
</body>
</html>
"""


def routes(api: HopApi) -> list[Route]:
    """Return the route of the page."""
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = environment.from_string(_TEMPLATE)

    async def show(request: Request) -> Response:
        request.scope["page"] = "status"
        status = await run_in_threadpool(hop_status, api.shuffler)
        return HTMLResponse(template.render(status=status, style=_STYLE), headers=_HEADERS)

    return [Route("/", show, methods=["GET"])]
