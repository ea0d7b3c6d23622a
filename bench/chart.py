# The kind of script that a model writes for a table and a chart; its table is in it, so that it runs anywhere.
import io

import matplotlib.pyplot as plt
import pandas as pd

CITIES = "Москва", "Санкт-Петербург", "Казань", "Новосибирск", "Екатеринбург"
TEXT = "Город;Квартал;Выручка, тыс. ₽;Заказы\n" + "".join(
    f"{city};{quarter};{1 + (quarter * 7 + at) % 3} {100 + (at * 137 + quarter * 59) % 900},{quarter};{40 + at * quarter}\n"
    for at, city in enumerate(CITIES) for quarter in range(1, 5))
t = pd.read_csv(io.StringIO(TEXT), sep=";", decimal=",", thousands=" ")
s = t.groupby("Город")["Выручка, тыс. ₽"].sum().sort_values()
s.plot.barh(title="Выручка по городам", figsize=(7, 4))
plt.tight_layout()
plt.savefig("chart.png", dpi=120)
print(s.to_string())
