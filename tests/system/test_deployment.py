"""The files of ``deploy/`` work: the real proxies run them, in front of a real collector.

No container engine is needed: the services of the compose file run as processes with the same
settings.
"""

import html
import json
import os
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import time
import tomllib
import zipfile
from contextlib import closing, contextmanager
from dataclasses import fields
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
import yaml

import sottovoce as sv
from collector.people import counting, numbered, text
from collector.running import client, running, until
from collector.serving import body
from sottovoce.cli.main import COMMANDS
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.transport import CollectorApi
from sottovoce.collector import access
from sottovoce.collector.collector import Collector
from sottovoce.collector.run import open_store
from sottovoce.errors import UnavailableError
from sottovoce.lab import crowd
from sottovoce.web.settings import Settings, clock

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SUB_PATH = DEPLOY / "sub-path"
COMPOSE_FILE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
COMPOSE = COMPOSE_FILE["services"]
COMPOSE_NETWORKS = COMPOSE_FILE["networks"]
PASSWORD = "${POSTGRES_PASSWORD:?set a password}"
PROXY = "127.0.0.1"  # where Caddy comes from in these tests
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


def published(folder):
    store = open_store(Settings(data=folder))
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
        _problems_lead_to_their_row(people)
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


def _problems_lead_to_their_row(people):
    """The router, uploads with and without ASGI and the door refuse requests with an address."""
    reports = "/sottovoce/v1/tasks/count/reports"
    json_body = {"content-type": "application/json"}
    refused = [
        people.get("/sottovoce/v1/nothing"),
        people.delete("/sottovoce/v1/tasks"),
        people.get("/sottovoce/v1/tasks/none"),
        people.post("/sottovoce/v1/tasks/none/reports", content=b"{}", headers=json_body),
        people.post(reports, content=b"{", headers=json_body),
        people.post(reports, content=iter([b"{"]), headers=json_body),  # in chunks: through ASGI
        people.post(reports, content=b"{}", headers={**json_body, "origin": "no origin"}),
    ]
    for answer in refused:
        problem = answer.json()
        assert answer.status_code == problem["status"] >= 400
        page = people.get(problem["type"])
        anchor = problem["type"].partition("#")[2]
        assert page.status_code == 200, problem["type"]
        assert f'id="{anchor}"' in page.text


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


@contextmanager
def behind_the_proxy_of_compose(collector, folder):
    """Run Caddy with TLS, as the compose file does, and yield its site and the root of its trust.

    The certificate of a site without a public name is issued by Caddy itself.  Its root is kept in
    a folder here instead of being installed on this machine.
    """
    if shutil.which("caddy") is None:
        pytest.skip("there is no Caddy here: its configuration is not run")
    plain, secured = free_port(), free_port()
    file = (DEPLOY / "Caddyfile").read_text()
    own = f"admin off\n\tskip_install_trust\n\thttp_port {plain}\n\thttps_port {secured}"
    assert file.count("admin off") == 1
    (folder / "Caddyfile").write_text(file.replace("admin off", own))
    environment = {"SITE": "localhost", "COLLECTOR": collector}
    assert set(environment) == set(COMPOSE["proxy"]["environment"])
    places = {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    site = f"https://localhost:{secured}"
    with started(command, site, **environment, **places):
        redirected = httpx2.get(f"http://localhost:{plain}/v1/tasks")
        assert redirected.status_code == 308
        assert redirected.headers["location"].startswith("https://localhost")
        yield site, folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"


def trusting(site, root, address="127.0.0.1"):
    """People who trust the certificate of a site, at an address of this machine."""
    trust = ssl.create_default_context(cafile=str(root))
    transport = httpx2.HTTPTransport(verify=trust, local_address=address)
    return httpx2.Client(base_url=site, transport=transport, timeout=30)


@contextmanager
def database_of_compose(server):
    """Make the user and the database that the compose file names, and yield its address.

    The password is asked for, unlike elsewhere in these tests.
    """
    import psycopg
    from psycopg import sql

    stated = COMPOSE["database"]["environment"]
    secret = "a password of the compose file"
    user, name = stated["POSTGRES_USER"], stated["POSTGRES_DB"]
    rules = server.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local {name} {user} scram-sha-256\n{before}")
    with psycopg.connect(server.url(), autocommit=True) as operator:
        role, database = sql.Identifier(user), sql.Identifier(name)
        operator.execute(sql.SQL("create role {} login password {}").format(role, secret))
        operator.execute(sql.SQL("create database {} owner {}").format(database, role))
        operator.execute("select pg_reload_conf()")
        probe = shlex.split(COMPOSE["database"]["healthcheck"]["test"][1])
        ready = shutil.which(probe[0]) or str(server.binaries / probe[0])
        subprocess.run([ready, *probe[1:], "--host", str(server.folder)], check=True)
        try:
            yield _address_in_compose(server, secret)
        finally:
            operator.execute(sql.SQL("drop database {} with (force)").format(database))
            operator.execute(sql.SQL("drop role {}").format(role))
            rules.write_text(before)
            operator.execute("select pg_reload_conf()")


def _address_in_compose(server, secret):
    """Return the database that the collector is told, at the socket instead of the host's name."""
    assert COMPOSE["database"]["environment"]["POSTGRES_PASSWORD"] == PASSWORD
    address = COMPOSE["collector"]["environment"]["SOTTOVOCE_DATABASE"]
    assert address.count(PASSWORD) == address.count("@database/") == 1
    address = address.replace(PASSWORD, quote(secret)).replace("@database/", "@/")
    return f"{address}?host={quote(str(server.folder), safe='')}"


def test_the_services_of_the_compose_file_work_together_as_processes(
    tmp_path, database_server, monkeypatch
):
    """PostgreSQL, the collector and Caddy with TLS, with the settings that the file gives them."""
    proxy = COMPOSE["proxy"]
    assert "./Caddyfile:/etc/caddy/Caddyfile:ro" in proxy["volumes"]
    folder = tmp_path / "data"
    with database_of_compose(database_server) as database:
        wrong = database.replace("password", "pass", 1)
        with pytest.raises(UnavailableError, match="password authentication failed"):
            open_store(Settings(data=folder, database=wrong))
        with closing(open_store(Settings(data=folder, database=database))) as store:
            (token,) = access.issue(store, access.OPERATOR, int(clock()))
        environment = (
            image_settings() | settings_of_compose(PROXY) | {"SOTTOVOCE_DATABASE": database}
        )
        environment |= {"NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", "")}
        with running(folder, **environment) as server:
            host = server.url.removeprefix("http://")
            with behind_the_proxy_of_compose(host, tmp_path) as (site, root):
                with pytest.raises(UnavailableError):  # nobody else has issued its certificate
                    sv.Collector(site, token).tasks()
                monkeypatch.setenv("SSL_CERT_FILE", str(root))
                answer = _collected(site, token, tmp_path / "ledger")
                with trusting(site, root) as people:
                    _read_on_the_dashboard(people, token, answer)
            assert server.stop() == 0
    assert list((folder / "sealed").rglob("*.parquet"))


def settings_of_compose(proxy):
    """Return what the compose file tells the collector, with this proxy in place of its network."""
    settings = COMPOSE["collector"]["environment"]
    assert set(settings) == {"SOTTOVOCE_DATABASE", "SOTTOVOCE_PROXIES"}
    network = COMPOSE_NETWORKS["inside"]["ipam"]["config"][0]["subnet"]
    assert settings["SOTTOVOCE_PROXIES"] == network
    assert COMPOSE["proxy"]["networks"] == COMPOSE["collector"]["networks"] == ["inside"]
    return settings | {"SOTTOVOCE_PROXIES": proxy}


@pytest.mark.parametrize(
    ("proxies", "believed"), [(PROXY, True), ("10.0.0.1", False)], ids=["proxy", "somebody else"]
)
def test_a_collector_believes_its_proxy_and_nobody_else(tmp_path, proxies, believed):
    """People behind the proxy are limited one by one, and their cookies stay on TLS.

    Where the setting names somebody else, both fail: they share the proxy's limit, and the cookie
    would travel in clear.
    """
    folder = tmp_path / "data"
    published(folder)
    with closing(open_store(Settings(data=folder))) as store:
        (token,) = access.issue(store, access.OPERATOR, int(clock()))
    environment = settings_of_compose(proxies) | {"SOTTOVOCE_DATABASE": "", "SOTTOVOCE_RATE": "10"}
    with running(folder, **environment) as server:
        host = server.url.removeprefix("http://")
        with behind_the_proxy_of_compose(host, tmp_path) as (site, root):
            with trusting(site, root) as people:
                assert ("secure" in _cookie(people, token)) is believed
            assert limited_together(site, root) is not believed
            if believed:
                forged = {"x-forwarded-for": "192.0.2.7"}
                assert limited_together(site, root, same=True, headers=forged)
        assert server.stop() == 0


def limited_together(site, root, *, same=False, headers=None):
    """Return whether reports of one person leave room for those of a second one.

    The second one may be the same person, with other headers.  Ten reports a second are allowed,
    and twenty at once, so that two seconds fill what an address may send: slower pairs of requests
    prove nothing and are sent again.
    """
    for number in range(1, 250):
        time.sleep(2.0)
        first = f"127.0.{number}.1"
        second = first if same else f"127.0.{number}.2"
        with trusting(site, root, first) as one, trusting(site, root, second) as other:
            begun = time.monotonic()
            assert reported(one) == 200
            status = reported(other, headers)
            if time.monotonic() - begun < 1.5:
                assert status in (200, 429)
                return status == 429
    raise AssertionError("this machine is too slow to send two requests in 1.5 seconds")


def _cookie(people, token):
    """Log in, and return the attributes of the session's cookie."""
    origin = {"origin": str(people.base_url).rstrip("/")}
    entered = people.post("/login", data={"token": token, "next": "/"}, headers=origin)
    assert entered.status_code == 303
    return re.split(r";\s*", entered.headers["set-cookie"].lower())


def reported(people, headers=None):
    """Send nearly all reports that an address may send at once, and return the status."""
    reports = body(numbered(counting(), *[1] * 19))
    return people.post("/v1/tasks/count/reports", json=reports, headers=headers).status_code


def _collected(site, token, ledger_path):
    """Publish a task at a site, let people answer it, close it, and return the answer."""
    task = sv.Task(
        "lunch",
        sv.Histogram(["soup", "salad", "pie"]),
        4.0,
        collection=sv.Collection(minimum=20, grace=0),
    )
    operator = sv.Collector(site, token)
    assert operator.publish(task)["new"] is True
    receipt = CollectorApi(site).send("lunch", crowd.messages(task, ["soup"] * 60 + ["pie"] * 39))
    assert receipt.accepted == 99
    with DiskLedger(ledger_path) as ledger:
        device = sv.Device(site, ledger, delay=0.0)
        device.answer("lunch", "salad")
        assert device.flush().sent == 1
    operator.close("lunch", at_once=True)
    until(lambda: operator.status("lunch")["state"] == "finished")
    answer = operator.answer("lunch")
    assert answer.users == 100
    assert [row["value"] for row in answer.rows()] == ["soup", "salad", "pie"]
    return answer


def _read_on_the_dashboard(people, token, answer):
    """Log in, and find every estimate of an answer on the page of its task."""
    form = {"token": token, "next": "/tasks/lunch"}
    origin = {"origin": str(people.base_url).rstrip("/")}
    entered = people.post("/login", data=form, headers=origin)
    assert entered.status_code == 303
    assert "; secure" in entered.headers["set-cookie"].lower()
    page = people.get("/tasks/lunch", headers={"accept": "text/html"})
    assert page.status_code == 200
    for row in answer.rows():
        assert row["value"] in page.text
        assert f"{row['estimate']:,.0f}" in page.text


def instructions():
    """The instructions of the Containerfile, in order: a word and what stands behind it."""
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [line.split(maxsplit=1) for line in lines]


def image_settings():
    """The environment that the Containerfile sets."""
    stated = " ".join(rest for word, rest in instructions() if word == "ENV")
    return dict(setting.split("=", 1) for setting in shlex.split(stated))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel built from exactly the files that are copied into the image."""
    folder = tmp_path_factory.mktemp("image")
    for word, rest in instructions():
        if word != "COPY":
            continue
        *sources, target = rest.split()
        copy = folder / target.removeprefix("/")
        for source in sources:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, copy, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                copy.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / source, copy)
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    done = subprocess.run(build, cwd=folder / "source", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = (folder / "source" / "dist").glob("*.whl")
    return made


def test_the_image_is_made_of_files_that_are_there_and_sent_to_the_builder(wheel):
    first, *kept = [
        line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] != "#"
    ]
    assert first == "*"
    for word, rest in instructions():
        if word == "COPY":
            for source in rest.split()[:-1]:
                assert f"!{source}" in kept, source
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"sottovoce/kernels/warm.py", "sottovoce/javascript/browser.js"} <= names


@pytest.mark.papers  # it compiles every kernel
def test_the_wheel_runs_with_the_environment_and_the_commands_of_the_image(wheel, tmp_path):
    """The wheel is installed alone: what it depends on is that of this environment.

    The server reads the kernels that the build of the image has compiled, and compiles none.
    """
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(site), str(wheel)], check=True, capture_output=True)
    environment = _environment_of_the_image(tmp_path, site)
    where = [sys.executable, "-c", "import sottovoce; print(sottovoce.__file__)"]
    assert _output(where, environment, tmp_path).startswith(str(site))
    (warm,) = [command for command in _run_in_the_image() if command[0] == "sottovoce"]
    assert _output([str(site / "bin" / warm[0]), *warm[1:]], environment, tmp_path)
    kernels = compiled(tmp_path)
    assert len(kernels) > 20
    published(Path(environment["SOTTOVOCE_DATA"]))
    (serve,) = [json.loads(rest) for word, rest in instructions() if word == "CMD"]
    (check,) = [rest for word, rest in instructions() if word == "HEALTHCHECK"]
    address = f"http://127.0.0.1:{environment['SOTTOVOCE_PORT']}"
    command = [str(site / "bin" / serve[0]), *serve[1:]]
    with started(command, address, **environment) as people:
        probe = shlex.split(
            check.removeprefix("CMD ").replace(f":{Settings.port}", f":{address.rsplit(':')[-1]}")
        )
        assert probe[0] == "python"
        subprocess.run([sys.executable, *probe[1:]], check=True)
        sent = people.post("/v1/tasks/count/reports", json=body(numbered(counting(), *[1] * 40)))
        assert sent.json()["accepted"] == 40
        with closing(open_store(Settings(data=Path(environment["SOTTOVOCE_DATA"])))) as store:
            (token,) = access.issue(store, access.OPERATOR, int(clock()))
        operator = sv.Collector(address, token)
        operator.close("count", at_once=True)
        until(lambda: operator.status("count")["state"] == "finished")
        assert operator.answer("count").users == 40
    assert compiled(tmp_path) == kernels


def compiled(folder):
    """The compiled kernels in the folders of an image, with the moment of their last change."""
    return {path: path.stat().st_mtime_ns for path in (folder / "kernels").rglob("*.nbc")}


def _environment_of_the_image(folder, site):
    """The settings of the image, with its folders below a folder, and a port that is free."""
    stated = image_settings()
    folders = {
        name: str(folder / value.removeprefix("/"))
        for name, value in stated.items()
        if value.startswith("/")
    }
    assert set(folders) == {"SOTTOVOCE_DATA", "NUMBA_CACHE_DIR"}
    for made in folders.values():
        Path(made).mkdir(mode=0o700)
    return stated | folders | {"SOTTOVOCE_PORT": str(free_port()), "PYTHONPATH": str(site)}


def _run_in_the_image():
    """The commands that run while the image is built."""
    return [step for word, rest in instructions() if word == "RUN" for step in _commands(rest)]


def _output(command, environment, folder):
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_container_engine_builds_and_starts_the_image():
    """The tests above run the same wheel with the same commands where no engine runs."""
    if shutil.which("docker") is None:
        pytest.skip("there is no docker here: the image is not built")
    info = subprocess.run(["docker", "info"], capture_output=True, text=True, check=False)
    if info.returncode:
        reason = info.stderr.strip().splitlines()[-1]
        pytest.skip(f"no container engine runs here, so that the image is not built: {reason}")
    name = "sottovoce-of-the-tests"
    build = ["docker", "build", "-f", str(DEPLOY / "Containerfile"), "-t", name, str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    version = ["docker", "run", "--rm", name, "sottovoce", "--version"]
    assert "sottovoce" in subprocess.run(version, capture_output=True, text=True, check=True).stdout


def test_the_image_installs_extras_that_exist():
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ])  # fmt: skip
    (installed,) = re.findall(r'"/source\[([a-z,]+)\]"', (DEPLOY / "Containerfile").read_text())
    assert set(installed.split(",")) <= extras
    assert {"server", "postgres"} <= set(installed.split(","))  # the compose file has PostgreSQL


def test_kernels_are_compiled_by_the_user_who_runs_the_server_and_where_it_can_write():
    """Numba reads kept code only from a folder that it could write."""
    user = "root"
    environment = {}
    users = {}
    commands = []
    for word, rest in instructions():
        if word == "USER":
            user = rest
        elif word == "ENV":
            environment |= dict(setting.split("=", 1) for setting in shlex.split(rest))
        elif word in ("RUN", "CMD"):
            steps = [json.loads(rest)] if rest.startswith("[") else _commands(rest)
            for step in steps:
                commands.append(step)
                if step[0] == "sottovoce":
                    assert step[1] in COMMANDS, step
                    users[step[1]] = (user, environment["NUMBA_CACHE_DIR"])
    assert users["warm"] == users["serve"]
    owner, cache = users["serve"]
    assert owner != "root"
    (made,) = [step for step in commands if step[0] == "useradd"]
    assert made[-1] == owner
    (folders,) = [step for step in commands if step[0] == "install"]
    assert f"--owner={owner}" in folders
    assert {cache, environment["SOTTOVOCE_DATA"]} <= set(folders)


def _commands(line):
    return [shlex.split(command) for command in line.split("&&")]


def test_the_compose_file_and_the_unit_agree_with_the_image_and_the_server():
    collector = COMPOSE["collector"]
    assert (DEPLOY / collector["build"]["context"]).resolve() == ROOT
    assert (ROOT / collector["build"]["dockerfile"]).is_file()
    assert f"reports:{image_settings()['SOTTOVOCE_DATA']}" in collector["volumes"]
    (exposed,) = [rest for word, rest in instructions() if word == "EXPOSE"]
    assert int(exposed) == Settings.port
    assert COMPOSE["proxy"]["environment"]["COLLECTOR"] == f"collector:{exposed}"
    (check,) = [rest for word, rest in instructions() if word == "HEALTHCHECK"]
    (probe,) = re.findall(rf"http://127\.0\.0\.1:{exposed}(/\w+)", check)
    assert probe in INSIDE
    unit = (DEPLOY / "sottovoce.service").read_text()
    (cache,) = re.findall(r"^CacheDirectory=(\w+)$", unit, re.MULTILINE)
    assert f"Environment=NUMBA_CACHE_DIR=%C/{cache}\n" in unit


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
