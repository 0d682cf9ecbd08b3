"""Opens an exported file store with MLflow and prints what it sees as JSON.

    mlflow_store.py DIR           runs by experiment: parameters, metrics, tags
    mlflow_store.py DIR serve     also through the REST interface of `mlflow server`
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"

from mlflow.entities import ViewType
from mlflow.tracking import MlflowClient

folder = pathlib.Path(sys.argv[1]).resolve()
client = MlflowClient(folder.as_uri())
seen = {"experiments": {}, "runs": {}}
for e in client.search_experiments(view_type=ViewType.ALL):
    runs = client.search_runs([e.experiment_id], max_results=1000)
    seen["experiments"][e.name] = len(runs)
    for r in runs:
        history = {
            name: [[m.step, m.value] for m in client.get_metric_history(r.info.run_id, name)]
            for name in r.data.metrics
            if name.startswith("series/")
        }
        seen["runs"][r.info.run_id] = {
            "experiment": e.name,
            "name": r.info.run_name,
            "status": r.info.status,
            "start": r.info.start_time,
            "end": r.info.end_time,
            "params": r.data.params,
            "metrics": r.data.metrics,
            "tags": r.data.tags,
            "history": history,
            "artifacts": sorted(a.path for a in client.list_artifacts(r.info.run_id)),
        }


def call(port, path, body):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/2.0/mlflow/{path}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


if sys.argv[2:] == ["serve"]:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", folder.as_uri(),
         "--host", "127.0.0.1", "--port", str(port), "--workers", "1"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )
    try:
        until = time.time() + 240
        while True:
            try:
                found = call(port, "experiments/search", {"max_results": 100})
                break
            except OSError:
                if server.poll() is not None or time.time() > until:
                    server.kill()
                    sys.exit("mlflow ui does not answer: " + server.stderr.read().decode()[-2000:])
                time.sleep(0.5)
        seen["served"] = {}
        for e in found["experiments"]:
            answer = call(port, "runs/search", {"experiment_ids": [e["experiment_id"]], "max_results": 1000})
            seen["served"][e["name"]] = len(answer.get("runs", []))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20) as page:
            seen["page"] = "<html" in page.read().decode().lower()
    finally:
        os.killpg(server.pid, 15)
        server.wait(20)

json.dump(seen, sys.stdout)
