import ctypes
import ctypes.util
import shutil

with open("/proc/self/maps") as maps:
    libm = next(line.split()[-1] for line in maps if "/libm.so" in line or "/libm-" in line)
ours = ctypes.CDLL(shutil.copy(libm, "/sandbox/libours.so"))
ours.sqrt.restype = ctypes.c_double
ours.sqrt.argtypes = [ctypes.c_double]
print(ours.sqrt(4))
