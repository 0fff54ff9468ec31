const { execSync, fork } = require('child_process');
if (process.send) {
  process.send('forked');
} else {
  process.stdout.write(execSync('echo hello | tr a-z A-Z'));
  const child = fork(__filename);
  child.on('message', word => { console.log(word); child.disconnect(); });
}
