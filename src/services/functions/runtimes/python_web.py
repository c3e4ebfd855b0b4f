# Runs a webscript in Python inside its process: loads the function's main.py, passes requests to it in the style of
# Starlette, and sends its responses to the host. The function is execute(request, client, console, logger) -> a
# response, or a value that becomes JSON; it may be async, and may omit parameters. It may import `from reflexarc import
# console, Response, JSONResponse, ...`, or the same names from Starlette when that is not among its packages.
import base64
import importlib.util
import inspect
import json
import os
import sys
import types
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl, quote, unquote, urlencode

# the module is in the same folder, where imports should find nothing else later
sys.path.insert(0, os.path.dirname(__file__))
import python_host

del sys.path[0]

PIECE = 393216


class HTTPException(Exception):
    def __init__(self, status_code, detail=None, headers=None):
        super().__init__(detail)
        self.status_code = status_code
        self.detail = detail
        self.headers = headers


class Headers:
    """A mapping with case-insensitive names and the last value of each; getlist returns all values."""

    def __init__(self, pairs):
        self.raw = [(name.lower(), value) for name, value in pairs]
        self._values = dict(self.raw)

    def __getitem__(self, name):
        return self._values[name.lower()]

    def __contains__(self, name):
        return name.lower() in self._values

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def get(self, name, default=None):
        return self._values.get(name.lower(), default)

    def getlist(self, name):
        return [value for own, value in self.raw if own == name.lower()]

    def keys(self):
        return self._values.keys()

    def values(self):
        return self._values.values()

    def items(self):
        return self._values.items()


class Values(dict):
    """A mapping with the last value of each name; getlist returns all values, multi_items all pairs."""

    def __init__(self, pairs):
        self._pairs = list(pairs)
        super().__init__(self._pairs)

    def getlist(self, name):
        return [value for own, value in self._pairs if own == name]

    def multi_items(self):
        return list(self._pairs)


class UploadFile:
    def __init__(self, filename, content_type, content):
        self.filename = filename
        self.content_type = content_type
        self.size = len(content)
        self._content = content

    async def read(self, size=-1):
        return self._content if size < 0 else self._content[:size]


class URL:
    def __init__(self, path, query):
        self.path = path
        self.query = query

    def __str__(self):
        return self.path + ("?" + self.query if self.query else "")


class Request:
    def __init__(self, params, body):
        self.method = params["method"]
        self.path = unquote(params["path"])
        self.url = URL(self.path, params["query"])
        self.headers = Headers(params["headers"])
        self.query_params = Values(parse_qsl(params["query"], keep_blank_values=True))
        self.path_params = {}
        self._body = body

    @property
    def cookies(self):
        return {name: one.value for name, one in SimpleCookie(self.headers.get("cookie", "")).items()}

    async def body(self):
        return self._body

    async def stream(self):
        yield self._body

    async def text(self):
        return self._body.decode()

    async def json(self):
        try:
            return json.loads(self._body)
        except ValueError:
            raise HTTPException(400, "The body is not valid JSON")

    async def form(self):
        kind = self.headers.get("content-type", "")
        if kind.startswith("multipart/form-data"):
            return Values(multipart(kind, self._body))
        try:
            return Values(parse_qsl(self._body.decode(), keep_blank_values=True))
        except ValueError:
            raise HTTPException(400, "The body is not a valid form of its content type")


def multipart(kind, body):
    from email.parser import BytesParser
    from email.policy import HTTP

    whole = BytesParser(policy=HTTP).parsebytes(b"content-type: " + kind.encode() + b"\r\n\r\n" + body)
    if not whole.is_multipart():
        raise HTTPException(400, "The body is not a valid form of its content type")
    for part in whole.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True) or b""
        if name is None:
            continue
        filename = part.get_filename()
        yield (name, content.decode() if filename is None else UploadFile(filename, part.get_content_type(), content))


class Response:
    media_type = None

    def __init__(self, content=None, status_code=200, headers=None, media_type=None):
        self.status_code = status_code
        self.body = self.render(content)
        kind = media_type or self.media_type
        pairs = [] if headers is None else list(headers.items())
        if kind is not None and not any(name.lower() == "content-type" for name, _ in pairs):
            pairs.append(("content-type", kind + "; charset=utf-8" if kind.startswith("text/") else kind))
        self.pairs = pairs

    def render(self, content):
        if content is None:
            return b""
        return content if isinstance(content, bytes) else str(content).encode()

    def set_cookie(self, key, value="", path="/", max_age=None, httponly=False, secure=False, samesite="lax"):
        parts = [key + "=" + quote(value), "Path=" + path, "SameSite=" + samesite]
        parts += [] if max_age is None else ["Max-Age=" + str(max_age)]
        parts += ["HttpOnly"] if httponly else []
        parts += ["Secure"] if secure else []
        self.pairs.append(("set-cookie", "; ".join(parts)))


class PlainTextResponse(Response):
    media_type = "text/plain"


class HTMLResponse(Response):
    media_type = "text/html"


class JSONResponse(Response):
    media_type = "application/json"

    def render(self, content):
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


class RedirectResponse(Response):
    def __init__(self, url, status_code=307, headers=None):
        super().__init__(b"", status_code, {**(headers or {}), "location": str(url)})


class StreamingResponse(Response):
    def __init__(self, content, status_code=200, headers=None, media_type=None):
        super().__init__(None, status_code, headers, media_type)
        self.body_iterator = content


class ApiError(Exception):
    def __init__(self, status, body):
        said = body.get("error") if isinstance(body, dict) else None
        super().__init__(str(said or "the host answered with status " + str(status)))
        self.status_code = status
        self.body = body


class Client(python_host.Client):
    """Gives access to the API of the host, as the tenant, and to the network."""

    def __init__(self, host):
        super().__init__(host)
        self.resources = Resources(self)
        self.data = Data(self)
        self.alarms = Alarms(self)
        self.tasks = Tasks(self)
        self.transformers = Transformers(self)

    async def request(self, method, path, json_body=None, query=None, headers=None):
        """Requests the API, such as GET /api/tasks, and returns the value in the response. Raises ApiError."""
        pairs = [[name, value] for name, value in (headers or {}).items()]
        order = {"method": method, "path": path + ("?" + urlencode(query) if query else ""), "headers": pairs}
        if json_body is not None:
            order["headers"] = [["content-type", "application/json"]] + pairs
            order["body"] = json.dumps(json_body)
        answer = await self._host.ask("api", order)
        try:
            value = json.loads(answer["text"]) if answer["text"] else None
        except ValueError:
            value = answer["text"]
        if answer["status"] >= 400:
            raise ApiError(answer["status"], value)
        return value


class Part:
    def __init__(self, client):
        self._client = client


class Resources(Part):
    async def get(self, id):
        return await self._client.request("GET", "/api/resources/" + quote(id, safe=""))

    async def create(self, body):
        return await self._client.request("POST", "/api/resources", body)

    async def update(self, id, change):
        return await self._client.request("PATCH", "/api/resources/" + quote(id, safe=""), change)


class Data(Part):
    async def post_series(self, resource, values):
        return await self._client.request("POST", "/resources/" + quote(resource, safe="") + "/events", values)

    postSeries = post_series

    async def get_current(self, resource):
        return await self._client.request("GET", "/resources/" + quote(resource, safe="") + "/current")

    getCurrent = get_current


class Alarms(Part):
    async def create(self, alarm):
        return await self._client.request("POST", "/alarm/alarms", alarm)

    async def list(self, **query):
        return await self._client.request("GET", "/alarm/alarms", query=query)


class Tasks(Part):
    async def create(self, task):
        return await self._client.request("POST", "/api/tasks", task)

    async def push(self, task, node, state):
        path = "/api/tasks/" + quote(task, safe="") + "/nodes/" + quote(node, safe="") + "/state"
        return await self._client.request("POST", path, {"state": state})


class Transformers(Part):
    async def execute(self, name, data=None):
        """Runs a converter, by its name, on the data."""
        return await self._client.request("POST", "/converter/" + quote(name, safe="") + "/convert", data or {})


OWN = (
    Request, Response, PlainTextResponse, HTMLResponse, JSONResponse, RedirectResponse, StreamingResponse,
    HTTPException, UploadFile, Headers, ApiError,
)


def offer_modules(console):
    own = types.ModuleType("reflexarc")
    for one in OWN:
        setattr(own, one.__name__, one)
    own.console = console
    sys.modules["reflexarc"] = own
    if importlib.util.find_spec("starlette") is not None:
        return
    package = types.ModuleType("starlette")
    package.__path__ = []
    sys.modules["starlette"] = package
    for name in ("responses", "requests", "exceptions", "datastructures"):
        sys.modules["starlette." + name] = own
        setattr(package, name, own)


def response_of(value):
    if hasattr(value, "status_code") and (hasattr(value, "body") or hasattr(value, "body_iterator")):
        return value
    if value is None:
        return Response(None, 204)
    if isinstance(value, str):
        return HTMLResponse(value)
    if isinstance(value, (bytes, bytearray)):
        return Response(bytes(value), media_type="application/octet-stream")
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], int):
        return JSONResponse(value[0], value[1])
    return JSONResponse(value)


def head_of(response):
    pairs = getattr(response, "pairs", None)
    if pairs is None:
        # a response of Starlette itself
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers]
    return {"status": response.status_code, "headers": [[str(name), str(value)] for name, value in pairs]}


async def pieces_of(content):
    if hasattr(content, "__aiter__"):
        async for piece in content:
            yield piece
    else:
        for piece in content:
            yield piece


async def send_stream(host, call, response, content):
    await host.ask("web.head", {"id": call, **head_of(response)})
    async for piece in pieces_of(content):
        data = piece.encode() if isinstance(piece, str) else bytes(piece)
        for at in range(0, len(data), PIECE):
            await host.ask("web.write", {"id": call, "bytes": base64.b64encode(data[at:at + PIECE]).decode()})
    return {"streamed": True}


async def answer_of(host, params, value):
    response = response_of(value)
    call = params["id"]
    streamed = getattr(response, "body_iterator", None)
    if streamed is not None:
        return await send_stream(host, call, response, streamed)
    body = response.body
    if len(body) > PIECE and params["method"] != "HEAD":
        return await send_stream(host, call, response, [body])
    head = head_of(response)
    try:
        return {**head, "text": body.decode()}
    except UnicodeDecodeError:
        return {**head, "bytes": base64.b64encode(body).decode()}


async def body_of(host, params):
    if "body" in params:
        return base64.b64decode(params["body"])
    body = bytearray()
    while len(body) < params["size"]:
        body += base64.b64decode(await host.ask("web.read", {"id": params["id"], "offset": len(body)}))
    return bytes(body)


async def run(host, offered, execute, params):
    request = Request(params, await body_of(host, params))
    try:
        value = execute({**offered, "request": request})
        if inspect.isawaitable(value):
            value = await value
    except Exception as error:
        # whatever library raised the error, it may carry a status
        status = getattr(error, "status_code", None)
        if not isinstance(status, int) or isinstance(error, ApiError):
            raise
        detail = getattr(error, "detail", None)
        value = JSONResponse({"error": detail, "statusCode": status}, status, getattr(error, "headers", None))
    return await answer_of(host, params, value)


def start(argument, host):
    python_host.enter(argument)
    offered = {"client": Client(host), "console": python_host.Console(host), "logger": python_host.open_logger(host)}
    offer_modules(offered["console"])
    execute = python_host.load_execute(argument, ["request", "client", "console", "logger"])

    def handle(method, params):
        if method == "declare":
            return {}
        return run(host, offered, execute, params)

    return handle
