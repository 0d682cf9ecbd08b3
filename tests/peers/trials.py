"""Reads exported trials with pandas and pyarrow, and prints what it sees as JSON.

    trials.py FILE.parquet FILE.csv FILE.schema.json

The types of the CSV columns are taken from the Table Schema. Values of both
files must be the same, column by column.
"""

import json
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

parquet, csv, schema = sys.argv[1:]
table = pq.read_table(parquet)
fields = json.load(open(schema))["fields"]
assert table.column_names == [f["name"] for f in fields], "other columns or another order"

ARROW = {
    "string": pa.string(),
    "object": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "array": pa.list_(pa.string()),
}
PANDAS = {
    "string": "string",
    "object": "string",
    "array": "string",
    "integer": "Int64",
    "number": "float64",
    "boolean": "boolean",
}
frame = pd.read_csv(
    csv,
    dtype={f["name"]: PANDAS[f["type"]] for f in fields},
    keep_default_na=False,
    na_values={f["name"]: [""] for f in fields},
)
assert len(frame) == table.num_rows, "other numbers of rows"
different = []
for f in fields:
    name, kind = f["name"], f["type"]
    got = table.schema.field(name).type
    if kind == "array":
        assert pa.types.is_list(got), f"{name} is {got}"
    else:
        assert got == ARROW[kind], f"{name} is {got}, not {ARROW[kind]}"
    for a, b in zip(table[name].to_pylist(), frame[name].tolist()):
        if kind == "array":
            b = json.loads(b)
        elif pd.isna(b):
            b = None
        if a != b:
            different.append(f"{name}: {a!r} and {b!r}")
            break
assert not different, "; ".join(different)

ok = frame[frame["status"] == "ok"]
print(
    json.dumps(
        {
            "rows": len(frame),
            "columns": len(fields),
            "ok": len(ok),
            "described": sum(1 for f in fields if f.get("description") or f.get("unit")),
            **{
                "sum." + f["name"]: float(ok[f["name"]].sum())
                for f in fields
                if f["name"].startswith("metric.")
            },
        }
    )
)
