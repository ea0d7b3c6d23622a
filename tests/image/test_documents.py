"""I8: documents and conversions between them."""


def test_word_document(person):
    run = person.python('''
import docx, docx2txt
from docx.shared import Inches
from PIL import Image
Image.new("RGB", (60, 40), "red").save("red.png")
d = docx.Document(); d.add_heading("Отчёт", 0); d.add_paragraph("Выручка выросла."); d.add_picture("red.png", width=Inches(1))
t = d.add_table(rows=1, cols=2); t.rows[0].cells[0].text = "Омск"; t.rows[0].cells[1].text = "7"
d.save("report.docx"); print("Выручка" in docx2txt.process("report.docx"))
''')
    facts = run.made("report.docx")
    assert run.text == "True\n" and "Выручка выросла." in facts["text"]
    assert facts["pictures"] == 1 and facts["tables"] == [[["Омск", "7"]]]


def test_word_template(person):
    facts = person.python('''
import docx, docxtpl
d = docx.Document(); d.add_paragraph("Уважаемый {{ name }}!"); d.save("t.docx")
t = docxtpl.DocxTemplate("t.docx"); t.render({"name": "Пётр"}); t.save("letter.docx")
''').made("letter.docx")
    assert facts["text"] == "Уважаемый Пётр!"


def test_slides_with_a_chart(person):
    facts = person.python('''
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
p = Presentation(); s = p.slides.add_slide(p.slide_layouts[5]); s.shapes.title.text = "Итоги года"
data = CategoryChartData(); data.categories = ["Q1", "Q2"]; data.add_series("Сумма", (3, 5))
s.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(6), Inches(4), data)
p.save("talk.pptx")
''').made("talk.pptx")
    assert facts["slides"] == [["Итоги года"]] and facts["charts"] == 1


def test_pdf_by_reportlab_in_cyrillic(person):
    facts = person.python('''
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import SimpleDocTemplate, Paragraph, Table, PageBreak
from reportlab.lib.styles import ParagraphStyle
pdfmetrics.registerFont(TTFont("DejaVu", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"))
style = ParagraphStyle("x", fontName="DejaVu", fontSize=12)
SimpleDocTemplate("r.pdf", pagesize=A4).build([Paragraph("Счёт на оплату", style), PageBreak(), Table([["Итого", "42"]], style=[("FONT", (0, 0), (-1, -1), "DejaVu")])])
''').made("r.pdf")
    assert facts["pages"] == 2 and "Счёт на оплату" in facts["text"] and "Итого" in facts["text"]


def test_pdf_by_fpdf_in_many_scripts(person):
    facts = person.python('''
from fpdf import FPDF
pdf = FPDF(); pdf.add_page(); pdf.add_font("noto", fname="/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf"); pdf.set_font("noto", size=14)
pdf.multi_cell(0, 10, "Договор Ωμέγα Grüße"); pdf.output("d.pdf")
''').made("d.pdf")
    assert facts["pages"] == 1 and "Договор Ωμέγα Grüße" in facts["text"]


def test_pdf_merged_split_locked_and_read(person):
    run = person.python('''
from pypdf import PdfReader, PdfWriter
import PyPDF2, pdfplumber, pikepdf, pymupdf, pypdfium2
from fpdf import FPDF
for name in "ab":
    p = FPDF(); p.set_font("helvetica", size=20)
    for n in (1, 2): p.add_page(); p.cell(text=f"file {name} page {n}")
    p.output(name + ".pdf")
w = PdfWriter()
for name in "ab": w.append(name + ".pdf")
w.write("both.pdf")
print([page.extract_text() for page in PdfReader("both.pdf").pages][3], len(PyPDF2.PdfReader("both.pdf").pages))
with pdfplumber.open("both.pdf") as p: print(p.pages[0].extract_text())
with pikepdf.open("both.pdf") as p: del p.pages[1:]; p.save("one.pdf", encryption=pikepdf.Encryption(owner="o", user="u"))
doc = pymupdf.open("both.pdf"); print(doc[2].get_text().strip()); doc[2].get_pixmap(dpi=60).save("page.png")
pypdfium2.PdfDocument("a.pdf")[0].render(scale=1).to_pil().save("first.png")
''')
    assert run.text == "file b page 2 4\nfile a page 1\nfile b page 1\n"
    assert run.made("both.pdf")["pages"] == 4
    run.picture("page.png", 400, 600, colours=2)
    run.picture("first.png", 500, 800, colours=2)


def test_pdf_in_bash(person):
    run = person.bash('''
set -e
python3 -c "
import img2pdf, io
from PIL import Image
for n, colour in enumerate(['red', 'blue']): Image.new('RGB', (300, 200), colour).save(f'{n}.jpg')
open('p.pdf', 'wb').write(img2pdf.convert(['0.jpg', '1.jpg']))
"
qpdf --empty --pages p.pdf 2 p.pdf 1 -- turned.pdf
pdfinfo turned.pdf | grep Pages
pdftoppm -r 72 -png -f 1 -l 1 turned.pdf page
ls page*.png
''')
    assert "Pages:           2" in run.text
    facts = run.made(run.text.strip().split("\n")[-1])
    assert facts["mean"][2] > 200 and facts["mean"][0] < 60


def test_pdf_to_pictures_and_text_recognition(person):
    run = person.python('''
import pytesseract
from pdf2image import convert_from_path
from reportlab.pdfgen.canvas import Canvas
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
pdfmetrics.registerFont(TTFont("DejaVu", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"))
c = Canvas("scan.pdf", pagesize=(400, 120)); c.setFont("DejaVu", 28); c.drawString(20, 50, "Invoice 2026 Счёт"); c.save()
(page,) = convert_from_path("scan.pdf", dpi=150)
print(pytesseract.image_to_string(page, lang="eng+rus").strip())
''')
    assert "Invoice 2026" in run.text and "Сч" in run.text


def test_markdown_and_templates_to_a_page(person):
    facts = person.python('''
import markdown
from jinja2 import Template
body = markdown.markdown("# Итог\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |", extensions=["tables"])
open("page.html", "w").write(Template("<html><body>{{ body }}{% for x in xs %}<i>{{ x }}</i>{% endfor %}</body></html>").render(body=body, xs=[1, 2]))
''').made("page.html")
    assert "<h1>Итог</h1>" in facts["text"] and "<td>1</td>" in facts["text"] and "<i>2</i>" in facts["text"]


def test_rich_text_and_old_pages(person):
    assert person.python(r'''
from striprtf.striprtf import rtf_to_text
print(rtf_to_text(r"{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8\'e2\'e5\'f2}"))
''').text.strip() == "Привет"


def test_svg_to_png_and_pdf(person):
    run = person.python('''
import cairosvg
from svglib.svglib import svg2rlg
from reportlab.graphics import renderPDF
svg = "<svg xmlns='http://www.w3.org/2000/svg' width='200' height='100'><rect width='100' height='100' fill='green'/><text x='110' y='50'>текст</text></svg>"
open("a.svg", "w").write(svg)
cairosvg.svg2png(bytestring=svg.encode(), write_to="a.png"); renderPDF.drawToFile(svg2rlg("a.svg"), "a.pdf")
''')
    run.picture("a.png", 200, 100, colours=4)
    assert run.made("a.pdf")["pages"] == 1


def test_calendar(person):
    run = person.python('''
from datetime import datetime
from icalendar import Calendar, Event
c = Calendar(); c.add("prodid", "-//x//"); c.add("version", "2.0"); e = Event(); e.add("summary", "Встреча"); e.add("dtstart", datetime(2026, 12, 1, 10)); e.add("uid", "1"); c.add_component(e)
open("m.ics", "wb").write(c.to_ical())
''')
    assert "SUMMARY:Встреча" in run.made("m.ics")["text"]


def test_codes_for_scanners(person):
    run = person.python('''
import barcode, qrcode
from barcode.writer import ImageWriter
import cv2
qrcode.make("https://example.org/привет").save("qr.png")
print(cv2.QRCodeDetector().detectAndDecode(cv2.imread("qr.png"))[0])
barcode.get("ean13", "400638133393", writer=ImageWriter()).save("ean")
''')
    assert run.text == "https://example.org/привет\n"
    run.picture("qr.png", 250, 250, colours=2)
    run.picture("ean.png", 300, 150, colours=2)
