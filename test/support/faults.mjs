// Loaded into the program by `NODE_OPTIONS=--import=…`: faults that a defect would cause, set off by what is written to a
// client, so that they happen in the course of its call, or outside of all calls by SIGUSR2; and a terminal that is gone
// when it has said so by SIGHUP.
import fs from 'node:fs';
import { ServerResponse } from 'node:http';

const FAULTS = {
  '<exception>': () =>
    setImmediate(() => {
      throw new Error('An injected exception.');
    }),
  '<rejection>': () => void Promise.reject(new Error('An injected rejection.')),
};

const write = Reflect.get(ServerResponse.prototype, 'write');
ServerResponse.prototype.write = function faulty(chunk, ...rest) {
  const text = chunk.toString();
  for (const [mark, fault] of Object.entries(FAULTS)) if (text.includes(mark)) fault();
  return write.call(this, chunk, ...rest);
};

process.on('SIGUSR2', () => {
  throw new Error('An injected exception of no call.');
});

let terminalGone = false;
process.on('SIGHUP', () => (terminalGone = true));
const isGone = (fd) => terminalGone && fd === 1;
const gone = () => Object.assign(new Error('write EIO'), { code: 'EIO' });
const [writeLater, writeSync] = [Reflect.get(fs, 'write'), Reflect.get(fs, 'writeSync')];
fs.write = function toTerminal(fd, ...rest) {
  if (isGone(fd)) setImmediate(() => rest.at(-1)(gone()));
  else writeLater.call(this, fd, ...rest);
};
fs.writeSync = function toTerminal(fd, ...rest) {
  if (isGone(fd)) throw gone();
  return writeSync.call(this, fd, ...rest);
};
