// Log lines: their form, their output, and errors in them.
export { PinoLogger } from './pino.logger.js';
