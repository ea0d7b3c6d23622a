"""I8: exact and numerical calculations, statistics, learning, optimisation."""


def test_symbols_and_many_digits(person):
    assert person.python('''
import sympy as sp, mpmath, gmpy2
x = sp.symbols("x")
print(sp.integrate(sp.exp(-x**2), (x, -sp.oo, sp.oo)), sp.solve(x**3 - 6*x**2 + 11*x - 6), sp.factor(x**4 - 1))
mpmath.mp.dps = 50; print(mpmath.pi)
print(gmpy2.is_prime(2**127 - 1), sp.latex(sp.Rational(1, 3)))
''').text == ("sqrt(pi) [1, 2, 3] (x - 1)*(x + 1)*(x**2 + 1)\n3.1415926535897932384626433832795028841971693993751\n"
              "True \\frac{1}{3}\n")


def test_money_and_units(person):
    assert person.python('''
from decimal import Decimal, getcontext
import pint
getcontext().prec = 28
print(sum([Decimal("0.1")] * 3), (Decimal("1000000") * (1 + Decimal("0.07") / 12) ** 240).quantize(Decimal("0.01")))
u = pint.UnitRegistry(); print((5 * u.mile).to("km").round(3), (72 * u.degF if False else u.Quantity(72, u.degF)).to("degC").round(1))
''').text == "0.3 4038738.85\n8.047 kilometer 22.2 degree_Celsius\n"


def test_numerical_methods(person):
    assert person.python('''
import numpy as np, numexpr
from scipy import integrate, interpolate, linalg, optimize, stats
print(round(integrate.quad(np.sin, 0, np.pi)[0], 6), optimize.brentq(lambda x: x**2 - 2, 0, 2).__round__(6))
sol = integrate.solve_ivp(lambda t, y: -y, (0, 1), [1], rtol=1e-8); print(round(float(sol.y[0, -1]), 5))
print(np.allclose(linalg.inv([[2, 0], [0, 4]]), [[.5, 0], [0, .25]]), float(interpolate.CubicSpline([0, 1, 2], [0, 1, 4])(1.5)))
print(stats.ttest_ind([1, 2, 3], [4, 5, 6]).pvalue.round(4), numexpr.evaluate("a * 2", {"a": np.arange(3)}).tolist())
''').text == "2.0 1.414214\n0.36788\nTrue 2.25\n0.0213 [0, 2, 4]\n"


def test_regression_and_series(person):
    run = person.python('''
import numpy as np, pandas as pd, statsmodels.api as sm, statsmodels.formula.api as smf
rng = np.random.default_rng(0)
df = pd.DataFrame({"x": rng.normal(size=200), "g": rng.choice(["a", "b"], 200)}); df["y"] = 1 + 2 * df.x + (df.g == "b") * 3 + rng.normal(size=200) * .1
fit = smf.ols("y ~ x + C(g)", df).fit(); print(fit.params.round(1).to_dict())
series = pd.Series(np.sin(np.arange(96) / 12 * 2 * np.pi) + np.arange(96) * .1, index=pd.date_range("2018-01-01", periods=96, freq="MS"))
from statsmodels.tsa.seasonal import seasonal_decompose
from statsmodels.tsa.holtwinters import ExponentialSmoothing
print(round(float(seasonal_decompose(series).trend.dropna().diff().mean()), 3))
print(len(ExponentialSmoothing(series, trend="add", seasonal="add", seasonal_periods=12).fit().forecast(6)))
''')
    assert run.text == "{'Intercept': 1.0, 'C(g)[T.b]': 3.0, 'x': 2.0}\n0.1\n6\n"


def test_learning_by_scikit_learn(person):
    run = person.python('''
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.cluster import KMeans
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.linear_model import LogisticRegression
X, y = load_iris(return_X_y=True)
print(cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), X, y).mean() > .9)
print(RandomForestClassifier(50, random_state=0, n_jobs=-1).fit(X, y).score(X, y) > .95, KMeans(3, n_init=4, random_state=0).fit(X).inertia_ < 80)
''')
    assert run.text == "True\nTrue True\n"


def test_boosting_by_lightgbm(person):
    run = person.python('''
import lightgbm as lgb, numpy as np
rng = np.random.default_rng(0); X = rng.normal(size=(500, 4)); y = (X[:, 0] + X[:, 1] > 0).astype(int)
model = lgb.LGBMClassifier(n_estimators=30, verbose=-1).fit(X, y); print(model.booster_.predict(X).round().astype(int).tolist().__len__(), (model.booster_.predict(X).round() == y).mean() > .9)
''')
    assert run.text == "500 True\n"


def test_survival(person):
    run = person.python('''
from lifelines import KaplanMeierFitter
k = KaplanMeierFitter().fit([5, 6, 6, 2, 4, 4], [1, 0, 0, 1, 1, 1]); print(k.median_survival_time_)
''')
    assert run.text == "5.0\n"


def test_linear_programs_and_simulation(person):
    run = person.python('''
import simpy, pulp
from scipy.optimize import linprog, milp, LinearConstraint
r = linprog([-1, -2], A_ub=[[1, 1], [1, 3]], b_ub=[4, 6]); print(r.x.round(3).tolist(), round(r.fun, 3))
print(milp([-1, -1], integrality=[1, 1], constraints=LinearConstraint([[2, 1]], ub=[5])).success)
env = simpy.Environment(); log = []
def car(env): yield env.timeout(5); log.append(env.now)
env.process(car(env)); env.run(); print(log, pulp.LpVariable.__name__)
''')
    assert run.text == "[3.0, 1.0] -5.0\nTrue\n[5] LpVariable\n"


def test_numba_compiles(person):
    assert person.python('''
from numba import njit
@njit
def total(n):
    s = 0
    for i in range(n): s += i * i % 7
    return s
print(total(10_000_000))
''').text == "19999999\n"


def test_dates_holidays_and_names(person):
    run = person.python('''
import holidays, pytz, babel.dates, babel.numbers
from datetime import date, datetime
from dateutil import parser, relativedelta, rrule
from faker import Faker
from zoneinfo import ZoneInfo
print(holidays.country_holidays("RU", years=2026).get(date(2026, 5, 9)) is not None, parser.parse("1 March 2026").date() + relativedelta.relativedelta(months=1))
print(datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")).astimezone(pytz.timezone("Asia/Tokyo")).hour)
print(babel.dates.format_date(date(2026, 1, 2), locale="ru"), babel.numbers.format_currency(1234.5, "EUR", locale="de_DE"))
Faker.seed(1); print(len(Faker("ru_RU").name()) > 3, len(list(rrule.rrule(rrule.MONTHLY, count=3))))
''')
    assert run.text.replace("\xa0", " ").replace("\u202f", " ") == "True 2026-04-01\n19\n2 янв. 2026 г. 1.234,50 €\nTrue 3\n"


def test_text_tools(person):
    run = person.python('''
import regex, arabic_reshaper, unidecode
from bidi.algorithm import get_display
from rapidfuzz import fuzz, process
from tqdm import tqdm
import sys, requests
from cryptography.fernet import Fernet
print(regex.findall(r"\\p{Cyrillic}+", "abc где 12 ёж"), unidecode.unidecode("Щука"))
print(process.extractOne("Москва", ["Масква", "Омск"], scorer=fuzz.ratio)[0], len(get_display(arabic_reshaper.reshape("مرحبا"))))
print(sum(tqdm(range(10), file=sys.stdout, disable=True)), Fernet(key := Fernet.generate_key()).decrypt(Fernet(key).encrypt(b"x")))
try: requests.get("http://example.org", timeout=2)
except requests.ConnectionError: print("no network")
from IPython.display import display, HTML
print(HTML("<b>x</b>").data)
''')
    assert run.text == "['где', 'ёж'] Shchuka\nМасква 5\n45 b'x'\nno network\n<b>x</b>\n"
