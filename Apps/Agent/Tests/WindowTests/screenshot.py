# SPDX-License-Identifier: Apache-2.0
"""The pixels of the display."""

import os
import re
import subprocess

from accessible import check, until

# The accessibility bus reports logical units, each of which is several pixels at a larger scale.
SCALE = int(os.environ.get("GDK_SCALE") or 1)


class Screenshot:
    """The pixels of the display, written to a file meanwhile."""

    def __init__(self, file):
        subprocess.run(["import", "-window", "root", "-depth", "8", file], check=True, timeout=30)
        with open(file, "rb") as pixels:
            data = pixels.read()
        # A binary PPM (netpbm, ppm(5)): "P6", width, height and 255 in text, then red, green and blue of each pixel.
        # One byte separates the header from the pixels, of which the first can be equal to a space.
        header = re.match(rb"P6\s(\d+)\s\d+\s255\s", data)
        check(header, f"{file} is a PPM of 8 bits")
        self.width = int(header[1])
        self.bytes = data[header.end():]

    def contrast(self, left, top, width, height):
        """The contrast ratio between the lightest and the darkest pixel in a rectangle (WCAG 2.1, "contrast ratio"),
        which is the contrast of its text: pixels at the edges of text are between both."""
        places = [(row * self.width + column) * 3 for row in range(top, top + height)
                  for column in range(left, left + width)]
        pixels = {self.bytes[place:place + 3] for place in places if 0 <= place and place + 3 <= len(self.bytes)}
        lights = [luminance(pixel) for pixel in pixels]
        return (max(lights) + 0.05) / (min(lights) + 0.05)


def luminance(pixel):
    """WCAG 2.1, "relative luminance"."""
    values = [byte / 255 for byte in pixel]
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return sum(light * weight for light, weight in zip(linear, (0.2126, 0.7152, 0.0722)))


def pixels(machine):
    return Screenshot(machine.folder + "/screen.ppm")


def changes_from(machine, before):
    """Waits until the display shows other pixels."""
    until(lambda: pixels(machine).bytes != before.bytes, lambda: "the display shows the same pixels")


def contrast(machine, text):
    """The contrast ratio of a text and its background."""
    frame = text.frame()
    check(frame and frame[2] > 100 and frame[3] > 5, f"the text has a size: {frame}")
    return pixels(machine).contrast(*(number * SCALE for number in frame))
