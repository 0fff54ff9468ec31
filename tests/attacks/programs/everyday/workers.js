const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
if (isMainThread)
  Promise.all([0, 1, 2, 3].map(n => new Promise(done =>
    new Worker(__filename, { workerData: n }).on('message', done)))).then(console.log);
else
  parentPort.postMessage(workerData ** 2);
