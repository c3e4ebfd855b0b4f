# Connects functions in Python to their host: log lines, network access, and loading the function's module.
import importlib.util
import inspect
import logging
import os
import sys


class Console:
    """Writes lines to the function's log, by level."""

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


class LogHandler(logging.Handler):
    """Forwards records of Python loggers to the function's log."""

    LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"))

    def __init__(self, host):
        super().__init__()
        self._host = host

    def emit(self, record):
        level = next((name for least, name in self.LEVELS if record.levelno >= least), "debug")
        self._host.log(level, self.format(record))


def open_logger(host):
    """Returns the logger of the function. Records that its packages log go to the same log."""
    root = logging.getLogger()
    root.addHandler(LogHandler(host))
    root.setLevel(logging.INFO)
    logger = logging.getLogger("function")
    logger.setLevel(logging.DEBUG)
    return logger


class Client:
    """What the host does for the function."""

    def __init__(self, host):
        self._host = host

    async def fetch(self, url, method="GET", headers=None, body=None):
        """Calls a public address; returns a dict with status, statusText and body."""
        request = {"url": url, "method": method, "headers": headers or {}}
        if body is not None:
            request["body"] = body
        return await self._host.ask("fetch", request)


def enter(argument):
    """Prepares files, packages and environment variables of the function; call this first."""
    folder = os.path.dirname(argument["module"])
    # one thread per process: functions share the machine, and each thread reserves memory
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.chdir(folder)
    os.environ.update(argument.get("env") or {})
    sys.path[:0] = [folder, os.path.join(folder, "python_modules")]


# other names that a function may use for its parameters
ALIASES = {"waylay": "client", "req": "request"}


def load_execute(argument, offered):
    """
    Returns the function `execute` of the function's main.py, which is called with the names in `offered`. Arguments are
    passed by name, or by position where the signature uses another name.
    """
    spec = importlib.util.spec_from_file_location("main", argument["module"])
    module = importlib.util.module_from_spec(spec)
    sys.modules["main"] = module
    spec.loader.exec_module(module)
    execute = getattr(module, "execute", None)
    if not callable(execute):
        raise TypeError("main.py has no function execute(" + ", ".join(offered) + ")")
    return passing(execute, offered)


def passing(execute, offered):
    """Calls `execute` with the arguments that it accepts, from a dict with the names in `offered`. Raises for unknown
    parameters.
    """
    places, keywords, is_in_place = [], {}, True
    for parameter in inspect.signature(execute).parameters.values():
        known = ALIASES.get(parameter.name, parameter.name)
        is_place = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if parameter.kind is parameter.VAR_POSITIONAL:
            places += offered[len(places):]
        elif parameter.kind is parameter.VAR_KEYWORD:
            continue
        elif known in offered and is_place and is_in_place:
            places.append(known)
        elif known in offered and parameter.kind is not parameter.POSITIONAL_ONLY:
            keywords[parameter.name] = known
        elif parameter.default is not parameter.empty:
            # later parameters are passed by name
            is_in_place = False
        elif is_place and len(places) < len(offered):
            places.append(offered[len(places)])
        else:
            raise TypeError("execute takes " + parameter.name + "; it may take " + ", ".join(offered))
    return lambda values: execute(*[values[name] for name in places], **{key: values[name] for key, name in keywords.items()})
