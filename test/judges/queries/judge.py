"""Answers queries by pandas and SciPy, and says where the answers of the query service differ. One case a line, as JSON.

What the service does otherwise than pandas, on purpose; of the first two it is counted how often they occur:

  bucket without samples   pandas counts and sums nothing to 0; here an empty bucket is null for every aggregation
  std far from 0           pandas subtracts a mean that is rounded; here, and in the judge, the first number goes off before
  texts and truth values   pandas refuses a mean of texts and takes True for 1; here numeric aggregations pass over both
  limit                    pandas counts it over the whole axis for fixed values, and from both sides when it also
                           extrapolates; here it counts in each gap, from the side that the reference names
  linear                   pandas' default leaves what is before the first value; here both ends are held
  spline                   pandas smooths; here it goes through all points, as SciPy's InterpolatedUnivariateSpline
  pchip, from_derivatives  pandas extrapolates; here nothing but pad, fixed, backfill and linear does
"""
import json
import sys
import warnings

import numpy as np
import pandas as pd
from scipy import interpolate

warnings.filterwarnings("ignore")
FAR = "the std of pandas loses digits where numbers are far from 0 and close together"
EMPTY = "an empty bucket is null, where pandas has 0"


def main():
    for line in sys.stdin:
        case = json.loads(line)
        expected, explained = answer(case)
        cells, differences = compare(case["rows"], expected)
        verdict = {"cells": cells, "differences": differences, "explained": explained, "expected": expected}
        print(json.dumps(verdict), flush=True)


def answer(case):
    query = case["query"]
    explained = []
    columns = []
    labels = labels_of(query) if "freq" in query else None
    for spec in query["data"]:
        samples = pd.Series(dict(), dtype=object)
        arrived = case["series"][spec["metric"]]
        if arrived:
            frame = pd.DataFrame(arrived, columns=["time", "value"], dtype=object)
            frame = frame.drop_duplicates("time", keep="last")
            samples = pd.Series(frame["value"].values, index=frame["time"].astype("int64").values, dtype=object).sort_index()
        if labels is None:
            columns.append(samples[(samples.index >= query["from"]) & (samples.index < query["until"])])
        else:
            columns.append(aggregated(samples, labels, spec.get("aggregation", "mean"), explained))
    if labels is None:
        index = sorted(set().union(*[set(column.index) for column in columns]))
    else:
        index = labels[:-1]
    columns = [column.reindex(index) for column in columns]
    for i, spec in enumerate(query["data"]):
        if "interpolation" in spec:
            columns[i] = interpolated(columns[i], spec["interpolation"])
    rows = [[int(t)] + [plain(column.iloc[i]) for column in columns] for i, t in enumerate(index)]
    return rows, explained


def labels_of(query):
    """Begins of the buckets, and the end of the last one, in epoch milliseconds."""
    start, end, freq = query["from"], query["until"], query["freq"]
    zone = query.get("align", {}).get("timezone")
    if zone is None:
        width = int(round(pd.Timedelta(freq).total_seconds() * 1000))
        first, behind = start // width, -(-end // width)
        return [k * width for k in range(first, behind + 1)]
    step = {"P1D": ("D", 1), "P2D": ("D", 2), "P1W": ("W", 1), "P1M": ("M", 1), "P3M": ("M", 3), "P1Y": ("M", 12)}[freq]
    local = pd.Timestamp(start, unit="ms", tz="UTC").tz_convert(zone).tz_localize(None).normalize()
    if step[0] == "D":
        days = (local - pd.Timestamp("1970-01-01")).days
        date = local - pd.Timedelta(days=days % step[1])
        following = lambda d: d + pd.Timedelta(days=step[1])
    elif step[0] == "W":
        date = local - pd.Timedelta(days=local.weekday())
        following = lambda d: d + pd.Timedelta(days=7)
    else:
        months = (local.year - 1970) * 12 + local.month - 1
        months -= months % step[1]
        date = pd.Timestamp(1970 + months // 12, months % 12 + 1, 1)
        following = lambda d: d + pd.DateOffset(months=step[1])
    labels = []
    while True:
        instant = date.tz_localize(zone, nonexistent="shift_forward", ambiguous=True)
        labels.append(int(instant.timestamp() * 1000))
        if labels[-1] >= end:
            return labels
        date = following(date)


def aggregated(samples, labels, name, explained):
    inside = samples[(samples.index >= labels[0]) & (samples.index < labels[-1])]
    places = np.searchsorted(labels, inside.index.values.astype("int64"), side="right") - 1
    counts = np.bincount(places, minlength=len(labels) - 1) if len(inside) else np.zeros(len(labels) - 1)
    is_number = inside.map(lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)).astype(bool)
    numbers = inside[is_number].astype(float).groupby(places[is_number.values] if len(inside) else [])
    everything = inside.groupby(places)
    if name == "count":
        result = everything.size()
    elif name == "count-numeric":
        result = numbers.count().reindex(everything.size().index, fill_value=0)
    elif name == "count-non-numeric":
        size = everything.size()
        result = size - numbers.count().reindex(size.index, fill_value=0)
    elif name in ("first", "last"):
        result = everything.first() if name == "first" else everything.last()
    elif name.startswith("percentile"):
        result = numbers.quantile(float(name[11:-1]))
    elif name == "std":
        result = exact_std(numbers, explained)
    else:
        result = getattr(numbers, name)()
    result = result.reindex(range(len(labels) - 1)).astype(object)
    if name in ("count", "sum") and (counts == 0).any():
        explained.append(EMPTY)
    result.index = labels[:-1]
    return result


def exact_std(numbers, explained):
    of_pandas = numbers.std()
    around = numbers.apply(lambda group: (group - group.iloc[0]).std()) if len(of_pandas) else of_pandas
    if ((of_pandas - around).abs() > 1e-9).any():
        explained.append(FAR)
    return around


def is_number(value):
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_)) and value == value


def is_missing(value):
    return value is None or (isinstance(value, float) and value != value)


DEGREES = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}


def interpolated(column, how):
    method, order, limit = how["method"], how.get("order"), how.get("limit")
    column = column.astype(object).where(~column.map(is_missing), None) if len(column) else column
    missing = np.array([is_missing(v) for v in column], dtype=bool)
    if not len(column) or not missing.any():
        return column
    if method in ("pad", "last"):
        return pd.Series([None if m else v for v, m in zip(column, missing)], index=column.index, dtype=object).ffill(limit=limit)
    if method == "backfill":
        return pd.Series(list(column), index=column.index, dtype=object).bfill(limit=limit)
    allowed = within_limit(missing, limit, method)
    if method == "fixed":
        return pd.Series([how["value"] if a else v for v, a in zip(column, allowed)], index=column.index, dtype=object)
    known = [i for i, v in enumerate(column) if is_number(v)]
    times = np.array(column.index, dtype=float)
    if not known:
        return column
    if method == "linear":
        numbers = pd.Series([float(v) if is_number(v) else np.nan for v in column], index=pd.to_datetime(column.index, unit="ms"))
        full = numbers.interpolate(method="time", limit_direction="both").values
        return taken(column, full, allowed)
    # scaled: SciPy's own splines lose digits over epoch milliseconds
    # not where it decides which of two is nearer
    scale = 1.0 if method in ("nearest", "zero") else max(times[known[-1]] - times[known[0]], 1.0)
    x = (times - times[known[0]]) / scale
    y = np.array([float(column.iloc[i]) for i in known])
    degree = order if method in ("polynomial", "spline") else DEGREES.get(method)
    needed = {"nearest": 1, "zero": 1, "pchip": 2, "akima": 2, "from_derivatives": 2}.get(method) or degree + 1
    if len(known) < needed:
        return column
    within = (np.arange(len(x)) >= known[0]) & (np.arange(len(x)) <= known[-1])
    if len(known) == 1:
        return column
    curve = curve_of(method, x[known], y, degree)
    full = np.full(len(x), np.nan)
    full[within] = curve(x[within])
    return taken(column, full, allowed & within)


def curve_of(method, x, y, degree):
    if method == "nearest":
        return interpolate.interp1d(x, y, kind="nearest")
    if method in ("zero", "slinear", "quadratic", "cubic"):
        return interpolate.interp1d(x, y, kind=method)
    if method == "polynomial":
        return interpolate.interp1d(x, y, kind=degree)
    if method == "spline":
        return interpolate.InterpolatedUnivariateSpline(x, y, k=degree)
    if method == "from_derivatives":
        return interpolate.BPoly.from_derivatives(x, y.reshape(-1, 1))
    return interpolate.PchipInterpolator(x, y) if method == "pchip" else interpolate.Akima1DInterpolator(x, y)


def within_limit(missing, limit, method):
    if limit is None:
        return missing
    allowed = np.zeros(len(missing), dtype=bool)
    i = 0
    while i < len(missing):
        if not missing[i]:
            i += 1
            continue
        end = i
        while end < len(missing) and missing[end]:
            end += 1
        if method == "linear" and i == 0 and end < len(missing):
            allowed[max(i, end - limit):end] = True
        else:
            allowed[i:min(end, i + limit)] = True
        i = end
    return allowed


def taken(column, full, allowed):
    values = [full[i] if a else v for i, (v, a) in enumerate(zip(column, allowed))]
    return pd.Series(values, index=column.index, dtype=object)


def plain(value):
    if value is None or (isinstance(value, (float, np.floating)) and value != value) or value is pd.NaT:
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    return float(value) if isinstance(value, (float, np.floating)) else value


def compare(rows, expected):
    if [row[0] for row in rows] != [row[0] for row in expected]:
        return 0, [["times", [row[0] for row in rows][:3], [row[0] for row in expected][:3], len(rows), len(expected)]]
    differences = []
    cells = 0
    width = len(expected[0]) - 1 if expected else 0
    largest = [max([1.0] + [abs(r[c + 1]) for r in expected if is_number(r[c + 1])]) for c in range(width)]
    for row, wanted in zip(rows, expected):
        for c in range(width):
            cells += 1
            is_same = row[c + 1] == wanted[c + 1] and isinstance(row[c + 1], bool) == isinstance(wanted[c + 1], bool)
            if is_number(row[c + 1]) and is_number(wanted[c + 1]):
                is_same = abs(row[c + 1] - wanted[c + 1]) <= 1e-9 * largest[c]
            if not is_same:
                differences.append([wanted[0], c, row[c + 1], wanted[c + 1]])
    return cells, differences


main()
