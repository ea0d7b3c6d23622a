"""I7, I8: the scripts that the project was given as cases: charts, a plan, a table, a conversion, exact numbers."""
CHART = '''
import pandas as pd, matplotlib.pyplot as plt
t = pd.read_csv("sales_ru.csv", sep=";", decimal=",", thousands=" ")
s = t.groupby("Город")["Выручка, тыс. ₽"].sum().sort_values()
s.plot.barh(title="Выручка по городам", figsize=(7, 4)); plt.tight_layout(); plt.savefig("chart.png", dpi=120)
print(s.to_string())
'''
SHOW = CHART.replace('plt.savefig("chart.png", dpi=120)', "plt.show()")
PLAN = '''
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle, Arc
fig, ax = plt.subplots(figsize=(6, 5))
for (x, y, w, h, name) in [(0, 0, 5, 4, "Кухня"), (5, 0, 4, 4, "Спальня"), (0, 4, 9, 3, "Гостиная")]:
    ax.add_patch(Rectangle((x, y), w, h, fill=False, lw=3)); ax.text(x + w/2, y + h/2, f"{name}\\n{w*h} м²", ha="center")
ax.add_patch(Arc((5, 1), 1.6, 1.6, theta1=0, theta2=90)); ax.set_xlim(-1, 10); ax.set_ylim(-1, 8); ax.set_aspect("equal"); ax.axis("off")
fig.savefig("plan.png")
'''
TABLE = '''
import pandas as pd
t = pd.read_csv("sales_ru.csv", sep=";", decimal=",", thousands=" ")
t.pivot_table(index="Город", columns="Квартал", values="Заказы", aggfunc="sum").to_excel("table.xlsx")
'''
CONVERT = '''
import subprocess
subprocess.run(["ffmpeg", "-y", "-loglevel", "error", "-f", "lavfi", "-i", "smptebars=size=320x180:rate=10", "-t", "2",
                "-threads", "1", "-pix_fmt", "yuv420p", "bars.mp4"], check=True)
'''
EXACT = '''
from fractions import Fraction
from math import comb
print(sum(Fraction(1, k) for k in range(1, 51)))
print(comb(200, 100))
'''
STATS = '''
import numpy as np, statsmodels.api as sm
x = np.arange(20.0); y = 3 + 2 * x
print([round(float(v), 6) for v in sm.OLS(y, sm.add_constant(x)).fit().params])
'''


def test_I7_I8_chart_with_cyrillic_labels(person):
    run = person.python(CHART, ["sales_ru.csv"])
    assert run.picture("chart.png", 800, 450)["width"] == 840
    assert "Москва" in run.text and "2695.25" in run.text


def test_I8_show_says_nothing_on_stderr(person):
    run = person.python(SHOW, ["sales_ru.csv"])
    assert "Москва" in run.text


def test_I8_floor_plan(person):
    run = person.python(PLAN)
    assert run.picture("plan.png", 500, 400, colours=4)


def test_I8_pivot_table_to_excel(person):
    sheet = person.python(TABLE, ["sales_ru.csv"]).made("table.xlsx")["sheets"]["Sheet1"]
    assert sheet[0][:3] == ["Город", "I", "II"]
    assert {row[0]: row[1:] for row in sheet}["Москва"] == [312, 341]


def test_I5_I8_ffmpeg_makes_a_video(person):
    facts = person.python(CONVERT).made("bars.mp4")
    assert (facts["codec"], facts["width"], facts["height"], facts["frames"]) == ("h264", 320, 180, 20)
    assert facts["seconds"] == 2.0 and facts["first"]["colours"] >= 7


def test_I8_exact_calculations(person):
    lines = person.python(EXACT).text.split("\n")
    assert lines[0] == "13943237577224054960759/3099044504245996706400"
    assert lines[1] == "90548514656103281165404177077484163874504589675413336841320"


def test_I9_statistics(person):
    assert person.python(STATS).text == "[3.0, 2.0]\n"
