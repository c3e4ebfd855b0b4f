# What functions in Python have of their host, whatever they are for: lines of their log, the network, and their own module.
import importlib.util
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


def enter(argument):
    """To be called first: the function finds its files, its packages and its environment."""
    folder = os.path.dirname(argument["module"])
    os.environ.update(argument.get("env") or {})
    sys.path[:0] = [folder, os.path.join(folder, "python_modules")]


def load_execute(argument, parameters):
    """The function `execute` of the function's main.py."""
    spec = importlib.util.spec_from_file_location("main", argument["module"])
    module = importlib.util.module_from_spec(spec)
    sys.modules["main"] = module
    spec.loader.exec_module(module)
    execute = getattr(module, "execute", None)
    if not callable(execute):
        raise TypeError("main.py has no function execute(" + parameters + ")")
    return execute
