// A package with a command, packed and installed, used both ways.
const { execFileSync } = require('child_process');
const fs = require('fs');

fs.mkdirSync('/tmp/answer');
fs.writeFileSync('/tmp/answer/package.json', JSON.stringify({ name: 'answer', version: '1.0.0', bin: 'index.js' }));
fs.writeFileSync('/tmp/answer/index.js', '#!/usr/bin/env node\nmodule.exports = 42;\nif (require.main === module) console.log("6 * 7 = 42");\n');
const quiet = ['--silent', '--offline', '--no-audit', '--no-fund'];
execFileSync('npm', ['pack', ...quiet, '/tmp/answer']);
execFileSync('npm', ['install', ...quiet, './answer-1.0.0.tgz']);
process.stdout.write(execFileSync('node_modules/.bin/answer'));
console.log(require('answer'));
