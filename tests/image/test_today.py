"""I8: scripts as a model writes them for what people ask: each runs without a word on stderr, and what it makes is looked into."""
import json

import pytest


def test_dates_over_zones_and_summer_time(person):
    run = person.python('''
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones
import calendar

meeting = datetime(2026, 3, 29, 9, 30, tzinfo=ZoneInfo("Europe/Berlin"))
for name in ("America/New_York", "Asia/Kolkata", "Asia/Tokyo", "Europe/Kyiv"):
    print(f"{name:<18}{meeting.astimezone(ZoneInfo(name)):%a %d %b %H:%M %Z}")
before = datetime(2026, 3, 28, 12, tzinfo=ZoneInfo("Europe/Berlin"))
print((before + timedelta(days=1)).astimezone(timezone.utc) - before.astimezone(timezone.utc))
print(len(available_timezones()) > 400, date(2028, 2, 28) + timedelta(days=2), *map(int, calendar.monthrange(2028, 2)))
print(sum(1 for d in range(365) if (date(2026, 1, 1) + timedelta(d)).weekday() < 5), "working days")
from dateutil.relativedelta import relativedelta
from dateutil.rrule import MONTHLY, FR, rrule
print(date(2024, 1, 31) + relativedelta(months=1), [f"{d:%d.%m}" for d in rrule(MONTHLY, count=3, byweekday=FR(-1), dtstart=datetime(2026, 1, 1))])
''')
    assert run.text.splitlines() == [
        "America/New_York  Sun 29 Mar 03:30 EDT", "Asia/Kolkata      Sun 29 Mar 13:00 IST", "Asia/Tokyo        Sun 29 Mar 16:30 JST",
        "Europe/Kyiv       Sun 29 Mar 10:30 EEST", "23:00:00", "True 2028-03-01 1 29", "261 working days",
        "2024-02-29 ['30.01', '27.02', '27.03']"]


def test_regular_expressions_of_unicode(person):
    run = person.python(r'''
import re, unicodedata
import regex
text = "Заказ №17: Анна-Мария Ёлкина <anna@пример.рф>, 1 234,50 ₽; Zoë Müller, +49 30 901820; 你好世界 x2"
print(re.findall(r"\b[А-ЯЁ][а-яё]+(?:-[А-ЯЁ][а-яё]+)?", text))
print(regex.findall(r"\p{Han}+|\p{Sc}", text), [len(part) for part in regex.findall(r"\X", "e\u0301👨‍👩‍👧🇩🇪")])
print(re.search(r"[\d.]+\b", re.sub(r"(?P<r>\d{1,3}(?: \d{3})*),(?P<c>\d\d) ₽", lambda m: m["r"].replace(" ", "") + "." + m["c"], text).partition(">")[2])[0])
print(unicodedata.normalize("NFKD", "Zoë Ångström").encode("ascii", "ignore").decode(), "ИЖЕВСК".casefold(), "straße".upper())
''')
    assert run.text.splitlines()[0] == "['Заказ', 'Анна-Мария', 'Ёлкина']"
    assert run.text.splitlines()[1:3] == ["['₽', '你好世界'] [2, 5, 2]", "1234.50"]
    assert run.text.splitlines()[3] == "Zoe Angstrom ижевск STRASSE"


def test_csv_in_every_dialect(person, tmp_path):
    old = tmp_path / "old.csv"
    old.write_bytes("Город;Сумма\r\n\"Нижний; Новгород\";1 234,5\r\nТула;17\r\n".encode("cp1251"))
    run = person.python('''
import csv, chardet, pandas as pd
raw = open("old.csv", "rb").read()
encoding = chardet.detect(raw)["encoding"]
dialect = csv.Sniffer().sniff(raw.decode("cp1251"))
rows = list(csv.reader(raw.decode("cp1251").splitlines(), dialect))
print(encoding.lower(), repr(dialect.delimiter), rows[1])
table = pd.read_csv("old.csv", sep=";", encoding="cp1251", decimal=",", thousands=" ")
print(table["Сумма"].sum(), table.dtypes["Сумма"])
with open("new.csv", "w", newline="", encoding="utf-8-sig") as f:
    w = csv.DictWriter(f, ["city", "note"], dialect="excel", quoting=csv.QUOTE_MINIMAL)
    w.writeheader(); w.writerow({"city": "Tula", "note": 'says "hi",\\nand goes'})
pd.read_csv("new.csv").to_csv("tabs.csv", sep="\\t", index=False)
''', [old])
    assert run.text == "windows-1251 ';' ['Нижний; Новгород', '1 234,5']\n1251.5 float64\n"
    assert run.made("new.csv")["rows"] == [["city", "note"], ["Tula", 'says "hi",\nand goes']]
    assert run.made("tabs.csv")["text"].startswith("city\tnote\n")


def test_archives_within_archives(person):
    run = person.python('''
import gzip, hashlib, io, lzma, pathlib, shutil, tarfile, zipfile
from compression import zstd
folder = pathlib.Path("project/src"); folder.mkdir(parents=True)
for i in range(3): (folder / f"файл-{i}.txt").write_text("строка\\n" * 1000)
shutil.make_archive("project", "gztar", ".", "project")
with zipfile.ZipFile("all.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
    z.write("project.tar.gz"); z.writestr("readme.txt", "see inside")
with zipfile.ZipFile("all.zip") as z:
    assert z.testzip() is None
    with tarfile.open(fileobj=io.BytesIO(z.read("project.tar.gz"))) as t:
        print(sorted(m.name for m in t if m.isfile()))
        t.extractall("copy", filter="data")
data = (folder / "файл-0.txt").read_bytes()
print(len(lzma.compress(data)) < 200, gzip.decompress(gzip.compress(data)) == data, zstd.decompress(zstd.compress(data)) == data)
print(hashlib.sha256(pathlib.Path("copy/project/src/файл-2.txt").read_bytes()).hexdigest() == hashlib.sha256(data).hexdigest())
''')
    assert run.text == "['project/src/файл-0.txt', 'project/src/файл-1.txt', 'project/src/файл-2.txt']\nTrue True True\nTrue\n"


def test_a_database_of_orders(person):
    run = person.python('''
import sqlite3, pandas as pd
db = sqlite3.connect("shop.db")
db.executescript("""
create table customers (id integer primary key, name text not null, data text);
create table orders (id integer primary key, customer integer references customers, day text, total real);
create virtual table notes using fts5 (body);
""")
with db:
    db.executemany("insert into customers (name, data) values (?, ?)", [("Анна", '{"vip": true}'), ("Zoë", '{"vip": false}')])
    db.executemany("insert into orders (customer, day, total) values (?, ?, ?)", [(1 + i % 2, f"2026-01-{i + 1:02}", i * 10.5) for i in range(20)])
    db.execute("insert into notes values ('доставка до двери')")
query = """select name, day, total, sum(total) over (partition by customer order by day) as running,
           rank() over (order by total desc) as place from orders join customers c on c.id = customer"""
t = pd.read_sql(query, db)
print(t[t.place <= 2][["name", "running"]].to_string(index=False))
print(db.execute("select name from customers where json_extract(data, '$.vip')").fetchall(), db.execute("select count(*) from notes where notes match 'двери'").fetchone()[0])
db.close()
''')
    assert [line.split() for line in run.text.splitlines()] == [["name", "running"], ["Анна", "945.0"], ["Zoë", "1050.0"], ["[('Анна',)]", "1"]]


def test_asynchronous_tasks_threads_and_processes(person):
    run = person.python('''
import asyncio, time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

def square(n): return n * n

async def worker(name, queue, done):
    while (n := await queue.get()) is not None:
        await asyncio.sleep(0.01)
        done.append((name, await asyncio.to_thread(square, n)))

async def main():
    queue, done = asyncio.Queue(), []
    for n in [*range(12), None, None, None]: queue.put_nowait(n)
    async with asyncio.TaskGroup() as group:
        for name in "abc": group.create_task(worker(name, queue, done))
    try:
        async with asyncio.timeout(0.05): await asyncio.sleep(5)
    except TimeoutError:
        print("timed out")
    server = await asyncio.start_server(lambda r, w: (w.write(b"pong"), w.close()), "127.0.0.1", 0)
    reader, _ = await asyncio.open_connection(*server.sockets[0].getsockname())
    print(await reader.read(), sorted(v for _, v in done) == [n * n for n in range(12)], len({name for name, _ in done}))
    process = await asyncio.create_subprocess_exec("seq", "3", stdout=asyncio.subprocess.PIPE)
    print((await process.communicate())[0].split())

if __name__ == "__main__":
    asyncio.run(main())
    with ThreadPoolExecutor(4) as threads, ProcessPoolExecutor(2) as processes:
        print(list(threads.map(square, range(4))), list(processes.map(square, range(4))))
''')
    assert run.text == "timed out\nb'pong' True 3\n[b'1', b'2', b'3']\n[0, 1, 4, 9] [0, 1, 4, 9]\n"


def test_a_video_put_together_by_filters(person):
    run = person.python('''
import subprocess
def ffmpeg(*words): subprocess.run(["ffmpeg", "-y", "-hide_banner", "-loglevel", "error", "-threads", "1", *words], check=True)
ffmpeg("-f", "lavfi", "-i", "testsrc=s=320x180:r=10:d=2", "-f", "lavfi", "-i", "sine=440:d=2", "-shortest", "-pix_fmt", "yuv420p", "a.mp4")
ffmpeg("-f", "lavfi", "-i", "color=navy:s=320x180:r=10:d=2", "-f", "lavfi", "-i", "anullsrc=r=44100:cl=mono", "-shortest",
       "-vf", "drawtext=text='Конец — 完':fontcolor=white:fontsize=36:x=(w-tw)/2:y=(h-th)/2,fade=in:0:5", "-pix_fmt", "yuv420p", "b.mp4")
ffmpeg("-i", "a.mp4", "-i", "b.mp4", "-filter_complex",
       "[0:v]scale=240:136,setsar=1[x];[1:v]scale=240:136,setsar=1[y];[0:a]aresample=44100,aformat=channel_layouts=mono[p];"
       "[1:a]aformat=channel_layouts=mono[q];[x][p][y][q]concat=n=2:v=1:a=1[v][s];[s]loudnorm[t]",
       "-map", "[v]", "-map", "[t]", "-ar", "44100", "joined.mp4")
ffmpeg("-i", "joined.mp4", "-vf", "fps=5,scale=160:-1,split[a][b];[a]palettegen[p];[b][p]paletteuse", "short.gif")
ffmpeg("-i", "joined.mp4", "-vf", "select='eq(n,5)+eq(n,15)+eq(n,35)',tile=3x1", "-frames:v", "1", "-fps_mode", "vfr", "sheet.png")
''')
    joined = run.made("joined.mp4")
    assert sorted(joined["streams"]) == ["audio", "video"] and 3.8 < joined["seconds"] < 4.3 and joined["width"] == 240 and joined["frames"] == 40
    assert abs(joined["hertz"] - 440) < 5
    assert run.picture("short.gif", 160, 80)["frames"] == 20
    run.picture("sheet.png", 720, 136)


def test_sound_as_a_wave_and_a_spectrogram(person):
    run = person.python('''
import numpy as np, soundfile as sf, matplotlib.pyplot as plt
from scipy import signal
from scipy.io import wavfile
rate = 8000
t = np.arange(rate * 2) / rate
chirp = signal.chirp(t, 200, 2, 2000) * np.hanning(t.size)
wavfile.write("chirp.wav", rate, (chirp * 32767).astype(np.int16))
sf.write("chirp.flac", chirp, rate); sf.write("chirp.mp3", chirp, rate)
read, rate = sf.read("chirp.flac")
fig, (a, b) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
a.plot(t, read, lw=.3); a.set(ylabel="Амплитуда")
f, s, power = signal.spectrogram(read, rate, nperseg=256)
image = b.pcolormesh(s, f, 10 * np.log10(power + 1e-9), cmap="magma"); b.set(xlabel="Время, с", ylabel="Гц"); fig.colorbar(image, ax=b, label="дБ")
fig.savefig("sound.png")
print(f[power[:, power.shape[1] // 2].argmax()])
''')
    run.picture("sound.png", 800, 500, colours=100)
    assert 1000 <= float(run.text) <= 1200
    assert run.made("chirp.mp3")["seconds"] > 1.9 and run.made("chirp.wav")["rms"] > 0.3


def test_pdfs_merged_with_page_numbers_and_a_mark(person):
    run = person.python('''
import io
from pypdf import PdfReader, PdfWriter, Transformation
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas
pdfmetrics.registerFont(TTFont("DejaVu", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"))
def make(name, pages):
    c = canvas.Canvas(name, pagesize=A4)
    for i in range(pages): c.setFont("DejaVu", 18); c.drawString(72, 760, f"Документ {name}, лист {i + 1}"); c.showPage()
    c.save()
make("a.pdf", 2); make("b.pdf", 3)
writer = PdfWriter()
for name in ("a.pdf", "b.pdf"): writer.append(name, outline_item=name)
for n, page in enumerate(writer.pages, 1):
    stamp = io.BytesIO(); c = canvas.Canvas(stamp, pagesize=A4); c.setFont("DejaVu", 9)
    c.drawCentredString(A4[0] / 2, 30, f"Страница {n} из {len(writer.pages)}"); c.setFillAlpha(.1); c.rotate(45); c.setFont("DejaVu", 60); c.drawString(200, 100, "ЧЕРНОВИК"); c.save()
    page.merge_page(PdfReader(stamp).pages[0])
writer.pages[4].rotate(90)
writer.add_metadata({"/Title": "Сводный отчёт"})
writer.write("merged.pdf")
writer.encrypt("secret", algorithm="AES-256"); writer.write("locked.pdf")
print(PdfReader("merged.pdf").metadata.title, [o.title for o in PdfReader("merged.pdf").outline])
''')
    merged = run.made("merged.pdf")
    assert merged["pages"] == 5 and "Страница 5 из 5" in merged["text"] and "лист 3" in merged["text"] and "ЧЕРНОВИК" in merged["text"]
    assert run.text == "Сводный отчёт ['a.pdf', 'b.pdf']\n"
    assert "locked.pdf" in {file["path"] for file in run.answer["files"]}


def test_a_report_for_word_with_a_chart(person):
    facts = person.python('''
import io, matplotlib.pyplot as plt
from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor
fig, ax = plt.subplots(figsize=(5, 3)); ax.bar(["Q1", "Q2", "Q3"], [3, 5, 4]); ax.set_title("Выручка, млн ₽")
picture = io.BytesIO(); fig.savefig(picture, dpi=150); plt.close(fig); picture.seek(0)
doc = Document()
doc.styles["Normal"].font.name = "Calibri"; doc.styles["Normal"].font.size = Pt(11)
doc.add_heading("Отчёт за 2026 год", 0)
p = doc.add_paragraph("Выручка выросла на "); run = p.add_run("12 %"); run.bold = True; run.font.color.rgb = RGBColor(0, 128, 0)
doc.add_picture(picture, width=Cm(14)); doc.paragraphs[-1].alignment = WD_ALIGN_PARAGRAPH.CENTER
t = doc.add_table(rows=1, cols=2, style="Light Grid Accent 1")
for cell, text in zip(t.rows[0].cells, ("Квартал", "млн ₽")): cell.text = text
for name, value in (("Q1", 3), ("Q2", 5)):
    row = t.add_row().cells; row[0].text, row[1].text = name, str(value)
doc.add_paragraph("первый", style="List Number"); doc.add_page_break()
field = OxmlElement("w:fldSimple"); field.set(qn("w:instr"), "PAGE"); doc.sections[0].footer.paragraphs[0]._p.append(field)
doc.save("report.docx")
''').made("report.docx")
    assert facts["pictures"] == 1 and "Выручка выросла на 12 %" in facts["text"]
    assert facts["tables"] == [[["Квартал", "млн ₽"], ["Q1", "3"], ["Q2", "5"]]]


def test_slides_with_a_chart_of_their_own(person):
    facts = person.python('''
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE, XL_LEGEND_POSITION
from pptx.util import Inches, Pt
deck = Presentation(); deck.slide_width, deck.slide_height = Inches(13.333), Inches(7.5)
slide = deck.slides.add_slide(deck.slide_layouts[0]); slide.shapes.title.text = "Итоги 🚀"; slide.placeholders[1].text = "2026"
slide = deck.slides.add_slide(deck.slide_layouts[5]); slide.shapes.title.text = "Продажи"
data = CategoryChartData(); data.categories = ["Янв", "Фев", "Мар"]; data.add_series("План", (10, 12, 14)); data.add_series("Факт", (9, 13, 15))
chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1.5), Inches(8), Inches(5), data).chart
chart.has_legend = True; chart.legend.position = XL_LEGEND_POSITION.BOTTOM; chart.plots[0].has_data_labels = True
table = slide.shapes.add_table(2, 2, Inches(9.5), Inches(2), Inches(3), Inches(1)).table; table.cell(0, 0).text = "Σ"; table.cell(0, 1).text = "37"
box = slide.shapes.add_textbox(Inches(1), Inches(6.6), Inches(8), Inches(.6)); run = box.text_frame.paragraphs[0].add_run(); run.text = "Источник: 1С"
run.font.size = Pt(14); run.font.color.rgb = RGBColor(90, 90, 90)
slide.notes_slide.notes_text_frame.text = "Сказать о марте"
deck.save("deck.pptx")
''').made("deck.pptx")
    assert facts["charts"] == 1 and facts["slides"][0] == ["Итоги 🚀", "2026"] and "Источник: 1С" in facts["slides"][1]


def test_a_workbook_that_reckons_and_colours(person):
    run = person.python('''
import xlsxwriter, openpyxl
from openpyxl.chart import LineChart, Reference
from openpyxl.formatting.rule import ColorScaleRule, FormulaRule
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation
book = openpyxl.Workbook(); sheet = book.active; sheet.title = "Продажи"
sheet.append(["Месяц", "План", "Факт", "Δ"])
for i, (plan, fact) in enumerate([(100, 90), (110, 130), (120, 118)], 2): sheet.append([f"2026-0{i - 1}", plan, fact, f"=C{i}-B{i}"])
sheet["C5"] = "=SUM(C2:C4)"; sheet["D5"] = '=IF(C5>=SUM(B2:B4),"да","нет")'
for cell in sheet[1]: cell.font = Font(bold=True)
sheet.conditional_formatting.add("C2:C4", ColorScaleRule(start_type="min", start_color="F8696B", end_type="max", end_color="63BE7B"))
sheet.conditional_formatting.add("D2:D4", FormulaRule(formula=["D2<0"], fill=PatternFill("solid", bgColor="FFC7CE")))
check = DataValidation(type="list", formula1='"да,нет"'); sheet.add_data_validation(check); check.add("E2")
chart = LineChart(); chart.title = "План и факт"; chart.add_data(Reference(sheet, min_col=2, max_col=3, min_row=1, max_row=4), titles_from_data=True); sheet.add_chart(chart, "F2")
sheet.freeze_panes = "A2"; sheet.auto_filter.ref = "A1:D4"; sheet.column_dimensions["A"].width = 14
book.save("plan.xlsx")
with xlsxwriter.Workbook("fast.xlsx") as other:
    s = other.add_worksheet("Лист"); money = other.add_format({"num_format": "# ##0.00 ₽", "bold": True})
    s.write_row(0, 0, ["a", "b"]); s.write_column(1, 0, [1, 2, 3]); s.write_formula("B2", "=SUM(A2:A4)", money, 6)
    s.conditional_format("A2:A4", {"type": "data_bar"})
    c = other.add_chart({"type": "pie"}); c.add_series({"values": "=Лист!$A$2:$A$4"}); s.insert_chart("E2", c)
print(openpyxl.load_workbook("plan.xlsx")["Продажи"].conditional_formatting.__len__(), openpyxl.load_workbook("fast.xlsx", data_only=True)["Лист"]["B2"].value)
''')
    plan = run.made("plan.xlsx")
    assert plan["charts"] == 1 and plan["sheets"]["Продажи"][1] == ["2026-01", 100, 90, "=C2-B2"]
    assert run.made("fast.xlsx")["charts"] == 1 and run.text == "2 6\n"


def test_plots_of_land_measured_and_drawn(person):
    run = person.python('''
import json, geopandas as gpd, matplotlib.pyplot as plt
from shapely import affinity, voronoi_polygons
from shapely.geometry import LineString, MultiPoint, Point, Polygon, mapping
from shapely.ops import unary_union
field = Polygon([(0, 0), (400, 0), (420, 300), (0, 280)]); pond = Point(200, 150).buffer(50); road = LineString([(-20, 40), (440, 260)]).buffer(6)
rest = field.difference(unary_union([pond, road]))
print(rest.geom_type, round(rest.area / 1e4, 2), "ga", rest.intersects(pond.centroid), round(pond.exterior.length, 1))
cells = [c.intersection(field) for c in voronoi_polygons(MultiPoint([(50, 50), (300, 60), (100, 220), (350, 250)])).geoms]
frame = gpd.GeoDataFrame({"n": range(len(cells))}, geometry=cells, crs="EPSG:32637")
frame["га"] = (frame.area / 1e4).round(2)
print(frame.to_crs("EPSG:4326").total_bounds.round(3).tolist(), frame.sjoin(gpd.GeoDataFrame(geometry=[Point(60, 60)], crs=frame.crs)).n.tolist())
frame.to_file("cells.geojson", driver="GeoJSON")
ax = frame.plot(column="га", legend=True, cmap="Greens", edgecolor="k", figsize=(7, 5)); gpd.GeoSeries([pond, road]).plot(ax=ax, color=["skyblue", "grey"]); ax.set_title("Участок")
plt.savefig("field.png")
''')
    run.picture("field.png", 700, 500)
    assert run.text.startswith("MultiPolygon 10.") and len(json.loads(run.made("cells.geojson")["text"])["features"]) == 4


def test_a_network_of_who_knows_whom(person):
    run = person.python('''
import networkx as nx, matplotlib.pyplot as plt
g = nx.karate_club_graph()
groups = nx.community.louvain_communities(g, seed=1)
colour = {n: i for i, group in enumerate(groups) for n in group}
central = nx.betweenness_centrality(g)
pos = nx.spring_layout(g, seed=3)
fig, ax = plt.subplots(figsize=(8, 6))
nx.draw_networkx(g, pos, node_color=[colour[n] for n in g], node_size=[200 + 3000 * central[n] for n in g], cmap="Set2", edge_color="#bbb", font_size=8, ax=ax)
ax.set_axis_off(); fig.savefig("club.png")
d = nx.DiGraph([("Идея", "План"), ("План", "Код"), ("Код", "Тест"), ("Тест", "Код"), ("Тест", "Выпуск")])
n = len(list(nx.topological_generations(nx.condensation(d))))
print(len(groups), max(central, key=central.get), nx.shortest_path(d, "Идея", "Выпуск"), nx.has_path(d, "Выпуск", "Идея"), n)
nx.write_graphml(d, "flow.graphml")
import graphviz
dot = graphviz.Digraph(format="png"); [dot.edge(a, b) for a, b in d.edges]; dot.render("flow", cleanup=True)
''')
    run.picture("club.png", 800, 600)
    run.picture("flow.png", 80, 200)
    assert run.text.endswith(" 0 ['Идея', 'План', 'Код', 'Тест', 'Выпуск'] False 4\n")


def test_a_pipeline_that_learns(person):
    run = person.python('''
import numpy as np, pandas as pd, joblib, matplotlib.pyplot as plt
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import ConfusionMatrixDisplay, classification_report, roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
rng = np.random.default_rng(0); n = 600
t = pd.DataFrame({"возраст": rng.integers(18, 70, n).astype(float), "доход": rng.lognormal(10, .5, n), "город": rng.choice(["Тула", "Омск", "Уфа"], n)})
y = ((t["возраст"] > 40) ^ (t["город"] == "Уфа")).astype(int); t.loc[::17, "доход"] = np.nan
prepare = ColumnTransformer([("n", make_pipeline(SimpleImputer(), StandardScaler()), ["возраст", "доход"]), ("c", OneHotEncoder(handle_unknown="ignore"), ["город"])])
a, b, c, d = train_test_split(t, y, test_size=.25, random_state=0, stratify=y)
search = GridSearchCV(make_pipeline(prepare, RandomForestClassifier(random_state=0, n_jobs=-1)), {"randomforestclassifier__n_estimators": [20, 60]}, cv=3, n_jobs=-1).fit(a, c)
print(classification_report(d, search.predict(b), digits=2).splitlines()[5].split()[0], roc_auc_score(d, search.predict_proba(b)[:, 1]) > .95)
ConfusionMatrixDisplay.from_estimator(search, b, d, cmap="Blues"); plt.savefig("confusion.png")
joblib.dump(search, "model.joblib"); print(joblib.load("model.joblib").score(b, d) > .9)
''')
    assert run.text == "accuracy True\nTrue\n"
    run.picture("confusion.png", 500, 400)


def test_a_forecast_by_arima(person):
    run = person.python('''
import numpy as np, pandas as pd, matplotlib.pyplot as plt
from statsmodels.tsa.arima.model import ARIMA
from statsmodels.tsa.holtwinters import ExponentialSmoothing
from statsmodels.tsa.seasonal import seasonal_decompose
from statsmodels.tsa.stattools import adfuller
rng = np.random.default_rng(5)
months = pd.date_range("2019-01-01", periods=84, freq="MS")
sales = pd.Series(100 + np.arange(84) + 12 * np.sin(np.arange(84) * 2 * np.pi / 12) + rng.normal(0, 2, 84), index=months, name="продажи")
print(adfuller(sales)[1] > .05, adfuller(sales.diff(12).dropna())[1] < .2)
fit = ARIMA(sales, order=(1, 1, 1), seasonal_order=(0, 1, 1, 12)).fit()
ahead = fit.get_forecast(12); band = ahead.conf_int()
smooth = ExponentialSmoothing(sales, trend="add", seasonal="add", seasonal_periods=12).fit().forecast(12)
print(abs(ahead.predicted_mean.iloc[-1] - (100 + 95 + 12 * np.sin(95 * 2 * np.pi / 12))) < 8, abs(smooth - ahead.predicted_mean).max() < 8)
fig = seasonal_decompose(sales).plot(); fig.savefig("parts.png"); plt.close(fig)
fig, ax = plt.subplots(figsize=(9, 4)); sales.plot(ax=ax); ahead.predicted_mean.plot(ax=ax, style="--", label="прогноз")
ax.fill_between(band.index, band.iloc[:, 0], band.iloc[:, 1], alpha=.2); ax.legend(); fig.savefig("forecast.png")
''')
    assert run.text == "True True\nTrue True\n"
    run.picture("forecast.png", 900, 400)
    run.picture("parts.png", 600, 400)


def test_duckdb_over_parquet(person):
    run = person.python('''
import duckdb, numpy as np, pandas as pd, polars as pl, pyarrow.parquet as pq
rng = np.random.default_rng(0); n = 200_000
pd.DataFrame({"day": pd.to_datetime("2026-01-01") + pd.to_timedelta(rng.integers(0, 90, n), "D"), "shop": rng.choice(["Тула", "Омск"], n), "sum": rng.gamma(2, 50, n)}).to_parquet("sales.parquet", compression="zstd")
print(pq.read_metadata("sales.parquet").num_rows)
best = duckdb.sql("select date_trunc('month', day) m, shop, round(sum(sum)) s, median(sum) md from 'sales.parquet' group by all order by s desc limit 3").df()
print(best.shape, best.m.dt.month.between(1, 3).all())
lazy = pl.scan_parquet("sales.parquet").group_by("shop").agg(pl.col("sum").sum(), pl.len()).sort("shop").collect()
print(lazy["shop"].to_list(), lazy["len"].sum(), abs(lazy["sum"].sum() - duckdb.sql("select sum(sum) from 'sales.parquet'").fetchone()[0]) < 1)
duckdb.sql("copy (pivot (select date_trunc('month', day) m, shop from 'sales.parquet') on shop using count(*) order by m) to 'pivot.csv'")
''')
    assert run.text == "200000\n(3, 4) True\n['Омск', 'Тула'] 200000 True\n"
    rows = run.made("pivot.csv")["rows"]
    assert rows[0][-2:] == ["Омск", "Тула"] and sum(int(n) for row in rows[1:] for n in row[-2:]) == 200_000


def test_edges_circles_and_a_qr_code_found_in_pictures(person):
    run = person.python('''
import cv2, numpy as np, qrcode
image = np.full((300, 400, 3), 255, np.uint8)
cv2.circle(image, (100, 150), 60, (0, 0, 200), -1); cv2.rectangle(image, (220, 90), (360, 220), (200, 80, 0), 4)
grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
edges = cv2.Canny(cv2.GaussianBlur(grey, (5, 5), 0), 50, 150)
contours, _ = cv2.findContours(edges, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
circles = cv2.HoughCircles(cv2.medianBlur(grey, 5), cv2.HOUGH_GRADIENT, 1.2, 100, param1=50, param2=20, minRadius=40, maxRadius=80)
print(len(contours), np.abs(circles[0, 0] - (100, 150, 60)).max() < 4)
cv2.drawContours(image, contours, -1, (0, 180, 0), 2); cv2.putText(image, "found", (150, 280), cv2.FONT_HERSHEY_SIMPLEX, 1, (0, 0, 0), 2)
cv2.imwrite("edges.png", image)
qrcode.make("https://example.org/?q=привет").save("qr.png")
print(cv2.QRCodeDetector().detectAndDecode(cv2.imread("qr.png"))[0])
''')
    run.picture("edges.png", 400, 300, colours=5)
    run.picture("qr.png", 200, 200, colours=2)
    assert run.text == "2 True\nhttps://example.org/?q=привет\n"


def test_a_picture_that_moves(person):
    facts = person.python('''
from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps
import math
font = ImageFont.truetype("DejaVuSans-Bold.ttf", 20); frames = []
for i in range(24):
    frame = Image.new("RGB", (160, 120), "#102030"); draw = ImageDraw.Draw(frame)
    x, y = 80 + 50 * math.cos(i * math.pi / 12), 60 + 35 * math.sin(i * math.pi / 12)
    draw.ellipse((x - 12, y - 12, x + 12, y + 12), fill=(255, 10 * i, 40)); draw.text((8, 4), f"Кадр {i}", font=font, fill="white")
    frames.append(frame.filter(ImageFilter.SMOOTH))
frames[0].save("orbit.gif", save_all=True, append_images=frames[1:], duration=40, loop=0, optimize=True)
frames[0].save("orbit.webp", save_all=True, append_images=frames[1:], duration=40, loop=0)
ImageOps.contain(frames[5], (80, 80)).save("thumb.jpg", quality=85, exif=Image.Exif())
''')
    assert facts.picture("orbit.gif", 160, 120)["frames"] == 24 and facts.picture("orbit.webp", 160, 120)["frames"] == 24
    assert facts.picture("thumb.jpg", 80, 60)["kind"] == "JPEG"


def test_charts_for_a_page_by_plotly(person):
    run = person.python('''
import pandas as pd, plotly.express as px, plotly.graph_objects as go
from plotly.subplots import make_subplots
df = pd.DataFrame({"город": ["Тула", "Омск", "Уфа"] * 4, "месяц": [m for m in range(1, 5) for _ in range(3)], "сумма": range(12)})
px.line(df, x="месяц", y="сумма", color="город", markers=True, title="Продажи").write_html("line.html", include_plotlyjs="cdn")
fig = make_subplots(rows=1, cols=2, specs=[[{"type": "xy"}, {"type": "domain"}]])
fig.add_trace(go.Candlestick(x=pd.date_range("2026-01-01", periods=3), open=[1, 2, 3], high=[3, 4, 5], low=[0, 1, 2], close=[2, 3, 2]), 1, 1)
fig.add_trace(go.Pie(labels=["a", "b"], values=[1, 2]), 1, 2); fig.write_html("both.html", full_html=False, include_plotlyjs=True)
print(len(px.sunburst(df, path=["город", "месяц"], values="сумма").data[0].labels))
''')
    line = run.made("line.html")["text"]
    assert "Plotly.newPlot" in line and json.dumps("Продажи") in line and len(line) < 100_000
    assert run.made("both.html")["bytes"] > 1_000_000 and run.text == "15\n"


def test_formulas_as_pictures(person):
    run = person.python(r'''
import matplotlib.pyplot as plt
from sympy import *
x, n, a = symbols("x n a", positive=True)
lines = [Eq(Integral(exp(-x), x), integrate(exp(-x), x)), Eq(Sum(1/n**2, (n, 1, oo)), summation(1/n**2, (n, 1, oo))),
         Eq(Derivative(sin(a*x)/x, x), diff(sin(a*x)/x, x)), Eq(Symbol("A"), Matrix([[1, 2], [3, 4]]).det())]
fig = plt.figure(figsize=(7, 3.5))
for i, line in enumerate(lines): fig.text(.05, .8 - .22 * i, f"${latex(line)}$", fontsize=18)
fig.savefig("formulas.png", dpi=120)
print(solve(x**2 - 5*x + 6, x), series(cos(x), x, 0, 6), latex(Rational(3, 7)), factor(x**4 - 1))
pprint(lines[1])
''')
    run.picture("formulas.png", 800, 400)
    assert run.text.startswith("[2, 3] 1 - x**2/2 + x**4/24 + O(x**6) \\frac{3}{7} (x - 1)*(x + 1)*(x**2 + 1)\n") and "π" in run.text


def test_candles_by_hand_with_volume(person):
    person.python('''
import numpy as np, pandas as pd, matplotlib.pyplot as plt, matplotlib.dates as mdates
rng = np.random.default_rng(2); days = pd.bdate_range("2026-01-05", periods=60)
close = 100 + rng.normal(0, 1.5, 60).cumsum(); open_ = np.r_[100, close[:-1]]
t = pd.DataFrame({"open": open_, "close": close, "high": np.maximum(open_, close) + rng.random(60), "low": np.minimum(open_, close) - rng.random(60), "volume": rng.integers(1e5, 9e5, 60)}, index=days)
fig, (ax, vol) = plt.subplots(2, 1, figsize=(11, 6), sharex=True, gridspec_kw={"height_ratios": [3, 1], "hspace": .05})
up = t.close >= t.open
for part, colour in ((t[up], "#26a69a"), (t[~up], "#ef5350")):
    ax.vlines(part.index, part.low, part.high, color=colour, lw=1); ax.bar(part.index, part.close - part.open, bottom=part.open, color=colour, width=.7); vol.bar(part.index, part.volume, color=colour, width=.7)
ax.plot(t.index, t.close.rolling(10).mean(), label="SMA 10"); ax.legend(); ax.grid(alpha=.3); ax.set_title("Котировки, ₽")
vol.xaxis.set_major_locator(mdates.MonthLocator()); vol.xaxis.set_major_formatter(mdates.DateFormatter("%b %Y")); fig.savefig("candles.png", bbox_inches="tight")
''').picture("candles.png", 800, 400)


def test_one_figure_with_many_kinds_and_labels_of_many_scripts(person):
    person.python('''
import numpy as np, matplotlib.pyplot as plt
plt.style.use("seaborn-v0_8-whitegrid")
rng = np.random.default_rng(0)
fig = plt.figure(figsize=(13, 9), layout="constrained"); fig.suptitle("Обзор · 概要 · نظرة عامة · अवलोकन · 📊")
grid = fig.add_gridspec(2, 3)
ax = fig.add_subplot(grid[0, 0]); image = ax.imshow(rng.random((7, 24)), aspect="auto", cmap="YlOrRd"); ax.set_yticks(range(7), ["Пн", "Вт", "Ср", "Чт", "Пт", "Сб", "Вс"]); fig.colorbar(image)
ax = fig.add_subplot(grid[0, 1], projection="3d"); x, y = np.mgrid[-2:2:30j, -2:2:30j]; ax.plot_surface(x, y, np.exp(-x*x - y*y), cmap="viridis"); ax.set_title("曲面")
ax = fig.add_subplot(grid[0, 2], projection="polar"); ax.fill(np.linspace(0, 2 * np.pi, 6), [3, 4, 2, 5, 3, 3], alpha=.4); ax.set_xticks(np.linspace(0, 2 * np.pi, 5, endpoint=False), ["السرعة", "القوة", "가격", "品質", "дизайн"])
ax = fig.add_subplot(grid[1, :2]); ax.bar(["Москва", "Αθήνα", "北京", "東京", "서울", "القاهرة", "תל אביב", "दिल्ली", "กรุงเทพ"], rng.integers(3, 9, 9)); other = ax.twinx(); other.plot(rng.random(9), "r--o", label="доля 🔥"); other.legend()
ax = fig.add_subplot(grid[1, 2]); ax.pie([3, 2, 1], labels=["🍎 яблоки", "🍌 бананы", "🍇 виноград"], autopct="%.0f %%", wedgeprops={"width": .4})
plt.savefig("overview.png", dpi=80)
''').picture("overview.png", 1040, 720, colours=200)


# What the newest versions of libraries have taken away, and scripts still use: why requirements.in has upper bounds.
def test_calls_of_yesterday_that_scripts_still_make(person):
    run = person.python('''
import warnings; warnings.filterwarnings("ignore")
import cv2, duckdb, fitz, numpy as np, pandas as pd, plotly.express as px, polars as pl
from statsmodels.tsa.stattools import adfuller
df = pd.DataFrame({"a": [1, None, 3], "b": list("xyx")})
df["a"].fillna(0, inplace=True); print(df.a.tolist(), df[["b"]].applymap(str.upper).b.tolist(), df.fillna(method="ffill").shape)
days = pd.Series(range(60), index=pd.date_range("2026-01-01", periods=60))
print(days.resample("M").sum().tolist(), len(days.resample("H").ffill()), len(pd.date_range("2026-01-01", periods=2, freq="Q")))
print(np.trapz([1, 2, 3]), np.in1d([1, 2], [2]).tolist(), duckdb.sql("select 42").fetchone(), duckdb.query("select sum(a) from df").fetchone())
print(pl.DataFrame({"g": [1, 1]}).group_by("g").agg(pl.count())["count"].to_list(), pl.DataFrame({"a": [1]}).with_row_count().columns)
faces = cv2.CascadeClassifier(cv2.data.haarcascades + "haarcascade_frontalface_default.xml")
print(faces.empty(), len(faces.detectMultiScale(np.zeros((80, 80), np.uint8))), hasattr(cv2, "ml"), hasattr(cv2, "HOGDescriptor"))
px.scatter_mapbox(lat=[55.7], lon=[37.6], mapbox_style="open-street-map").write_html("map.html", include_plotlyjs="cdn")
doc = fitz.open(); doc.new_page().insert_text((50, 50), "hello"); doc.save("made.pdf"); print(fitz.open("made.pdf")[0].get_text().strip(), adfuller(np.arange(40.0) % 7)[1] >= 0)
''')
    assert run.text.splitlines() == [
        "[1.0, 0.0, 3.0] ['X', 'Y', 'X'] (3, 2)", "[465, 1246, 59] 1417 2", "4.0 [False, True] (42,) (4.0,)",
        "[2] ['row_nr', 'a']", "False 0 True True", "hello True"]


@pytest.mark.parametrize("code, value", [
    ("6*7", "42"), ("'a'", "'a'"), ("x = 2\n'a' if x else 'b'", "'a'"), ("x = 0\n('a' if x else\n 2)", "2"),
    ("x = 0\nx or ('a' if x else 'b')", "'b'"), ("f = lambda n: 'even' if n % 2 == 0 else 'odd'\nf(3)", "'odd'"),
    ("x = 1\n-1 if x else 1, 'z'", "(-1, 'z')"),
])
def test_B3_the_last_value(person, code, value):
    """Python of the image drops more constants than that of the host, with which tests/bootstrap runs."""
    assert person.python(code).answer["results"] == [{"mime": "text/plain", "text": value, "main": True}]
