"""What holds of every page: no error, both colour schemes readable, nothing wider than the window, drawn soon."""

WIDTHS = {360: 3, 900: 1, 1600: 1}  # of the window, with the device's pixels a CSS pixel
LEAST_CONTRAST = 4.5  # WCAG 2.2, 1.4.3: text of ordinary size

# Each text that is seen, with the ratio of its luminance to that of what lies behind it (WCAG 2.2, "contrast ratio").
CONTRASTS = """(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const linear = (c) => c / 255 <= .04045 ? c / 255 / 12.92 : ((c / 255 + .055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const behind = (e) => {
    const colour = channels(getComputedStyle(e).backgroundColor);
    return colour[3] !== 0 || !e.parentElement ? colour : behind(e.parentElement);
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
    const box = e.getBoundingClientRect();  // a pixel wide: for those who have a page read to them
    if (!text || !e.checkVisibility() || box.width <= 1 || box.height <= 1) continue;
    const [low, high] = [channels(getComputedStyle(e).color), behind(e)].map(luminance).sort((a, b) => a - b);
    texts.push({ text: text.slice(0, 40), ratio: (high + .05) / (low + .05) });
  }
  return texts;
})()"""

CANVASES = """[...document.querySelectorAll("canvas")].map((c) => {
  const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", { willReadFrequently: true }), seen = new Set();
  copy.drawImage(c, 0, 0);
  const { data } = copy.getImageData(0, 0, c.width, c.height);
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  return { shown: [c.clientWidth, c.clientHeight], drawn: [c.width, c.height], room: c.parentElement.clientWidth, colours: seen.size };
})"""

STICK_OUT = """[...document.body.querySelectorAll("*")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
  .map((e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : ""))"""


def has_no_complaint(page, expect):
    expect(page.complaints() == [], f"the console says {page.complaints()}")


def is_no_wider_than_the_window(page, expect):
    """What is wider, such as a table, scrolls in a frame of its own."""
    for width, ratio in WIDTHS.items():
        page.resize(width, ratio=ratio)
        page.settle()
        needed = page.value("document.documentElement.scrollWidth")
        expect(needed <= width, f"{needed} pixels wide in a window of {width}")
    page.resize(1600)
    page.settle()


def fits_its_width(page, expect):
    for width, ratio in WIDTHS.items():
        page.resize(width, ratio=ratio)
        page.settle()
        expect(page.value("document.querySelectorAll('canvas, svg').length") > 0, "no picture is on the page")
        needed = page.value("document.documentElement.scrollWidth")
        expect(needed <= width, f"{needed} pixels wide in a window of {width}")
        outside = page.value(STICK_OUT)
        expect(not outside, f"in a window of {width} these stick out: {outside}")
        for canvas in page.value(CANVASES):
            right = [round(length * ratio) for length in canvas["shown"]]
            expect(canvas["drawn"] == right, f"a canvas has {canvas['drawn']} pixels, not {right}, in a window of {width}")
            expect(canvas["room"] / 2 < canvas["shown"][0] <= canvas["room"], f"a canvas does not fill its place: {canvas}")
            expect(canvas["colours"] > 4, f"a canvas is empty in a window of {width}")
    page.resize(1600)
    page.settle()


def is_readable_in_both_schemes(page, expect):
    grounds, pictures = {}, {}
    for scheme in ("dark", "light"):
        page.prefer(scheme)
        page.settle()
        texts = page.value(CONTRASTS)
        expect(len(texts) > 10, "there is hardly a text")
        for text in texts:
            expect(text["ratio"] >= LEAST_CONTRAST, f"{scheme}: contrast {text['ratio']:.1f} of '{text['text']}'")
        grounds[scheme] = page.value("getComputedStyle(document.body).backgroundColor")
        pictures[scheme] = page.value("[...document.querySelectorAll('canvas')].map((c) => c.toDataURL())")
    expect(grounds["light"] != grounds["dark"], f"both schemes have the ground {grounds['light']}")
    for light, dark in zip(pictures["light"], pictures["dark"]):
        expect(light != dark, "a picture is not drawn again when the scheme changes")


def is_drawn_within(seconds):
    """The best of three, since the machine may be busy with other things."""

    def check(page, expect):
        times = []
        for _ in range(3):
            page.open(page.file)
            times.append(page.settle() / 1000)
        print(f"    drawn {min(times):.2f} s after the page began to load, best of {len(times)}")
        expect(min(times) <= seconds, f"drawn in {min(times):.2f} s, more than {seconds}")

    return check
