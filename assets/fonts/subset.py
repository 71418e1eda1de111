#!/usr/bin/env python3
"""Cuts Phosphor.ttf down to the icons that app/src/icons.rs names.

Needs fonttools (`pip install fonttools`) and the whole font, `src/regular/Phosphor.ttf` of the npm package
`@phosphor-icons/web` 2.1.2:  assets/fonts/subset.py PATH/TO/Phosphor.ttf
"""

import pathlib
import re
import sys

from fontTools import subset

here = pathlib.Path(__file__).parent
source = (here.parent.parent / "app/src/icons.rs").read_text()
codes = [int(code, 16) for code in re.findall(r"icon\(\"[a-z0-9-]+\", '\\u\{([0-9a-f]+)\}'\)", source)]
if len(sys.argv) != 2 or not codes:
    sys.exit(__doc__)
options = subset.Options()
options.layout_features = []
options.hinting = False
options.glyph_names = False
# Dates would make each run another file.
options.recalc_timestamp = False
font = subset.load_font(sys.argv[1], options)
subsetter = subset.Subsetter(options)
subsetter.populate(unicodes=codes)
subsetter.subset(font)
lacking = set(codes) - set(font.getBestCmap())
if lacking:
    sys.exit(f"not in this font: {', '.join(f'{code:x}' for code in sorted(lacking))}")
subset.save_font(font, str(here / "Phosphor.ttf"), options)
print(f"{len(codes)} icons, {(here / 'Phosphor.ttf').stat().st_size} bytes")
