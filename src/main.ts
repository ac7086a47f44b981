import 'reflect-metadata';
import { boot, bootOrEnd } from './boot.js';
import { Config } from './config/index.js';

await bootOrEnd((told) => boot(Config.load(), told));
