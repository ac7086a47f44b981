// The operators' pages, below /admin: what there is to run, seen and changed through the services of the modules that own
// it. Owns no data and no rule of its own.
export { AdminModule } from './admin.module.js';
