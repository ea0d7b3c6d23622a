"""I8: charts of the kind that a model draws, with every library of the set that draws."""


def test_line_chart_with_dates_and_two_axes(person):
    person.python('''
import pandas as pd, numpy as np, matplotlib.pyplot as plt
days = pd.date_range("2026-01-01", periods=90)
rng = np.random.default_rng(1)
df = pd.DataFrame({"visits": rng.poisson(200, 90), "rate": rng.normal(3, .2, 90)}, index=days)
fig, ax = plt.subplots(figsize=(10, 4))
df["visits"].plot(ax=ax, color="tab:blue"); ax.set_ylabel("Visits")
df["rate"].rolling(7).mean().plot(ax=ax.twinx(), color="tab:red")
fig.autofmt_xdate(); fig.tight_layout(); fig.savefig("line.png", dpi=100)
''').picture("line.png", 1000, 400)


def test_seaborn_dashboard(person):
    person.python('''
import numpy as np, pandas as pd, seaborn as sns, matplotlib.pyplot as plt
sns.set_theme(style="whitegrid")
rng = np.random.default_rng(0)
df = pd.DataFrame({"группа": rng.choice(list("АБВ"), 300), "x": rng.normal(size=300)})
df["y"] = df.x * 2 + rng.normal(size=300)
fig, axes = plt.subplots(2, 2, figsize=(10, 8))
sns.boxplot(data=df, x="группа", y="y", ax=axes[0, 0], hue="группа", legend=False)
sns.histplot(data=df, x="y", hue="группа", kde=True, ax=axes[0, 1])
sns.regplot(data=df, x="x", y="y", ax=axes[1, 0])
sns.heatmap(df[["x", "y"]].corr(), annot=True, ax=axes[1, 1], cmap="coolwarm")
plt.tight_layout(); plt.savefig("dashboard.png")
''').picture("dashboard.png", 1000, 800)


def test_surface_in_three_dimensions_and_mathtext(person):
    person.python(r'''
import numpy as np, matplotlib.pyplot as plt
x, y = np.meshgrid(np.linspace(-3, 3, 60), np.linspace(-3, 3, 60))
fig = plt.figure(figsize=(6, 5)); ax = fig.add_subplot(projection="3d")
surface = ax.plot_surface(x, y, np.sin(x**2 + y**2), cmap="viridis"); fig.colorbar(surface)
ax.set_title(r"$z = \sin(x^2 + y^2),\ \int_0^\infty e^{-x}\,dx = 1$")
fig.savefig("surface.png")
''').picture("surface.png", 600, 500, colours=100)


def test_animation_as_gif(person):
    facts = person.python('''
import numpy as np, matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation, PillowWriter
fig, ax = plt.subplots(figsize=(3, 2)); x = np.linspace(0, 6.28, 60); (line,) = ax.plot(x, np.sin(x))
def step(i): line.set_ydata(np.sin(x + i / 3)); return (line,)
FuncAnimation(fig, step, frames=8).save("wave.gif", writer=PillowWriter(fps=8))
''').picture("wave.gif", 300, 200)
    assert facts["frames"] == 8


def test_animation_as_video(person):
    facts = person.python('''
import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation
fig, ax = plt.subplots(figsize=(3.2, 2.4), dpi=100); (dot,) = ax.plot([0], [0], "o", ms=20); ax.set_xlim(0, 10)
FuncAnimation(fig, lambda i: dot.set_xdata([i]), frames=10).save("dot.mp4", fps=5)
''').made("dot.mp4")
    assert (facts["width"], facts["height"], facts["frames"]) == (320, 240, 10)


def test_candles(person):
    person.python('''
import numpy as np, pandas as pd, mplfinance as mpf
days = pd.bdate_range("2026-01-01", periods=40)
close = 100 + np.cumsum(np.random.default_rng(3).normal(size=40))
df = pd.DataFrame({"Open": close - .5, "High": close + 1, "Low": close - 1, "Close": close, "Volume": 1000}, index=days)
mpf.plot(df, type="candle", mav=(5,), volume=True, savefig="candles.png")
''').picture("candles.png", 500, 400)


def test_treemap_words_and_labels(person):
    run = person.python('''
import matplotlib.pyplot as plt, squarify
from adjustText import adjust_text
from wordcloud import WordCloud
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
squarify.plot([50, 30, 20], label=["Москва", "Казань", "Омск"], ax=left, color=["#88c", "#c88", "#8c8"])
right.scatter([1, 1.01, 1.02], [1, 1.01, 1.0]); adjust_text([right.text(1 + i / 100, 1, f"point {i}") for i in range(3)], ax=right)
fig.savefig("map.png")
WordCloud(width=400, height=200, background_color="white", font_path="/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf") \\
    .generate("данные график таблица данные отчёт данные график").to_file("words.png")
''')
    run.picture("map.png", 900, 400, colours=6)
    run.picture("words.png", 400, 200)


def test_plotly_page(person):
    facts = person.python('''
import plotly.express as px, plotly.graph_objects as go
fig = px.scatter(x=[1, 2, 3], y=[3, 1, 2], title="Точки")
fig.add_trace(go.Scatter(x=[1, 3], y=[1, 3]))
fig.write_html("chart.html", include_plotlyjs="cdn")
print(len(fig.to_json()) > 100)
''')
    text = facts.made("chart.html")["text"]
    assert "Точки" in text or r"\u0422\u043e\u0447\u043a\u0438" in text


def test_plotly_page_that_needs_no_network(person):
    facts = person.python('''
import plotly.graph_objects as go
go.Figure(go.Bar(x=["a", "b"], y=[1, 2])).write_html("chart.html")
''').made("chart.html")
    assert facts["bytes"] > 3_000_000 and "plotly" in facts["text"]


def test_bokeh_page(person):
    facts = person.python('''
from bokeh.plotting import figure
from bokeh.resources import INLINE
from bokeh.embed import file_html
p = figure(title="Выручка", width=400, height=300); p.line([1, 2, 3], [3, 1, 2], line_width=2)
open("chart.html", "w").write(file_html(p, INLINE, "page"))
''').made("chart.html")
    assert "\\u0412\\u044b\\u0440" in facts["text"] or "Выручка" in facts["text"]
    assert facts["bytes"] > 500_000


def test_altair_as_picture_and_page(person):
    run = person.python('''
import altair as alt, pandas as pd
chart = alt.Chart(pd.DataFrame({"город": ["Омск", "Тула"], "n": [3, 5]})).mark_bar().encode(x="город", y="n")
chart.save("chart.html"); chart.save("chart.png", scale_factor=2)
''')
    run.picture("chart.png", 100, 300, colours=4)
    assert "vega" in run.made("chart.html")["text"]


def test_graphs_by_networkx_and_graphviz(person):
    run = person.python('''
import networkx as nx, matplotlib.pyplot as plt, graphviz, pydot
g = nx.karate_club_graph()
print(nx.shortest_path_length(g, 0, 33), round(nx.density(g), 3))
nx.draw_networkx(g, pos=nx.spring_layout(g, seed=1)); plt.savefig("club.png")
dot = graphviz.Digraph(); dot.node("a", "Начало"); dot.edge("a", "конец"); dot.render("flow", format="png", cleanup=True)
(graph,) = pydot.graph_from_dot_data("digraph { x -> y }"); graph.write_svg("small.svg")
''')
    assert run.text == "2 0.139\n"
    run.picture("club.png", 600, 400)
    run.picture("flow.png", 80, 100)
    assert run.made("small.svg")["text"].count("<ellipse") == 2


def test_map_of_shapes(person):
    run = person.python('''
import geopandas as gpd, matplotlib.pyplot as plt
from shapely.geometry import Point, Polygon
frame = gpd.GeoDataFrame({"name": ["square", "disc"]}, geometry=[Polygon([(0, 0), (2, 0), (2, 2), (0, 2)]), Point(3, 1).buffer(1)], crs="EPSG:4326")
print(frame.area.round(2).tolist() if False else [round(g.area, 2) for g in frame.geometry], frame.to_crs(3857).crs.to_epsg())
frame.plot(column="name", legend=True); plt.savefig("map.png")
frame.to_file("map.geojson", driver="GeoJSON")
print(len(gpd.read_file("map.geojson")))
''')
    assert run.text == "[4.0, 3.14] 3857\n2\n"
    run.picture("map.png", 600, 400)


def test_folium_map_page(person):
    facts = person.python('''
import folium
m = folium.Map(location=[55.75, 37.62], zoom_start=10); folium.Marker([55.75, 37.62], popup="Москва").add_to(m); m.save("map.html")
''').made("map.html")
    assert "leaflet" in facts["text"]


def test_drawings_for_builders(person):
    run = person.python('''
import ezdxf, svgwrite, trimesh
doc = ezdxf.new("R2010"); space = doc.modelspace()
space.add_lwpolyline([(0, 0), (5, 0), (5, 4), (0, 4)], close=True); space.add_text("Кухня"); doc.saveas("plan.dxf")
print(len(ezdxf.readfile("plan.dxf").modelspace()))
d = svgwrite.Drawing("plan.svg", size=(200, 100)); d.add(d.rect((10, 10), (100, 50), fill="none", stroke="black"))
d.add(d.circle((150, 50), 30, fill="red")); d.save()
box = trimesh.creation.box((1, 2, 3)); box.export("box.stl"); print(box.volume, box.is_watertight)
''')
    assert run.text == "2\n6.0 True\n" or run.text == "2\n5.999999999999999 True\n"
    run.picture("plan.svg", 200, 100, colours=3)
    assert "LWPOLYLINE" in run.made("plan.dxf")["text"]
