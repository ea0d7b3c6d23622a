"""I8: tables from CSV, Excel, a crawled page, databases; every library of the set that reads or writes them."""


def test_csv_of_a_russian_excel(person):
    assert person.python('''
import chardet, pandas as pd
raw = open("sales_ru_cp1251.csv", "rb").read()
print(chardet.detect(raw)["encoding"].lower())
print(pd.read_csv("sales_ru_cp1251.csv", sep=";", decimal=",", thousands=" ", encoding="cp1251")["Заказы"].sum())
''', ["sales_ru_cp1251.csv"]).text.split("\n")[1] == "1449"


def test_csv_with_byte_order_mark_and_carriage_returns(person):
    assert person.python('''
import pandas as pd
t = pd.read_csv("umsatz_bom_crlf.csv", thousands=".", decimal=",")
print(list(t.columns), t["Umsatz (€)"].sum(), t["Straße"].tolist())
''', ["umsatz_bom_crlf.csv"]).text == "['date', 'Umsatz (€)', 'Straße'] 2221.56 ['Königsallee 7', 'Am Markt, 3']\n"


def test_table_from_a_page(person):
    run = person.python('''
import io, pandas as pd
from bs4 import BeautifulSoup
html = "<html><body><h1>Цены</h1><table><tr><th>Товар</th><th>Цена</th></tr><tr><td>Хлеб</td><td>45</td></tr><tr><td>Сыр</td><td>620</td></tr></table></body></html>"
soup = BeautifulSoup(html, "lxml"); print(soup.h1.text, [td.text for td in BeautifulSoup(html, "html5lib").select("td")])
(table,) = pd.read_html(io.StringIO(html)); table.to_csv("prices.csv", index=False); print(table["Цена"].sum())
''')
    assert run.text == "Цены ['Хлеб', '45', 'Сыр', '620']\n665\n"
    assert run.made("prices.csv")["rows"] == [["Товар", "Цена"], ["Хлеб", "45"], ["Сыр", "620"]]


def test_workbook_with_formats_formulas_and_a_chart(person):
    facts = person.python('''
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font, PatternFill
book = Workbook(); sheet = book.active; sheet.title = "Отчёт"
for row in [("Город", "Сумма"), ("Омск", 10.5), ("Тула", 20)]: sheet.append(row)
sheet["B4"] = "=SUM(B2:B3)"
for cell in sheet[1]: cell.font = Font(bold=True); cell.fill = PatternFill("solid", fgColor="DDEEFF")
chart = BarChart(); chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True); sheet.add_chart(chart, "D2")
book.save("report.xlsx")
''').made("report.xlsx")
    assert facts["sheets"]["Отчёт"][:4] == [["Город", "Сумма"], ["Омск", 10.5], ["Тула", 20], [None, "=SUM(B2:B3)"]]
    assert facts["charts"] == 1


def test_xlsxwriter_through_pandas(person):
    facts = person.python('''
import pandas as pd
with pd.ExcelWriter("two.xlsx", engine="xlsxwriter") as writer:
    pd.DataFrame({"a": [1, 2]}).to_excel(writer, sheet_name="one", index=False)
    pd.DataFrame({"b": ["x"]}).to_excel(writer, sheet_name="two", index=False)
    writer.sheets["one"].conditional_format("A2:A3", {"type": "data_bar"})
    chart = writer.book.add_chart({"type": "line"}); chart.add_series({"values": "=one!$A$2:$A$3"}); writer.sheets["one"].insert_chart("C1", chart)
''').made("two.xlsx")
    assert facts["sheets"] == {"one": [["a"], [1], [2]], "two": [["b"], ["x"]]}


def test_formats_of_spreadsheets(person):
    run = person.python('''
import pandas as pd, xlrd, pyxlsb
t = pd.DataFrame({"k": ["а", "б"], "v": [1.5, 2.5]})
t.to_excel("t.ods", engine="odf", index=False)
print(pd.read_excel("t.ods", engine="odf")["v"].sum(), xlrd.__version__[:1], pyxlsb.__name__)
''')
    assert run.text == "4.0 2 pyxlsb\n"


def test_parquet_arrow_duckdb_polars(person):
    run = person.python('''
import pandas as pd, pyarrow as pa, pyarrow.parquet as pq, duckdb, polars as pl
df = pd.DataFrame({"city": ["A", "B", "A"], "n": [1, 2, 3]})
df.to_parquet("t.parquet"); print(pq.read_table("t.parquet").num_rows, pa.table({"x": [1]}).num_columns)
print(duckdb.sql("select city, sum(n) as s from 't.parquet' group by city order by city").fetchall())
print(pl.read_parquet("t.parquet").group_by("city").agg(pl.col("n").sum()).sort("city").rows())
''')
    assert run.text == "3 1\n[('A', 4), ('B', 2)]\n[('A', 4), ('B', 2)]\n"


def test_sqlite_in_python_and_bash(person):
    run = person.bash('''
set -euo pipefail
sqlite3 shop.db "create table t(name, n); insert into t values('а', 1), ('б', 2);"
sqlite3 -csv -header shop.db "select * from t order by n desc" > t.csv
python3 -c "import sqlite3; print(sqlite3.connect('shop.db').execute('select sum(n) from t').fetchone()[0])"
''')
    assert run.text == "3\n"
    assert run.made("t.csv")["rows"] == [["name", "n"], ["б", "2"], ["а", "1"]]


def test_statistical_formats(person):
    run = person.python('''
import h5py, numpy as np, pandas as pd, pyreadstat
df = pd.DataFrame({"age": [20.0, 30.0], "name": ["Аня", "Олег"]})
pyreadstat.write_sav(df, "s.sav"); print(pyreadstat.read_sav("s.sav")[0]["name"].tolist())
df.to_stata("s.dta", version=118, write_index=False); print(pd.read_stata("s.dta")["age"].mean())
with h5py.File("a.h5", "w") as f: f["x"] = np.arange(4)
print(h5py.File("a.h5")["x"][:].sum())
''')
    assert run.text == "['Аня', 'Олег']\n25.0\n6\n"


def test_tables_as_text(person):
    run = person.python('''
from tabulate import tabulate
from prettytable import PrettyTable
from rich.console import Console
from rich.table import Table
print(tabulate([["а", 1]], headers=["k", "v"], tablefmt="github"))
t = PrettyTable(["k"]); t.add_row(["б"]); print(t)
table = Table(title="Итог"); table.add_column("k"); table.add_row("в"); Console(width=40).print(table)
import pandas as pd; print(pd.DataFrame({"k": [1]}).to_markdown(index=False))
''')
    assert "| а   |   1 |" in run.text and "| б |" in run.text and "Итог" in run.text and "|   k |" in run.text


def test_json_xml_yaml(person):
    run = person.python('''
import json, jsonschema, xmltodict, yaml
from lxml import etree
print(xmltodict.parse("<a><b>1</b><b>2</b></a>")["a"]["b"], yaml.safe_load("x: [1, да]"))
print(etree.fromstring("<r><i n='1'/><i n='2'/></r>").xpath("sum(//i/@n)"))
jsonschema.validate({"n": 1}, {"type": "object", "required": ["n"]})
try: jsonschema.validate({}, {"required": ["n"]})
except jsonschema.ValidationError as e: print(e.message)
''')
    assert run.text == "['1', '2'] {'x': [1, 'да']}\n3.0\n'n' is a required property\n"
