# Runs in the process of a hosted model: loads the model once, and handles calls about many instances at a time. The
# result of a call is its values, or what is wrong with an instance, or how the model failed.
import os
import sys
import tempfile
import warnings

# One thread per process, since models share the machine. Libraries read these variables when they are imported.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
    os.environ[name] = "1"
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="", JOBLIB_MULTIPROCESSING="0")
os.environ.update(HOME="/", USER="model", KERAS_HOME="/")
# Nothing is writable here; this satisfies libraries that only ask for a temporary folder.
tempfile.tempdir = "/"


class Wrong(Exception):
    """A problem with an instance, reported to the caller."""

    def __init__(self, index, message):
        super().__init__(message)
        self.index = index


def start(argument, _host):
    sys.path.extend(argument["paths"])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        model = KINDS[argument["framework"]](argument["file"])
    said = [str(one.message) for one in heard if "version" in type(one.message).__name__.lower()]
    model.warnings = list(dict.fromkeys(said))[:5]

    def handle(method, params):
        if method == "describe":
            return {"version": model.version, "signatures": model.signatures(), "warnings": model.warnings}
        try:
            values = model.call(params)
        except Wrong as wrong:
            return {"wrong": str(wrong), "index": wrong.index}
        except Exception as error:
            return {"failed": type(error).__name__ + ": " + str(error)[:1000]}
        return {"values": values}

    return handle


def plain(values, count):
    """Converts an array to JSON values. Raises when it does not contain one value per instance, or contains values that
    are not numbers.
    """
    import numpy

    array = numpy.asarray(values)
    if array.ndim == 0 or len(array) != count:
        raise ValueError("it gave %s values for %s instances" % (len(array) if array.ndim else "no", count))
    if array.dtype.kind == "f" and not numpy.isfinite(array).all():
        at = int(numpy.argwhere(~numpy.isfinite(array))[0][0])
        raise ValueError("it gave %s for instance %s, which is not a number" % (array[at].tolist(), at))
    if array.dtype.kind in "SO":
        return [text_of(one) for one in array.tolist()]
    return array.tolist()


def text_of(value):
    if isinstance(value, list):
        return [text_of(one) for one in value]
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        import base64

        return {"b64": base64.b64encode(value).decode()}


def rows_of(instances, length):
    """Returns numbers by instance and feature; null becomes a missing value. `length`: number of features, if known."""
    import numpy

    for index, instance in enumerate(instances):
        if not isinstance(instance, list):
            raise Wrong(index, "is %s; send a list of %s numbers" % (shown(instance), length or "its"))
        if length is not None and len(instance) != length:
            raise Wrong(index, "has %s values (send %s)" % (len(instance), length))
        if len(instance) != len(instances[0]):
            raise Wrong(index, "has %s values, and instance 0 has %s" % (len(instance), len(instances[0])))
        for place, value in enumerate(instance):
            if isinstance(value, (dict, list)):
                raise Wrong(index, "has %s at %s, which is not a number" % (shown(value), place))
    if any(isinstance(value, str) for instance in instances for value in instance):
        return numpy.array(instances, dtype=object)
    return numpy.array(instances, dtype=float)


def shown(value):
    text = repr(value)
    return text if len(text) < 80 else text[:80] + "..."


class Sklearn:
    def __init__(self, file):
        import joblib
        import sklearn

        self.version = sklearn.__version__
        self.model = joblib.load(file)
        if not callable(getattr(self.model, "predict", None)):
            raise TypeError("%s has no method predict" % type(self.model).__name__)

    @property
    def features(self):
        count = getattr(self.model, "n_features_in_", None)
        return count if isinstance(count, int) else None

    def signatures(self):
        shape = [] if self.features is None else [{"type": "number", "shape": [self.features]}]
        return [{"operation": "predict", "inputs": shape}]

    def call(self, params):
        instances = params["instances"]
        rows = rows_of(instances, self.features)
        if not params.get("probabilities"):
            return self.plain(self.model.predict, rows)
        if not callable(getattr(self.model, "predict_proba", None)):
            raise Wrong(None, "probabilities: the model has none; leave it out")
        return self.plain(self.model.predict_proba, rows)

    def plain(self, predict, rows):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return plain(predict(rows), len(rows))
        except (ValueError, TypeError) as error:
            # how the library reports a text or a missing value
            known = ("could not convert", "contains NaN", "unsupported operand")
            if any(one in str(error) for one in known):
                raise Wrong(None, str(error).split("\n")[0]) from error
            raise


EARLY_STOPPED = (
    "it was trained with early stopping: best_iteration is %s, and predictions use all rounds, as Booster.predict does; "
    "save booster[:%s] for those up to the best"
)


class AboutVersion(UserWarning):
    """A note for the owner of the model, such as a warning of a library about versions."""


class Xgboost:
    def __init__(self, file):
        import xgboost

        self.version = xgboost.__version__
        self.model = xgboost.Booster({"nthread": 1})
        self.model.load_model(file)
        self.names = self.model.feature_names or []
        self.matrix = xgboost.DMatrix
        best = self.model.attr("best_iteration")
        if best is not None and self.model.num_boosted_rounds() > int(best) + 1:
            warnings.warn(EARLY_STOPPED % (best, int(best) + 1), AboutVersion)

    def signatures(self):
        return [{"operation": "predict", "inputs": [{"type": "number", "shape": [self.model.num_features()]}]}]

    def call(self, params):
        instances = [self.listed(index, one) for index, one in enumerate(params["instances"])]
        rows = rows_of(instances, self.model.num_features())
        if rows.dtype == object:
            for index, row in enumerate(instances):
                for place, value in enumerate(row):
                    if isinstance(value, str):
                        raise Wrong(index, "has %s at %s, which is not a number" % (shown(value), place))
        names = self.names or None
        return plain(self.model.predict(self.matrix(rows, feature_names=names)), len(instances))

    def listed(self, index, instance):
        if not isinstance(instance, dict):
            return instance
        for name in instance:
            if name not in self.names:
                raise Wrong(index, "has %s, which is no feature of the model (it has %s)" % (name, ", ".join(self.names)))
        lacking = [name for name in self.names if name not in instance]
        if lacking:
            raise Wrong(index, "has no %s; send null where a value is missing" % ", ".join(lacking[:20]))
        return [instance[name] for name in self.names]


class Torch:
    def __init__(self, file):
        import torch

        self.torch = torch
        self.version = torch.__version__
        self.model = torch.jit.load(file, map_location="cpu")
        self.model.eval()

    def signatures(self):
        return [{"operation": "predict", "inputs": []}]

    def call(self, params):
        import numpy

        instances = params["instances"]
        array = array_of(instances, float)
        is_whole = bool(numpy.equal(numpy.mod(array, 1), 0).all())
        with self.torch.no_grad():
            try:
                answer = self.model(self.torch.as_tensor(array, dtype=self.torch.float32))
            except RuntimeError as error:
                text = str(error)
                if is_whole and ("Long" in text or "Int" in text):
                    answer = self.model(self.torch.as_tensor(array, dtype=self.torch.int64))
                elif "shape" in text or "size" in text or "dimension" in text:
                    raise Wrong(None, "the instances do not fit: " + text.strip().split("\n")[-1][:300]) from error
                else:
                    raise
        return self.values(answer, len(instances))

    def values(self, answer, count):
        if isinstance(answer, dict):
            return named({name: plain(one.numpy(), count) for name, one in answer.items()}, count)
        if isinstance(answer, (list, tuple)):
            return [list(one) for one in zip(*[plain(one.numpy(), count) for one in answer])]
        return plain(answer.numpy(), count)


def named(columns, count):
    return [{name: column[at] for name, column in columns.items()} for at in range(count)]


def array_of(instances, kind):
    import numpy

    try:
        return numpy.array(instances, dtype=kind)
    except (ValueError, TypeError):
        for index, instance in enumerate(instances):
            try:
                shape = numpy.array(instance, dtype=kind).shape
            except (ValueError, TypeError):
                raise Wrong(index, "is %s; send numbers, in lists of one length" % shown(instance))
            first = numpy.array(instances[0], dtype=kind).shape
            if shape != first:
                raise Wrong(index, "has the shape %s, and instance 0 has %s" % (list(shape), list(first)))
        raise


class TensorFlow:
    METHODS = {"tensorflow/serving/classify": "classify", "tensorflow/serving/regress": "regress"}
    TYPES = {"string": "text", "bool": "boolean"}

    def __init__(self, file):
        import tensorflow
        from tensorflow.core.protobuf import saved_model_pb2

        self.tf = tensorflow
        self.version = tensorflow.__version__
        folder = os.path.dirname(file)
        self.model = tensorflow.saved_model.load(folder)
        saved = saved_model_pb2.SavedModel()
        with open(file, "rb") as content:
            saved.ParseFromString(content.read())
        methods = {}
        for graph in saved.meta_graphs:
            methods.update({name: one.method_name for name, one in graph.signature_def.items()})
        self.operations = {name: self.METHODS.get(methods.get(name), "predict") for name in self.model.signatures}
        if not self.operations:
            raise ValueError("it has no signatures; export it with one")

    def inputs(self, name):
        return dict(sorted(self.model.signatures[name].structured_input_signature[1].items()))

    def takes_examples(self, name):
        """Serializes examples in the form that estimators expect."""
        specs = list(self.inputs(name).values())
        one = specs[0] if len(specs) == 1 else None
        return self.operations[name] != "predict" and one is not None and one.dtype == self.tf.string and one.shape.rank == 1

    def signatures(self):
        return [{"name": name, "operation": operation, "inputs": self.described(name)} for name, operation in self.operations.items()]

    def described(self, name):
        if self.takes_examples(name):
            return []
        found = []
        for key, spec in self.inputs(name).items():
            if spec.shape.rank is None:
                return []
            kind = self.TYPES.get(spec.dtype.name, "integer" if spec.dtype.is_integer else "number")
            found.append({"name": key, "type": kind, "shape": spec.shape.as_list()[1:]})
        return found

    def call(self, params):
        instances = params["instances"]
        name = self.chosen(params)
        if self.takes_examples(name):
            [key] = self.inputs(name)
            feeds = {key: self.tf.constant([self.example(one) for one in instances])}
        else:
            feeds = self.feeds(name, instances)
        answer = self.model.signatures[name](**feeds)
        columns = {key: plain(value.numpy(), len(instances)) for key, value in answer.items()}
        return self.shaped(params["operation"], columns, len(instances))

    def chosen(self, params):
        name = params.get("signature")
        wanted = params["operation"]
        if name is not None:
            if name not in self.operations:
                raise Wrong(None, "signature_name: there is no %s (the model has %s)" % (shown(name), ", ".join(self.operations)))
            if wanted != "predict" and self.operations[name] != wanted:
                raise Wrong(None, "signature_name: %s is for %s" % (name, self.operations[name]))
            return name
        fitting = [one for one, operation in self.operations.items() if operation == wanted]
        if "serving_default" in self.operations and (wanted == "predict" or "serving_default" in fitting):
            return "serving_default"
        if not fitting:
            raise Wrong(None, "the model has no signature for %s; it has %s" % (wanted, ", ".join(self.operations)))
        return fitting[0]

    def feeds(self, name, instances):
        specs = self.inputs(name)
        feeds = {}
        for index, instance in enumerate(instances):
            if not isinstance(instance, dict) or set(instance) == {"b64"}:
                if len(specs) != 1:
                    raise Wrong(index, "is %s; send an object of %s" % (shown(instance), ", ".join(specs)))
                continue
            for key in instance:
                if key not in specs:
                    raise Wrong(index, "has %s, which is no input of the model (it has %s)" % (key, ", ".join(specs)))
            for key in specs:
                if key not in instance:
                    raise Wrong(index, "has no %s" % key)
        for key, spec in specs.items():
            values = [one[key] if isinstance(one, dict) and set(one) != {"b64"} else one for one in instances]
            feeds[key] = self.tensor(key, spec, values)
        return feeds

    def tensor(self, key, spec, values):
        kind = object if spec.dtype == self.tf.string else spec.dtype.as_numpy_dtype
        if kind is object:
            values = [self.bytes_of(index, one) for index, one in enumerate(values)]
        else:
            for index, one in enumerate(values):
                if has_text(one):
                    raise Wrong(index, "has %s for %s, which wants %s" % (shown(one), key, spec.dtype.name))
        array = array_of(values, kind)
        wanted = spec.shape.as_list()[1:] if spec.shape.rank is not None else list(array.shape[1:])
        found = list(array.shape[1:])
        if len(wanted) != len(found) or any(a is not None and a != b for a, b in zip(wanted, found)):
            raise Wrong(0, "has the shape %s for %s, which wants %s" % (found, key, wanted))
        return self.tf.constant(array, dtype=spec.dtype)

    def bytes_of(self, index, value):
        if isinstance(value, list):
            return [self.bytes_of(index, one) for one in value]
        if isinstance(value, dict) and set(value) == {"b64"}:
            import base64

            try:
                return base64.b64decode(value["b64"], validate=True)
            except (ValueError, TypeError) as error:
                raise Wrong(index, "has a b64 that is none") from error
        if isinstance(value, str):
            return value.encode()
        raise Wrong(index, "has %s, which is no text" % shown(value))

    def example(self, features):
        train = self.tf.train
        made = {}
        for name, value in features.items():
            values = value if isinstance(value, list) else [value]
            if all(isinstance(one, int) and not isinstance(one, bool) for one in values):
                made[name] = train.Feature(int64_list=train.Int64List(value=values))
            elif all(isinstance(one, (int, float)) for one in values):
                made[name] = train.Feature(float_list=train.FloatList(value=values))
            else:
                made[name] = train.Feature(bytes_list=train.BytesList(value=[self.bytes_of(None, one) for one in values]))
        return train.Example(features=train.Features(feature=made)).SerializeToString()

    def shaped(self, operation, columns, count):
        if operation == "classify":
            scores = columns.get("scores") or columns.get("outputs") or next(iter(columns.values()))
            labels = columns.get("classes") or [[""] * len(row) for row in scores]
            return [[[str(label), score] for label, score in zip(*pair)] for pair in zip(labels, scores)]
        if operation == "regress":
            values = columns.get("outputs") or next(iter(columns.values()))
            return [one[0] if isinstance(one, list) else one for one in values]
        if len(columns) == 1:
            return next(iter(columns.values()))
        return named(columns, count)


def has_text(value):
    return any(map(has_text, value)) if isinstance(value, list) else isinstance(value, (str, dict)) or value is None


class Custom:
    """A Python object of custom classes, which are part of its file or are modules in lib/."""

    def __init__(self, file):
        import dill

        self.version = dill.__version__
        lib = os.path.join(os.path.dirname(file), "lib")
        wheels = [name for name in os.listdir(lib) if name.endswith(".whl")] if os.path.isdir(lib) else []
        sys.path[:0] = [lib, *(os.path.join(lib, name) for name in wheels)]
        with open(file, "rb") as content:
            self.model = dill.load(content)
        self.predict = getattr(self.model, "predict", self.model)
        if not callable(self.predict):
            raise TypeError("%s has no method predict, and cannot be called" % type(self.model).__name__)

    def signatures(self):
        count = getattr(self.model, "n_features_in_", None)
        return [{"operation": "predict", "inputs": [{"type": "number", "shape": [count]}] if isinstance(count, int) else []}]

    def call(self, params):
        import numpy

        instances = params["instances"]
        is_named = any(isinstance(one, dict) for one in instances)
        try:
            rows = instances if is_named else numpy.array(instances)
        except ValueError as error:
            raise Wrong(None, "the instances have several shapes; send lists of one length") from error
        return plain(self.predict(rows), len(instances))


KINDS = {"sklearn": Sklearn, "xgboost": Xgboost, "pytorch": Torch, "tensorflow": TensorFlow, "custom": Custom}
