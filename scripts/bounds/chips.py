"""GPUs and what is published of them. docs/bounds.md names the sources of each column and which constants are fitted or
estimates of ours.

A chip is its architecture's numbers with its own: multiprocessors, boost clock in GHz, memory in GB/s, L2 in MB.
"""

import re

# Cycles are those of the boost clock; Hopper's tensor cores run at 0.923 of it.
# A quarter of a multiprocessor: lanes of pipes; a multiprocessor: limits, latencies in cycles, widths in bytes a cycle.
ARCHITECTURES = {
    70: dict(warps=64, blocks=32, registers=65536, shared=96 << 10, shared_block_reserved=0, l1_bytes=128 << 10,
             lanes_fma=16, lanes_heavy=16, lanes_alu=16, lanes_half=16, lanes_double=8, lanes_special=4,
             lanes_convert=4, tensor=128, tensor_f32=128,
             lsu_lanes=32, reading_lanes=20, shared_width=128,
             l2_port=32, l2_read=2048, l2_slices=2048,
             latency_shared=24, latency_l1=28, latency_l2=193, latency_dram=400),
    75: dict(warps=32, blocks=16, registers=65536, shared=64 << 10, shared_block_reserved=0, l1_bytes=96 << 10,
             lanes_fma=16, lanes_heavy=16, lanes_alu=16, lanes_half=16, lanes_double=.5, lanes_special=4,
             lanes_convert=4, tensor=128, tensor_f32=128,
             lsu_lanes=16, reading_lanes=16, shared_width=64,
             l2_port=32, l2_slices=0, latency_shared=22, latency_l1=32, latency_l2=188, latency_dram=430),
    80: dict(warps=64, blocks=32, registers=65536, shared=164 << 10, shared_block_reserved=1024, l1_bytes=192 << 10,
             lanes_fma=16, lanes_heavy=16, lanes_alu=16, lanes_half=32, lanes_double=8, lanes_special=4,
             lanes_convert=16, tensor=256, tensor_f32=256,
             lsu_lanes=32, reading_lanes=20, shared_width=128,
             l2_port=64, l2_read=5120, l2_slices=5120,
             latency_shared=29, latency_l1=38, latency_l2=262, latency_dram=466),
    86: dict(warps=48, blocks=16, registers=65536, shared=100 << 10, shared_block_reserved=1024, l1_bytes=128 << 10,
             lanes_fma=32, lanes_heavy=16, lanes_alu=16, lanes_half=16, lanes_double=.5, lanes_special=4,
             lanes_convert=16, tensor=128, tensor_f32=128,
             lsu_lanes=16, reading_lanes=16, shared_width=128,
             l2_port=32, latency_shared=29, latency_l1=38, latency_l2=230, latency_dram=480),
    90: dict(warps=64, blocks=32, registers=65536, shared=228 << 10, shared_block_reserved=1024, l1_bytes=256 << 10,
             lanes_fma=32, lanes_heavy=16, lanes_alu=16, lanes_half=32, lanes_double=16, lanes_special=4,
             lanes_convert=16, tensor=473, tensor_f32=473, tensor_warp=.63,
             lsu_lanes=32, reading_lanes=16, shared_width=128,
             l2_port=64, l2_read=3360, l2_boxes=5120, l2_slices=5120,
             latency_shared=29, latency_l1=41, latency_l2=263, latency_dram=479),
}
# Blackwell of data centres; its own matrix instructions (tcgen05) are not told, those of a warp are at A100's rate.
ARCHITECTURES[100] = dict(ARCHITECTURES[90], lanes_half=16, tensor=256, tensor_f32=256, tensor_warp=1, l2_read=0,
                          l2_boxes=0, l2_slices=0)
ARCHITECTURES[103] = dict(ARCHITECTURES[100], lanes_double=.5)
ARCHITECTURES[110] = dict(ARCHITECTURES[103], warps=48, blocks=24)
ARCHITECTURES[72] = ARCHITECTURES[70]
ARCHITECTURES[87] = dict(ARCHITECTURES[86], shared=164 << 10, l1_bytes=192 << 10, tensor=256, tensor_f32=256)
ARCHITECTURES[89] = dict(ARCHITECTURES[86], blocks=24, latency_shared=30, latency_l1=43, latency_l2=273,
                         latency_dram=541)
ARCHITECTURES[120] = dict(ARCHITECTURES[89], lanes_add=32, latency_l1=40, latency_l2=358, latency_dram=640)
ARCHITECTURES[121] = ARCHITECTURES[120]

# name as people write it: (architecture, multiprocessors, boost GHz, memory GB/s, L2 MB, changes to the architecture);
# of a laptop's the highest clock of NVIDIA's range: which one it has is up to the laptop's maker
GEFORCE = dict(half_tensor=True)
# Held below what their multiprocessors could do: L40 and L20 have 181 and 119.5 TFLOPS of halves, half of L40S's a
# multiprocessor, H20 has 148 and 1 of doubles, H800 1 of doubles.
HALF_OF_L40S = dict(tensor=64, tensor_f32=64)
CHIPS = {
    "V100 SXM2": (70, 80, 1.530, 900, 6, {}),
    "V100 PCIe": (70, 80, 1.380, 900, 6, {}),
    "V100S": (70, 80, 1.597, 1134, 6, {}),
    "Titan V": (70, 80, 1.455, 653, 4.5, dict(l2_read=1536, l2_slices=1536)),
    "T4": (75, 40, 1.590, 320, 4, dict(busy_clock=1.13, l2_slices=1024)),  # it may take 70 W
    "RTX 2060": (75, 30, 1.680, 336, 3, GEFORCE),
    "RTX 2060 Super": (75, 34, 1.650, 448, 4, GEFORCE),
    "RTX 2070": (75, 36, 1.620, 448, 4, GEFORCE),
    "RTX 2070 Super": (75, 40, 1.770, 448, 4, GEFORCE),
    "RTX 2080": (75, 46, 1.710, 448, 4, GEFORCE),
    "RTX 2080 Super": (75, 48, 1.815, 496, 4, GEFORCE),
    "RTX 2080 Ti": (75, 68, 1.545, 616, 5.5, GEFORCE),
    "Titan RTX": (75, 72, 1.770, 672, 6, {}),
    "GTX 1650": (75, 14, 1.665, 128, 1, GEFORCE),
    "GTX 1650 Super": (75, 20, 1.725, 192, 1, GEFORCE),
    "GTX 1660 Ti": (75, 24, 1.770, 288, 1.5, GEFORCE),
    "GTX 1660": (75, 22, 1.785, 192, 1.5, GEFORCE),
    "GTX 1660 Super": (75, 22, 1.785, 336, 1.5, GEFORCE),
    "Quadro RTX 4000": (75, 36, 1.545, 416, 4, {}),
    "Quadro RTX 5000": (75, 48, 1.815, 448, 4, {}),
    "Quadro RTX 6000": (75, 72, 1.770, 672, 6, {}),
    "Quadro RTX 8000": (75, 72, 1.770, 672, 6, {}),
    "A100 PCIe 40GB": (80, 108, 1.410, 1555, 40, {}),
    "A100 PCIe 80GB": (80, 108, 1.410, 1935, 40, {}),
    "A100 SXM4 40GB": (80, 108, 1.410, 1555, 40, {}),
    "A100 SXM4 80GB": (80, 108, 1.410, 2039, 40, {}),
    "A800": (80, 108, 1.410, 2039, 40, {}),
    "A30": (80, 56, 1.440, 933, 24, {}),
    "A2": (86, 10, 1.770, 200, 2, {}),
    "A10": (86, 72, 1.695, 600, 6, {}),
    "A10G": (86, 80, 1.710, 600, 6, {}),
    "A16": (86, 10, 1.695, 200, 2, {}),
    "A40": (86, 84, 1.740, 696, 6, {}),
    "RTX A2000": (86, 26, 1.200, 288, 3, {}),
    "RTX A4000": (86, 48, 1.560, 448, 4, {}),
    "RTX A4500": (86, 56, 1.650, 640, 6, {}),
    "RTX A5000": (86, 64, 1.695, 768, 6, {}),
    "RTX A5500": (86, 80, 1.665, 768, 6, {}),
    "RTX A6000": (86, 84, 1.800, 768, 6, {}),
    "RTX 3050": (86, 20, 1.777, 224, 2, GEFORCE),
    "RTX 3060": (86, 28, 1.777, 360, 3, GEFORCE),
    "RTX 3060 Ti": (86, 38, 1.665, 448, 4, GEFORCE),
    "RTX 3070": (86, 46, 1.725, 448, 4, GEFORCE),
    "RTX 3070 Ti": (86, 48, 1.770, 608, 4, GEFORCE),
    "RTX 3080": (86, 68, 1.710, 760, 5, GEFORCE),
    "RTX 3080 Ti": (86, 80, 1.665, 912, 6, GEFORCE),
    "RTX 3090": (86, 82, 1.695, 936, 6, GEFORCE),
    "RTX 3090 Ti": (86, 84, 1.860, 1008, 6, GEFORCE),
    "RTX 3050 Laptop": (86, 16, 1.740, 192, 2, GEFORCE),
    "RTX 3050 Ti Laptop": (86, 20, 1.695, 192, 2, GEFORCE),
    "RTX 3060 Laptop": (86, 30, 1.703, 336, 3, GEFORCE),
    "RTX 3070 Laptop": (86, 40, 1.620, 448, 4, GEFORCE),
    "RTX 3080 Laptop": (86, 48, 1.710, 448, 4, GEFORCE),
    "Jetson Orin": (87, 16, 1.300, 204, 4, {}),
    "Jetson Orin NX": (87, 8, 0.918, 102, 2, {}),
    "Jetson Orin Nano": (87, 8, 0.625, 68, 2, {}),
    "Jetson Orin Nano Super": (87, 8, 1.020, 102, 2, {}),
    "RTX 4060": (89, 24, 2.460, 272, 24, GEFORCE),
    "RTX 4060 Ti": (89, 34, 2.535, 288, 32, GEFORCE),
    "RTX 4070": (89, 46, 2.475, 504, 36, GEFORCE),
    "RTX 4070 Super": (89, 56, 2.475, 504, 48, GEFORCE),
    "RTX 4070 Ti": (89, 60, 2.610, 504, 48, GEFORCE),
    "RTX 4070 Ti Super": (89, 66, 2.610, 672, 48, GEFORCE),
    "RTX 4080": (89, 76, 2.505, 717, 64, GEFORCE),
    "RTX 4080 Super": (89, 80, 2.550, 736, 64, GEFORCE),
    "RTX 4090": (89, 128, 2.520, 1008, 72, GEFORCE),
    "RTX 4090 D": (89, 114, 2.520, 1008, 72, GEFORCE),
    "RTX 4060 Laptop": (89, 24, 2.370, 256, 32, GEFORCE),
    "RTX 4070 Laptop": (89, 36, 2.175, 256, 32, GEFORCE),
    "RTX 4080 Laptop": (89, 58, 2.280, 432, 48, GEFORCE),
    "RTX 4090 Laptop": (89, 76, 2.040, 576, 64, GEFORCE),
    "RTX 4050 Laptop": (89, 20, 2.370, 192, 12, GEFORCE),
    "RTX 2000 Ada": (89, 22, 2.130, 224, 12, {}),
    "RTX 2000 Ada Laptop": (89, 24, 2.115, 256, 12, {}),
    "RTX 6000 Ada": (89, 142, 2.505, 960, 96, {}),
    "RTX 4000 Ada": (89, 48, 2.175, 360, 48, {}),
    "L4": (89, 58, 2.040, 300, 48, {}),
    "L20": (89, 92, 2.520, 864, 96, HALF_OF_L40S),
    "L40": (89, 142, 2.490, 864, 96, HALF_OF_L40S),
    "L40S": (89, 142, 2.520, 864, 96, {}),
    "H100 SXM5": (90, 132, 1.980, 3350, 50, {}),
    "H100 PCIe": (90, 114, 1.755, 2039, 50, {}),
    "H100 NVL": (90, 132, 1.785, 3938, 60, {}),
    "H800": (90, 132, 1.980, 3350, 50, dict(lanes_double=.5)),
    "H20": (90, 78, 1.980, 4000, 60, dict(tensor=120, tensor_f32=120, lanes_double=.8)),
    "H200": (90, 132, 1.980, 4800, 60, {}),
    "GH200": (90, 132, 1.980, 4000, 60, {}),
    "B100": (100, 148, 1.665, 8000, 126, {}),
    "B200": (100, 148, 1.965, 8000, 126, {}),
    "GB200": (100, 152, 2.062, 8000, 126, {}),
    "B300": (103, 148, 1.920, 8000, 126, {}),
    "GB300": (103, 152, 1.920, 8000, 126, {}),
    "Jetson Thor": (110, 20, 1.575, 273, 32, {}),
    "RTX 5050": (120, 20, 2.572, 320, 32, GEFORCE),
    "RTX 5060": (120, 30, 2.497, 448, 32, GEFORCE),
    "RTX 5060 Ti": (120, 36, 2.572, 448, 32, GEFORCE),
    "RTX 5070": (120, 48, 2.512, 672, 48, GEFORCE),
    "RTX 5070 Ti": (120, 70, 2.452, 896, 48, GEFORCE),
    "RTX 5080": (120, 84, 2.617, 960, 64, GEFORCE),
    "RTX 5090": (120, 170, 2.407, 1792, 96, GEFORCE),
    "RTX 5090 D": (120, 170, 2.407, 1792, 96, GEFORCE),
    "RTX 5050 Laptop": (120, 20, 2.662, 384, 32, GEFORCE),
    "RTX 5060 Laptop": (120, 26, 2.497, 384, 32, GEFORCE),
    "RTX 5070 Laptop": (120, 36, 2.347, 384, 32, GEFORCE),
    "RTX 5070 Ti Laptop": (120, 46, 2.220, 672, 48, GEFORCE),
    "RTX 5080 Laptop": (120, 60, 2.287, 896, 64, GEFORCE),
    "RTX 5090 Laptop": (120, 82, 2.160, 896, 64, GEFORCE),
    "RTX PRO 2000 Blackwell": (120, 34, 2.350, 288, 32, {}),
    "RTX PRO 4000 Blackwell": (120, 70, 2.617, 672, 48, {}),
    "RTX PRO 4500 Blackwell": (120, 82, 2.617, 896, 64, {}),
    "RTX PRO 5000 Blackwell": (120, 110, 2.617, 1344, 96, {}),
    "RTX PRO 6000 Blackwell": (120, 188, 2.617, 1792, 128, {}),
    "RTX PRO 6000 Blackwell Max-Q": (120, 188, 2.280, 1792, 128, {}),
    "RTX PRO 6000 Blackwell Server": (120, 188, 2.430, 1597, 128, {}),
    "GB10": (121, 48, 2.418, 273, 24, GEFORCE),
}
# What is taken where a name leaves the model open.
USUAL = {"v100": "V100 SXM2", "a100": "A100 SXM4 40GB", "h100": "H100 SXM5", "a100 pcie": "A100 PCIe 40GB",
         "a100 sxm4": "A100 SXM4 40GB", "a100 40gb": "A100 SXM4 40GB", "a100 80gb": "A100 SXM4 80GB",
         "a6000": "RTX A6000", "a5000": "RTX A5000", "a4000": "RTX A4000", "titan rtx": "Titan RTX",
         "h100 sxm": "H100 SXM5", "h100 sxm 80gb": "H100 SXM5", "h100 80gb": "H100 SXM5", "dgx spark": "GB10",
         "thor": "Jetson Thor", "agx thor": "Jetson Thor"}

# GHz to which Nsight Compute holds a GPU while it times a kernel, unless it is told not to (--clock-control).
BASE_CLOCKS = {
    "V100 SXM2": 1.290, "V100 PCIe": 1.245, "Titan V": 1.200, "T4": 0.585, "RTX 2060": 1.365, "RTX 2070": 1.410,
    "RTX 2080": 1.515, "RTX 2080 Super": 1.650, "RTX 2080 Ti": 1.350, "Titan RTX": 1.350, "A100 PCIe 40GB": 0.765,
    "A100 PCIe 80GB": 1.065, "A100 SXM4 40GB": 1.095, "A100 SXM4 80GB": 1.275, "A30": 0.930, "A10": 0.885,
    "A10G": 1.320, "A40": 1.305, "RTX A4000": 0.735, "RTX A5000": 1.170, "RTX A6000": 1.410, "RTX 3060": 1.320,
    "RTX 3060 Ti": 1.410, "RTX 3070": 1.500, "RTX 3080": 1.440, "RTX 3080 Ti": 1.365, "RTX 3090": 1.395,
    "RTX 4060": 1.830, "RTX 4070": 1.920, "RTX 4080": 2.205, "RTX 4090": 2.235, "RTX 6000 Ada": 0.915, "L4": 0.795,
    "L40": 0.735, "L40S": 1.110, "H100 PCIe": 1.095, "H100 SXM5": 1.590,
    "RTX 2060 Super": 1.470, "RTX 2070 Super": 1.605, "RTX 3070 Ti": 1.575, "RTX 3090 Ti": 1.560, "RTX 4060 Ti": 2.310,
    "RTX 4070 Super": 1.980, "RTX 4070 Ti": 2.310, "RTX 4070 Ti Super": 2.340, "RTX 4080 Super": 2.295,
    "RTX 5060": 2.280, "RTX 5060 Ti": 2.407, "RTX 5070": 2.325, "RTX 5070 Ti": 2.295, "RTX 5080": 2.295,
    "RTX 5090": 2.017, "RTX 2000 Ada": 1.620,
}

# Fitted to measured times; docs/bounds.md says to which.
FITTED = dict(dram_read=0.93, dram_mixed=0.90, dram_page=64, launch_block=700, launch_kernel=1.4, box_row=1,
              atomic_float=3.3, atomic_sector=0.73, partial_bytes=128)
PAUSE = 1.1  # microseconds between kernels of a stream, in times of many launches that nothing else keeps apart


class Unknown(Exception):
    """A GPU of which nothing is in the table."""


def words(name):
    name = re.sub(r"\(.*?\)", " ", name.lower())
    name = re.sub(r"\b(mobile|notebook)\b", "laptop", name)
    name = re.sub(r"\b(nvidia|tesla|geforce|graphics|gpu|quadro)\b", " ", name)
    name = re.sub(r"\b(rtx|gtx)(\d)", r"\1 \2", re.sub(r"(\d)\s*(ti|super)\b", r"\1 \2", name))
    return re.findall(r"[a-z0-9]+", name.replace("sxm2", "sxm2 ").replace("-", " "))


# Words that make another GPU of a model: 3080 and 3080 Laptop share hardly more than the name.
VARIANTS = {"d", "laptop", "max", "nano", "nx", "super", "ti"}


def find(name):
    """The entry of CHIPS that a name means, as people write it: `Tesla V100`, `A100-PCIE-40GB`, `RTX 3090`."""
    wanted = words(name)
    if (usual := USUAL.get(" ".join(wanted))) is not None:
        return usual
    best, most = None, 0
    for entry in CHIPS:
        have = words(entry)
        model = next(([word] for word in have if re.search(r"\d", word)), have)
        if not set(model) <= set(wanted) or not VARIANTS.intersection(wanted) <= set(have):
            continue
        score = 4 * sum(word in wanted for word in have) - sum(word not in wanted for word in have) \
            - sum(word not in have for word in wanted)
        if score > most:
            best, most = entry, score
    if best is None:
        raise Unknown(f"the GPU {name} is not in the table of chips")
    return best


def numbers(entry, base_clock=False):
    """All numbers of a chip, as the machine reads them; at its base clock for what Nsight Compute timed."""
    architecture, multiprocessors, clock, dram, l2, changes = CHIPS[entry]
    chip = dict(ARCHITECTURES[architecture], architecture=architecture, multiprocessors=multiprocessors, clock=clock,
                busy_clock=clock, dram=dram, **FITTED,
                l2_bytes=l2 * (1 << 20) * (0.5 if architecture in (80, 90, 100, 103) else 1))
    if base_clock:
        chip["clock"] = BASE_CLOCKS.get(entry, clock)
    chip.update((name, value) for name, value in changes.items() if name in chip)
    if changes.get("half_tensor"):
        chip["tensor_f32"] = chip["tensor"] / 2
    return chip
