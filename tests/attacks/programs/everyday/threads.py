from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(32) as pool:
    print(sum(pool.map(lambda number: number, range(100))))
