// The web console: pages, forms, charts, and API documentation.
export { ConsoleModule } from './console.module.js';
