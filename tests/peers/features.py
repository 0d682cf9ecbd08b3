"""Features of pictures by a small pretrained network, for dataset=npy:PATH (docs/kahm.md).

    pip install numpy pillow onnx onnxruntime rapidocr-onnxruntime
    python features.py PICTURES features.npy

PICTURES is a folder of pictures for each class. features.npy has a row for each picture:
what goes into the last layer of the network that the package ships, a MobileNetV3 which
tells upright text from text on its head. It was trained on other pictures, so that its
features are public functions; another network is named by --network FILE.onnx, if its last
layer is a product. features.labels.npy has the classes. The range over all features is
printed: take that of public pictures as low and high, never that of private ones.
"""

import argparse
import importlib.util
import pathlib

import numpy as np
import onnx
import onnxruntime
from PIL import Image


def shipped():
    """The network of the package, which is not imported."""
    package = importlib.util.find_spec("rapidocr_onnxruntime").submodule_search_locations[0]
    return pathlib.Path(package) / "models" / "ch_ppocr_mobile_v2.0_cls_infer.onnx"


def session_of(path):
    """The network up to the input of its last product."""
    model = onnx.load(path)
    last = [node for node in model.graph.node if node.op_type in ("MatMul", "Gemm")][-1]
    model.graph.output.append(onnx.helper.make_empty_tensor_value_info(last.input[0]))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session, last.input[0]


def pixels(path, height, width):
    """A picture in [-1, 1], as the network was trained: 3 x height x width."""
    picture = Image.open(path).convert("RGB").resize((width, height), Image.BILINEAR)
    return (np.asarray(picture, np.float32).transpose(2, 0, 1) / 255 - 0.5) / 0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", type=pathlib.Path)
    parser.add_argument("features", type=pathlib.Path)
    parser.add_argument("--network", type=pathlib.Path, help="another network, FILE.onnx")
    parser.add_argument("--size", type=int, nargs=2, default=(48, 192), metavar=("HEIGHT", "WIDTH"))
    args = parser.parse_args()
    if args.features.suffix != ".npy":
        parser.error("the features go into a file NAME.npy")
    files = sorted(p for p in args.pictures.glob("*/*") if p.suffix.lower() in (".png", ".jpg", ".jpeg", ".gif"))
    if not files:
        parser.error(f"{args.pictures} has no folders with pictures")
    session, wanted = session_of(args.network or shipped())
    name = session.get_inputs()[0].name
    rows = []
    for path in files:  # one at a time: a network may be made for that
        rows.append(session.run([wanted], {name: pixels(path, *args.size)[None]})[0].reshape(-1))
    features = np.stack(rows).astype("<f4")
    np.save(args.features, features)
    np.save(args.features.with_suffix(".labels.npy"), np.array([p.parent.name for p in files]))
    rows, columns = features.shape
    print(f"{rows} pictures with {columns} features, from {features.min():.4g} to {features.max():.4g}")


if __name__ == "__main__":
    main()
