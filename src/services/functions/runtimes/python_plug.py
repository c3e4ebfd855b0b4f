# Runs a plug in Python inside its process: loads the function's main.py and passes calls to it. The function is
# execute(properties, console, logger, client) -> (state, raw data), a state, or raw data; it may be async, and may omit
# parameters.
import inspect
import os
import sys

# the module is in the same folder, where imports should find nothing else later
sys.path.insert(0, os.path.dirname(__file__))
import python_host

del sys.path[0]


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
    raise TypeError("execute must return (state, raw data), a state or raw data, not " + type(value).__name__)


def start(argument, host):
    python_host.enter(argument)
    console, client, logger = python_host.Console(host), python_host.Client(host), python_host.open_logger(host)
    execute = python_host.load_execute(argument, ["properties", "console", "logger", "client"])
    offered = {"console": console, "logger": logger, "client": client}

    def handle(method, params):
        if method == "declare":
            return {}
        value = execute({**offered, "properties": params["properties"]})
        if inspect.isawaitable(value):

            async def settled():
                return answer_of(await value)

            return settled()
        return answer_of(value)

    return handle
