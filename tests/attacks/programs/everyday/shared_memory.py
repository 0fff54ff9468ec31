from multiprocessing import Lock, Process
from multiprocessing.shared_memory import SharedMemory


def work(name, lock):
    with lock:
        memory = SharedMemory(name)
        memory.buf[:14] = b"from the child"
        memory.close()


if __name__ == "__main__":
    memory = SharedMemory(create=True, size=1 << 20)
    child = Process(target=work, args=(memory.name, Lock()))
    child.start()
    child.join()
    print(bytes(memory.buf[:14]).decode())
    memory.close()
    memory.unlink()
