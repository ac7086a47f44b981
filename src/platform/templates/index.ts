// Handlebars templates of a folder, compiled and checked at start.
export { loadTemplates, type Templates } from './template-folder.js';
