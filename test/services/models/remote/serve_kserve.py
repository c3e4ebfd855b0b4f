# A model of scikit-learn behind KServe's own server: the file of the model, and a port.
import sys

import joblib
import numpy
from kserve import InferOutput, InferResponse, Model, ModelServer

path, port = sys.argv[1], int(sys.argv[2])


class Fixture(Model):
    def __init__(self):
        super().__init__("fixture")
        self.model = joblib.load(path)
        self.ready = True

    def predict(self, payload, headers=None):
        if isinstance(payload, dict):
            rows = numpy.array(payload["instances"], dtype=float)
            return {"predictions": self.model.predict(rows).tolist()}
        values = self.model.predict(payload.inputs[0].as_numpy())
        output = InferOutput(name="predict", shape=list(values.shape), datatype="INT64", data=values.tolist())
        return InferResponse(response_id="1", model_name=self.name, infer_outputs=[output])


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    ModelServer(http_port=port, enable_grpc=False, workers=1).start([Fixture()])
