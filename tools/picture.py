"""Draw `_static/book.png`, the picture of the book that a link to it shows, from its front page.

python tools/picture.py      after `make book`
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
SITE, PICTURE, SIZE = ROOT / "_build" / "html", ROOT / "_static" / "book.png", (1200, 630)
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ALONE = """.bd-sidebar-primary, .bd-header-article { display: none !important; }
  .bd-main .bd-content { justify-content: center; }
  .bd-article-container { padding-top: 1.6rem !important; }"""


def main() -> None:
    """Take a picture of the front page while it is alive, and keep it in 64 colours."""
    if not (SITE / "index.html").exists():
        sys.exit("There is no website yet: run 'make book' first.")
    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, BROWSERS)), None)
        arguments = ["--no-sandbox", "--allow-file-access-from-files"]
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        page = browser.new_page(viewport=dict(zip(("width", "height"), SIZE, strict=True)))
        page.goto((SITE / "index.html").as_uri())
        page.add_style_tag(content=ALONE)
        page.wait_for_selector(".pieces-whole-model .p-say")
        page.wait_for_timeout(500)
        shot = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    shot.convert("RGB").quantize(64).save(PICTURE, optimize=True)
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
