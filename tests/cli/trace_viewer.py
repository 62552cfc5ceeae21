"""A trace as TensorBoard's viewer reads it: Chrome's own importer, as PyTorch's plugin for TensorBoard has it.

The plugin (torch-tb-profiler) brings the viewer as one page, whose drawing wants what browsers no longer have. What
reads traces does not: its scripts are run in a Chromium one by one, and those that draw may fail.
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ASK = "import importlib.util as u; s = u.find_spec('torch_tb_profiler'); print(s.submodule_search_locations[0])"

PAGE = """<!DOCTYPE html><html><head><script>
window.Polymer = Object.assign(() => function () {}, {dom: node => node, Base: {}, Settings: {}});
</script><script>%s</script></head><body><script>
const options = new tr.importer.ImportOptions(), model = new tr.Model();
const seen = {warnings: (model.importWarnings_ || []), slices: [], counters: []};
options.shiftWorldToZero = false;
new tr.importer.Import(model, options).importTraces([%s]);
for (const process of Object.values(model.processes)) {
  for (const thread of Object.values(process.threads))
    for (const s of thread.sliceGroup.slices)
      seen.slices.push([process.name || '', thread.name || '', s.title, s.start, s.duration,
                        s.parentSlice ? s.parentSlice.title : null]);
  for (const counter of Object.values(process.counters))
    seen.counters.push([process.name || '', counter.name, counter.series[0].samples.map(s => s.value)]);
}
seen.warnings = seen.warnings.map(w => w.message);
document.body.textContent = JSON.stringify(seen);
</script></body></html>"""


def find():
    """The viewer's page, or None: of $PYTHON's packages, else of this Python's."""
    python = os.environ.get("PYTHON", "python3")
    try:
        folder = subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
    page = pathlib.Path(folder) / "static" / "trace_viewer_full.html"
    return page if folder and page.exists() else None


def read(viewer, trace, folder):
    """{"warnings": [...], "slices": [[process, thread, title, start, ms, parent's title]], "counters": [...]}"""
    script = re.search(r"<script>(.*?)</script>", viewer.read_text(), re.S)[1]
    script = script[script.index("'use strict';const global=this.window||this.global;this.tr="):]
    for part in ("tr.exportTo(", "Polymer("):
        script = script.replace(f"'use strict';{part}", f"</script><script>'use strict';{part}")
    page = folder / "viewer.html"
    page.write_text(PAGE % (script, json.dumps(trace.read_text()).replace("</", "<\\/")))
    done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()],
                          capture_output=True, text=True, timeout=120, check=True)
    return json.loads(html.unescape(re.search(r"<body>(\{.*\})</body>", done.stdout, re.S)[1]))
