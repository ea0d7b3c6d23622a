"""A bar chart of sales by city and quarter, as a model would write it. Reads sales_ru.csv, makes chart.png.

Run it: build/cloche run examples/chart.py --file examples/sales_ru.csv
Needs the Debian packages python3-pandas and python3-matplotlib.
"""
import matplotlib.pyplot as plt
import pandas as pd

SALES = "Выручка, тыс. ₽"
UNKNOWN = "нет данных"

table = pd.read_csv("sales_ru.csv", sep=";", decimal=",", thousands=" ")
sales = table.pivot(index="Город", columns="Квартал", values=SALES).sort_values("I")
print(sales.to_string(na_rep=UNKNOWN))

axes = sales.plot.barh(figsize=(8, 4.5), color=["#4c78a8", "#f58518"], width=0.75)
for bars, quarter in zip(axes.containers, sales.columns):
    labels = [UNKNOWN if pd.isna(value) else f"{value:,.1f}".replace(",", " ").replace(".", ",") for value in sales[quarter]]
    axes.bar_label(bars, labels=labels, padding=3, fontsize=9)
axes.set_title("Выручка по городам и кварталам")
axes.set_xlabel(SALES)
axes.set_ylabel("")
axes.margins(x=0.12)
axes.legend(title="Квартал", loc="lower right")
axes.spines[["top", "right"]].set_visible(False)
plt.tight_layout()
plt.savefig("chart.png", dpi=120)
