// Loaded into the program by `NODE_OPTIONS=--import=…`: on SIGUSR2 it writes to its output what its memory is when all that
// is not needed has been collected.
import { writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

process.on('SIGUSR2', () => {
  // Also what V8 keeps for later: how much that is depends on the moment.
  collect({ execution: 'sync', flavor: 'last-resort', type: 'major' });
  writeSync(1, `memory: ${process.memoryUsage().rss} bytes\n`);
});
