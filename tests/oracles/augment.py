#!/usr/bin/env python3
"""What timm and torchvision make of images, and how often they draw what:

    python3 tests/oracles/augment.py > tests/oracles/augment.json

Images are made by a formula that tests/train/photographs_test.cpp has too; of what becomes of them the CRC-32 is kept.
Draws are another generator's, so of these quantiles are kept."""
import json
import random
import sys
import zlib

try:
    import numpy as np
    from PIL import Image
    from timm.data import auto_augment, mixup
    from timm.data.transforms import RandomResizedCropAndInterpolation
    from torchvision.transforms import functional
except ImportError as missing:
    print(f"augment: skipped: {missing}", file=sys.stderr)
    sys.exit(77)

MEAN = (124, 116, 104)
FILTERS = (Image.BILINEAR, Image.BICUBIC)
DRAWS = 40000


def made_image(height, width, channels, narrow):
    """Bytes without a pattern; with `narrow` only some of the values."""
    values = [(37 * i + i * i // 5) % 256 for i in range(height * width * channels)]
    if narrow:
        values = [60 + value // 3 for value in values]
    pixels = np.array(values, dtype=np.uint8).reshape((height, width, channels) if channels > 1 else (height, width))
    return Image.fromarray(pixels)


def crc(image):
    return zlib.crc32(np.asarray(image).tobytes())


def operations():
    rows = []
    for name in dict.fromkeys(auto_augment._RAND_TRANSFORMS + auto_augment._RAND_INCREASING_TRANSFORMS):
        moves = name in ("Rotate", "ShearX", "ShearY", "TranslateXRel", "TranslateYRel")
        for magnitude in (2.7, 9.0):
            for negated in (False, True):
                for bicubic in (False, True) if moves else (False,):
                    auto_augment._randomly_negate = lambda v, negated=negated: -v if negated else v
                    hparams = {"img_mean": MEAN, "interpolation": FILTERS[bicubic]}
                    op = auto_augment.AugmentOp(name, prob=1.0, magnitude=magnitude, hparams=hparams)
                    made = [crc(op(made_image(9, 12, 3, narrow))) for narrow in (False, True)]
                    rows.append([name, magnitude, negated, bicubic, made])
    return rows


def colours():
    changes = {"brightness": functional.adjust_brightness, "contrast": functional.adjust_contrast,
               "saturation": functional.adjust_saturation, "hue": functional.adjust_hue}
    rows = []
    for name, change in changes.items():
        for factor in (-0.3, 0.1, 0.45) if name == "hue" else (0.25, 0.6, 1.4):
            rows.append([name, factor, [crc(change(made_image(9, 12, channels, True), factor)) for channels in (1, 3)]])
    return rows


def resized():
    rows = []
    for top, left, height, width, out_height, out_width in ((2, 3, 20, 30, 16, 16), (0, 0, 40, 20, 24, 8),
                                                            (5, 1, 6, 7, 12, 16), (0, 0, 40, 50, 36, 44)):
        for bicubic in (False, True):
            image = made_image(40, 50, 3, False)
            made = functional.resized_crop(image, top, left, height, width, [out_height, out_width], FILTERS[bicubic])
            rows.append([[top, left, height, width], [out_height, out_width], bicubic, crc(made)])
    return rows


def quantiles(values):
    return [round(float(q), 3) for q in np.quantile(values, [0.1, 0.25, 0.5, 0.75, 0.9])]


def parts(height, width):
    """Of an image of that size: shares of its area, widths by heights, and places among those that there are."""
    random.seed(1)
    image, crop = Image.new("L", (width, height)), RandomResizedCropAndInterpolation(1)
    drawn = [crop.get_params(image, crop.scale, crop.ratio) for _ in range(DRAWS)]
    return {"area": quantiles([h * w / (height * width) for _, _, h, w in drawn]),
            "shape": quantiles([w / h for _, _, h, w in drawn]),
            "top": quantiles([t / max(height - h, 1) for t, _, h, _ in drawn])}


def narrow_parts():
    """Where no part has an allowed shape and area."""
    crop = RandomResizedCropAndInterpolation(1, scale=(0.9, 1.0))
    return [[size, list(crop.get_params(Image.new("L", (size[1], size[0])), crop.scale, crop.ratio))]
            for size in ([10, 100], [97, 12])]


def magnitudes(config):
    """How often an operation is applied, and with which magnitudes."""
    random.seed(2)
    op = auto_augment.rand_augment_transform(config, {}).ops[3]
    seen = []
    op.level_fn = lambda magnitude, _: seen.append(magnitude) or (0,)
    image = Image.new("RGB", (4, 4))
    for _ in range(DRAWS):
        op(image)
    return {"applied": round(len(seen) / DRAWS, 2), "of": quantiles(seen)}


def mixes(settings):
    """Of batches of 32 x 32: how many are cut, and the shares of its own image that an image keeps."""
    np.random.seed(3)
    mix = mixup.Mixup(num_classes=2, **settings)
    shares, cuts = [], 0
    for _ in range(DRAWS):
        share, cut = mix._params_per_batch()
        cuts += cut
        if cut:
            _, share = mixup.cutmix_bbox_and_lam((1, 3, 32, 32), share)
        shares.append(share)
    return {"cut": round(cuts / DRAWS, 2), "share": quantiles(shares)}


def main():
    mixings = ({"mixup_alpha": 0.8, "cutmix_alpha": 1.0, "prob": 0.9, "switch_prob": 0.3}, {"mixup_alpha": 0.2},
               {"mixup_alpha": 0.0, "cutmix_alpha": 1.0}, {"mixup_alpha": 3.0})
    kept = {"operations": operations(), "colours": colours(), "resized": resized(),
            "parts": [[size, parts(*size)] for size in ([60, 80], [32, 32])], "narrow_parts": narrow_parts(),
            "magnitudes": [[config, magnitudes(config)] for config in ("rand-m9-mstd0.5-inc1", "rand-m7-mstd101")],
            "mixes": [[settings, mixes(settings)] for settings in mixings]}
    sections = []
    for name, rows in kept.items():
        sections.append(f" {json.dumps(name)}: [\n  " + ",\n  ".join(json.dumps(row) for row in rows) + "\n ]")
    print("{\n" + ",\n".join(sections) + "\n}")


main()
