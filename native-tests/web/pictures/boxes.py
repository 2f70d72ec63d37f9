#!/usr/bin/env python3
"""Writes boxes.ttf: every character is a box of the same width, so that the texts of pictures are the same on every
machine. Needs fonttools; run it only to change the font."""

import pathlib

from fontTools import fontBuilder
from fontTools.pens import ttGlyphPen
from fontTools.ttLib.tables import _c_m_a_p

UNITS, WIDTH = 1000, 560


def box():
    pen = ttGlyphPen.TTGlyphPen(None)
    pen.moveTo((60, 0))
    for corner in ((60, 520), (500, 520), (500, 0)):
        pen.lineTo(corner)
    pen.closePath()
    return pen.glyph()


def all_characters():
    """A table in which a range of characters is one glyph."""
    table = _c_m_a_p.CmapSubtable.newSubtable(13)
    table.platformID, table.platEncID, table.language = 3, 10, 0
    table.cmap = {0x20: "space", **{code: "box" for code in range(0x21, 0x2fffe)}}
    return table


builder = fontBuilder.FontBuilder(UNITS, isTTF=True)
builder.setupGlyphOrder([".notdef", "space", "box"])
builder.setupCharacterMap({0x20: "space", 0x41: "box"})
builder.setupGlyf({".notdef": box(), "space": ttGlyphPen.TTGlyphPen(None).glyph(), "box": box()})
builder.setupHorizontalMetrics({name: (WIDTH, 0) for name in (".notdef", "space", "box")})
builder.setupHorizontalHeader(ascent=900, descent=-250)
builder.setupNameTable({"familyName": "Boxes", "styleName": "Regular"})
builder.setupOS2(sTypoAscender=900, sTypoDescender=-250, usWinAscent=900, usWinDescent=250)
builder.setupPost()
builder.font["cmap"].tables = [all_characters()]
builder.font["head"].created = builder.font["head"].modified = 0
builder.font.recalcTimestamp = False
builder.save(pathlib.Path(__file__).with_name("boxes.ttf"))
