"""The files of ``deploy/`` work: the real proxies run them, in front of a real collector.

No container engine is needed: the services of the compose file run as processes with the same
settings.
"""

import html
import json
import os
import re
import shutil
import socket
import subprocess
import time
from contextlib import closing, contextmanager
from dataclasses import fields
from pathlib import Path

import httpx2
import pytest
import yaml

import sottovoce as sv
from collector.people import counting, numbered, text
from collector.running import client, running
from collector.serving import body
from sottovoce.client.ledger import DiskLedger
from sottovoce.collector import access
from sottovoce.collector.collector import Collector
from sottovoce.collector.run import open_store
from sottovoce.web.settings import Settings, clock

DEPLOY = Path(__file__).parents[2] / "deploy"
SUB_PATH = DEPLOY / "sub-path"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
TOO_LARGE = b"x" * ((4 << 20) + 1)
INSIDE = ("/metrics", "/healthz", "/readyz")


def free_port():
    with closing(socket.create_server(("127.0.0.1", 0))) as door:
        return door.getsockname()[1]


@contextmanager
def started(command, url, **environment):
    """Run a program until the block ends; the block begins when it answers."""
    process = subprocess.Popen(
        command,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        with httpx2.Client(base_url=url, verify=False, timeout=30) as people:
            while not _answers(people):
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.05)
            yield people
    finally:
        process.terminate()
        process.communicate()


def _answers(people):
    try:
        people.get("/")
    except httpx2.TransportError:
        return False
    return True


@contextmanager
def behind_caddy(collector, folder, files=DEPLOY):
    if shutil.which("caddy") is None:
        pytest.skip("there is no Caddy here: its configuration is not run")
    site = f"http://127.0.0.1:{free_port()}"
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(files / "Caddyfile")]
    places = {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with started(command, site, SITE=site, COLLECTOR=collector, **places) as people:
        yield people


@contextmanager
def behind_nginx(collector, folder, files=DEPLOY):
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        pytest.skip("there is no nginx here: its configuration is not run")
    port = free_port()
    key, certificate = folder / "site.key", folder / "site.pem"
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    command = ["openssl", "req", *options, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    server = (files / "nginx.conf").read_text()
    for stated, here in (
        (r"listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        (r"/etc/ssl/\S+\.pem", str(certificate)),
        (r"/etc/ssl/\S+\.key", str(key)),
        (r"127\.0\.0\.1:8000", collector),
    ):
        server, replaced = re.subn(stated, here, server)
        assert replaced == 1, stated
    (folder / "server.conf").write_text(server)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off; user root; pid {folder}/pid; error_log {folder}/error.log;"
        f"events {{}} http {{ {temporary} include {folder}/server.conf; }}"
    )
    command = [nginx, "-p", str(folder), "-c", str(folder / "nginx.conf")]
    with started(command, f"https://127.0.0.1:{port}") as people:
        yield people


def published(folder, database=""):
    store = open_store(Settings(data=folder, database=database))
    with closing(store):
        Collector(store, folder, clock).create(text(counting()), toml=False)


@pytest.mark.parametrize("proxy", [behind_caddy, behind_nginx])
def test_a_proxy_passes_reports_on_and_keeps_the_inside_inside(tmp_path, proxy):
    published(tmp_path / "data")
    options = ("--proxies", "127.0.0.1")
    with running(tmp_path / "data", *options) as server, client(server) as direct:
        with proxy(server.url.removeprefix("http://"), tmp_path) as people:
            sent = people.post("/v1/tasks/count/reports", json=body(numbered(counting(), 1, 2, 3)))
            assert sent.json()["accepted"] == 3
            assert [people.get(path).status_code for path in INSIDE] == [404] * len(INSIDE)
            headers = {"content-type": "application/json"}
            refused = people.post("/v1/tasks/count/reports", content=TOO_LARGE, headers=headers)
            # Caddy before 2.7 says that the body did not get through, not that it is too large.
            assert refused.status_code in (413, 502)
        assert direct.get("/metrics").status_code == 200
        assert server.stop() == 0


@pytest.fixture(scope="module")
def under_path(tmp_path_factory):
    """A collector with a root path: its address, and the token of an operator."""
    folder = tmp_path_factory.mktemp("under-path")
    published(folder)
    with closing(open_store(Settings(data=folder))) as store:
        (token,) = access.issue(store, access.OPERATOR, int(clock()))
    with running(folder, "--proxies", "127.0.0.1", "--root-path", "/sottovoce") as server:
        assert server.url.endswith("/sottovoce")
        yield server.url.removeprefix("http://").removesuffix("/sottovoce"), token
        assert server.stop() == 0


@pytest.mark.parametrize("proxy", [behind_caddy, behind_nginx])
def test_a_collector_is_served_under_a_path_of_a_site(tmp_path, under_path, proxy):
    """Devices, analysts and people with a browser reach it there, and nobody reaches probes."""
    host, token = under_path
    with proxy(host, tmp_path, SUB_PATH) as people:
        sent = body(numbered(counting(), 1, 2, 3))
        assert people.post("/sottovoce/v1/tasks/count/reports", json=sent).status_code == 200
        for path in INSIDE:
            assert people.get(path).status_code == 404
            assert people.get(f"/sottovoce{path}").status_code == 404
        if people.base_url.scheme == "http":  # the other site has no certificate to trust
            _devices_and_analysts(f"{people.base_url}/sottovoce", tmp_path / "ledger", token)
        _every_link(people, token)
    assert httpx2.get(f"http://{host}/metrics").status_code == 200


def _devices_and_analysts(url, path, token):
    collector = sv.Collector(f"{url}/", token)
    before = collector.status("count")["rounds"][0]["users"]
    with DiskLedger(path) as ledger:
        device = sv.Device(url, ledger, delay=0.0)
        device.answer("count", 5)
        assert device.flush().sent == 1
    assert collector.status("count")["rounds"][0]["users"] == before + 1


def _every_link(people, token):
    """Log in, and follow every address that the pages name."""
    origin = {"origin": str(people.base_url).rstrip("/")}
    first = people.get("/sottovoce/", headers={"accept": "text/html"})
    assert first.headers["location"] == "/sottovoce/login"
    form = {"token": token, "next": "/tasks/count"}
    entered = people.post("/sottovoce/login", data=form, headers=origin)
    assert entered.headers["location"] == "/sottovoce/tasks/count"
    assert "path=/sottovoce;" in entered.headers["set-cookie"].lower()
    followed = set()
    waiting = {"/sottovoce/tasks/count", "/sottovoce/operate"}
    while waiting:
        address = waiting.pop()
        followed.add(address)
        answer = people.get(address, headers={"accept": "text/html"})
        assert answer.status_code in (200, 204), address
        if "html" in answer.headers.get("content-type", ""):
            assert not re.findall(r'action="(?!/sottovoce/)', answer.text), address
            links = re.findall(r'(?:href|src|hx-get)="([^"#]+)', answer.text)
            assert all(link.startswith("/sottovoce/") for link in links), links
            waiting |= {html.unescape(link) for link in links} - followed
    assert len(followed) > 5
    left = people.post("/sottovoce/logout", headers=origin)
    assert left.headers["location"] == "/sottovoce/login"
    assert people.get("/sottovoce/operate").status_code == 303


def test_the_services_of_the_compose_file_work_together_as_processes(tmp_path, database_server):
    """PostgreSQL, the collector and Caddy, with the settings that the file gives to them."""
    settings = COMPOSE["collector"]["environment"]
    proxy = COMPOSE["proxy"]
    assert set(proxy["environment"]) == {"SITE", "COLLECTOR"}
    assert "./Caddyfile:/etc/caddy/Caddyfile:ro" in proxy["volumes"]
    assert settings["SOTTOVOCE_DATABASE"].startswith("postgresql://")
    database = database_server.create("compose")
    environment = settings | {"SOTTOVOCE_DATABASE": database}
    published(tmp_path / "data", database)
    with running(tmp_path / "data", **environment) as server:
        with behind_caddy(server.url.removeprefix("http://"), tmp_path) as people:
            sent = people.post("/v1/tasks/count/reports", json=body(numbered(counting(), 1, 2, 3)))
            assert sent.json()["accepted"] == 3
        assert server.stop() == 0


def test_every_setting_in_the_files_is_one_of_a_server():
    known = {f"SOTTOVOCE_{setting.name.upper()}" for setting in fields(Settings)}
    for name in ("compose.yaml", "Containerfile", "sottovoce.service"):
        named = set(re.findall(r"\bSOTTOVOCE_[A-Z_]+[A-Z]\b", (DEPLOY / name).read_text()))
        assert named, name
        assert named <= known, named - known


def test_every_metric_of_alerts_and_board_is_one_that_a_collector_serves(tmp_path):
    published(tmp_path)
    rules = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"][0]["rules"]
    panels = json.loads((DEPLOY / "grafana.json").read_text())["panels"]
    drawn = [target["expr"] for panel in panels for target in panel["targets"]]
    expressions = " ".join([*(rule["expr"] for rule in rules), *drawn])
    named = set(re.findall(r"sottovoce_[a-z_]+", expressions))
    routes = set("|".join(re.findall(r'route=~?"([^"]+)"', expressions)).split("|"))
    with running(tmp_path) as server, client(server) as people:
        for path in ("/metrics", "/login", "/operate"):
            people.get(path)
        served = people.get("/metrics").text
        assert server.stop() == 0
    for metric in named:
        family = metric.removesuffix("_total").removesuffix("_bucket")
        assert f"# TYPE {family}" in served, metric
    for route in routes:
        assert f'route="{route}"' in served, route


def test_systemd_understands_the_unit(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd here: its unit is not checked")
    unit = (DEPLOY / "sottovoce.service").read_text()
    assert "/opt/sottovoce/bin/sottovoce" in unit
    program = shutil.which("true")
    copy = tmp_path / "sottovoce.service"
    copy.write_text(unit.replace("/opt/sottovoce/bin/sottovoce", program))
    command = ["systemd-analyze", "verify", "--man=no", str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "sottovoce.service" not in done.stderr, done.stderr
