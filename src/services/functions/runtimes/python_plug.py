# A plug in Python inside its process: loads the function's main.py and hands it calls.
#   execute(properties, console, logger, client) -> (state, raw data), a state, or raw data; it may be async
import importlib.util
import inspect
import os
import sys


class Console:
    """Lines of the function's log, by level."""

    def __init__(self, host):
        self._host = host

    def _say(self, level, text, *values):
        self._host.log(level, str(text) % values if values else str(text))

    def debug(self, text, *values):
        self._say("debug", text, *values)

    def info(self, text, *values):
        self._say("info", text, *values)

    log = info

    def warn(self, text, *values):
        self._say("warn", text, *values)

    warning = warn

    def error(self, text, *values):
        self._say("error", text, *values)


class Client:
    """What the host does for the function."""

    def __init__(self, host):
        self._host = host

    async def fetch(self, url, method="GET", headers=None, body=None):
        """Calls a public address; gives a dict with status, statusText and body."""
        request = {"url": url, "method": method, "headers": headers or {}}
        if body is not None:
            request["body"] = body
        return await self._host.ask("fetch", request)


def answer_of(value):
    if value is None:
        return {}
    if isinstance(value, str):
        return {"state": value}
    if isinstance(value, dict):
        return {"rawData": value}
    if isinstance(value, tuple) and len(value) == 2:
        state, raw = value
        answer = {}
        if state is not None:
            answer["state"] = state
        if raw is not None:
            answer["rawData"] = raw
        return answer
    raise TypeError("execute gives (state, raw data), a state or raw data, and not " + type(value).__name__)


def start(argument, host):
    folder = os.path.dirname(argument["module"])
    os.environ.update(argument.get("env") or {})
    sys.path[:0] = [folder, os.path.join(folder, "python_modules")]
    spec = importlib.util.spec_from_file_location("main", argument["module"])
    module = importlib.util.module_from_spec(spec)
    sys.modules["main"] = module
    spec.loader.exec_module(module)
    if not callable(getattr(module, "execute", None)):
        raise TypeError("main.py has no function execute(properties, console, logger, client)")
    console, client = Console(host), Client(host)

    def handle(method, params):
        if method == "declare":
            return {}
        value = module.execute(params["properties"], console, console, client)
        if inspect.isawaitable(value):

            async def settled():
                return answer_of(await value)

            return settled()
        return answer_of(value)

    return handle
