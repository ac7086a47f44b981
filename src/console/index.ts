// Everything people see: pages, forms, charts, API documentation. A client of the rooms below.
export { ConsoleModule } from './console.module.js';
