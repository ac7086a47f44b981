// Loaded into the program by `NODE_OPTIONS=--import=…`: faults that a defect would cause, set off by what is written to a
// client, so that they happen in the course of its call.
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
