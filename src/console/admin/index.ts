// The admin console at /admin. Reads and changes data through the services of other modules; owns no data or rules.
export { AdminModule } from './admin.module.js';
